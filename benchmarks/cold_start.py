"""Cold start of commands, as a ratio to bare interpreters.

Usage: python benchmarks/cold_start.py INDEX ID [REPEATS]

Every command in a fresh process, in turn, its modules compiled before, as pip does. Writes `cold_start.json`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

from measuring import compile_recsys, environment, median, show


def seconds(command: list[str]) -> float:
    """Wall time of one fresh process."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Run every command in turn, print the table, write `cold_start.json`."""
    index, paper_id = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    recsys = [sys.executable, "-m", "recsys"]
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        'python -c "import typer"': [sys.executable, "-c", "import typer"],
        "recsys --help": [*recsys, "--help"],
        "recsys related ID": [*recsys, "related", paper_id, "--index", index],
        "recsys info": [*recsys, "info", "--index", index],
    }
    record = environment(("typer",))
    compile_recsys()
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in commands}
    for turn in range(repeats + 1):
        for name, command in commands.items():
            took = seconds(command)
            if turn:  # the first reads files into memory
                runs[name].append({"s": took})
    bare, typer = (median(runs[name], "s") for name in list(commands)[:2])
    rows = [
        {
            "": f"`{name}`",
            "ms": f"{1000 * median(found, 's'):.0f}",
            "times pass": f"{median(found, 's') / bare:.1f}",
            "times typer": f"{median(found, 's') / typer:.1f}",
        }
        for name, found in runs.items()
    ]
    show(f"Cold start, medians of {repeats}", rows, runs, record, "cold_start.json")


if __name__ == "__main__":
    main()
