"""Stored lists read out: exports by format, and many ids answered at once; flat memory.

Usage: python benchmarks/export.py INDEX [REPEATS]

Each way in a fresh process, in turn; the last row is the same JSON lines made of objects by the `json` module.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

from measuring import environment, in_turn, median, peak_memory, show

PEERS = (
    "export .jsonl",
    "export .csv",
    "export .parquet",
    "10,000 ids, JSON lines",
    "json.dumps of every list",
)


def child(index: str, peer: str) -> None:
    """Read lists out in this process; print lists, seconds, bytes and peak memory as JSON."""
    import recsys
    from recsys.batch import export

    lists, size = 0, 0
    out = Path(f"export-{os.getpid()}{peer.removeprefix('export ')}")
    with recsys.open(index) as library:
        ids = random.Random(1).choices([one.query_id for one in library.lists()], k=10_000) if "ids" in peer else []
    start = time.perf_counter()
    if peer.startswith("export"):
        lists = export(index, out).lists
        size = out.stat().st_size
        out.unlink()
    else:
        with recsys.open(index) as library:
            for one in library.related_many(ids) if ids else library.lists():
                lists += 1
                size += len(one.to_json() if ids else json.dumps(one.to_dict(), ensure_ascii=False))
    took = time.perf_counter() - start
    print(json.dumps({"rate": lists / took, "s": took, "size": size / 1e6, "mb": peak_memory()}))


def main() -> None:
    """Run every way in turn, print the table, write `export.json`."""
    index, repeats = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    record = environment(("pyarrow",))
    runs = in_turn(PEERS, repeats, [__file__, index])
    rows = [
        {
            "": peer,
            "lists/s": f"{median(found, 'rate'):,.0f}",
            "s": f"{median(found, 's'):.1f}",
            "MB written": f"{median(found, 'size'):,.0f}",
            "peak MB": f"{median(found, 'mb'):,.0f}",
        }
        for peer, found in runs.items()
    ]
    show(f"Lists of 20 read out of {index}, medians of {repeats}", rows, runs, record, "export.json")


if __name__ == "__main__":
    if sys.argv[-2:-1] == ["--peer"]:
        child(sys.argv[1], sys.argv[3])
    else:
        main()
