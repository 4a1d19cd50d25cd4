"""What an update with new papers costs, as a share of building index and lists from scratch; interleaved in one run.

Usage: python benchmarks/update.py INDEX NEW_PAPERS [REPEATS]

INDEX must be built already; it is copied, never changed. The new papers are ingested and embedded before the clock
starts: what is compared is making the lists.
"""

from __future__ import annotations

import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import recsys

_TIMED = "import sys, time, numpy, faiss, recsys; t = time.perf_counter(); recsys.index(sys.argv[1], incremental={}); "
_TIMED += "print(time.perf_counter() - t)"


def seconds(index: Path, *, incremental: bool) -> float:
    """Time of one index run on a copy, in a fresh process, imports apart."""
    with tempfile.TemporaryDirectory(dir=index.parent) as folder:
        copy = shutil.copytree(index, Path(folder) / "index")
        command = [sys.executable, "-c", _TIMED.format(incremental), str(copy)]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def lists(index: Path, *, incremental: bool) -> list[object]:
    """Ids and scores of every list that a run leaves."""
    with tempfile.TemporaryDirectory(dir=index.parent) as folder:
        copy = shutil.copytree(index, Path(folder) / "index")
        recsys.index(copy, incremental=incremental)
        with recsys.open(copy) as library:
            return [[(card.id, card.score) for card in one] for one in library.lists()]


def main() -> None:
    """Check that both ways give the same lists, then time them in turn."""
    index, new = Path(sys.argv[1]), sys.argv[2]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with tempfile.TemporaryDirectory(dir=index.parent) as folder:
        grown = shutil.copytree(index, Path(folder) / "index")
        print(recsys.ingest([new], grown))
        print(recsys.embed(grown))
        same = lists(grown, incremental=True) == lists(grown, incremental=False)
        times = [(seconds(grown, incremental=True), seconds(grown, incremental=False)) for _ in range(repeats)]
        with recsys.open(grown) as library:
            papers = library.info().papers
    update, rebuild = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{platform.platform()}, Python {platform.python_version()}, {papers:,} papers, medians of {repeats}\n")
    print(f"lists equal: {same}\n\n| | s | share |\n|---|---|---|")
    print(f"| update | {update:.2f} | {update / rebuild:.1%} |\n| from scratch | {rebuild:.2f} | 100% |")


if __name__ == "__main__":
    main()
