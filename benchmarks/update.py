"""What an update with new papers costs, as a share of building index and lists from scratch; lists are equal.

Usage: python benchmarks/update.py INDEX NEW_PAPERS [REPEATS]

INDEX must be built already; it is copied, never changed. The new papers are ingested and embedded before the clock
starts: what is compared is making the lists, each way in a fresh process, in turn. Writes `update.json`.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from measuring import environment, in_turn, median, peak_memory, show

import recsys

PEERS = ("update", "from scratch")


def child(index: Path, peer: str) -> None:
    """Make the lists of a copy in this process; print seconds and peak memory as JSON."""
    import numpy as np  # noqa: F401  not what is measured

    make = recsys.index
    with tempfile.TemporaryDirectory(dir=index.parent) as folder:
        copy = shutil.copytree(index, Path(folder) / "index")
        os.sync()  # or the lists would wait for the copy's bytes to reach the disk
        start = time.perf_counter()
        made = make(copy, incremental=peer == "update")
        took = time.perf_counter() - start
    print(json.dumps({"s": took, "mb": peak_memory(), "papers": made.papers, "changed": made.computed + made.repaired}))


def lists(index: Path, *, incremental: bool) -> list[object]:
    """Ids and scores of every list that a run leaves."""
    with tempfile.TemporaryDirectory(dir=index.parent) as folder:
        copy = shutil.copytree(index, Path(folder) / "index")
        recsys.index(copy, incremental=incremental)
        with recsys.open(copy) as library:
            return [[(card.id, card.score) for card in one] for one in library.lists()]


def main() -> None:
    """Check that both ways give the same lists, time them in turn, print the table, write `update.json`."""
    index, new = Path(sys.argv[1]), sys.argv[2]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    record = environment(("numpy",))
    with tempfile.TemporaryDirectory(dir=index.parent) as folder:
        grown = shutil.copytree(index, Path(folder) / "index")
        print(recsys.ingest([new], grown), recsys.embed(grown), sep="\n")
        same = lists(grown, incremental=True) == lists(grown, incremental=False)
        runs = in_turn(PEERS, repeats, [__file__, str(grown)])
    scratch = median(runs["from scratch"], "s")
    rows = [
        {
            "": peer,
            "s": f"{median(found, 's'):.2f}",
            "share": f"{median(found, 's') / scratch:.1%}",
            "lists changed": f"{median(found, 'changed'):,.0f}",
            "peak MB": f"{median(found, 'mb'):,.0f}",
        }
        for peer, found in runs.items()
    ]
    papers = runs["from scratch"][0]["papers"]
    title = f"Lists of {papers:,} papers, medians of {repeats}; lists equal: {same}"
    show(title, rows, runs, record, "update.json")


if __name__ == "__main__":
    if sys.argv[-2:-1] == ["--peer"]:
        child(Path(sys.argv[1]), sys.argv[3])
    else:
        main()
