"""Records per second and peak memory of one ingest into a new index.

Usage: python benchmarks/ingest.py FILE... (`-` for stdin)
"""

from __future__ import annotations

import platform
import resource
import sys
import tempfile
import time

import recsys


def main() -> None:
    """Ingest, then print counts, rate and memory above the interpreter with recsys imported."""
    recsys.ingest  # noqa: B018 - import it before the clock starts
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        done = recsys.ingest(sys.argv[1:], folder)
        took = time.perf_counter() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{platform.platform()}, Python {platform.python_version()}\n")
    print("| records | seconds | records/s | MB above the interpreter |\n|---|---|---|---|")
    print(f"| {done.read:,} | {took:.2f} | {done.read / took:,.0f} | {grown:.0f} |\n\n{done}")


if __name__ == "__main__":
    main()
