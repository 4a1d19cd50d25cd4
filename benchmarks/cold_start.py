"""Cold start of `recsys related`, as a ratio to bare interpreters, interleaved in one run.

Usage: python benchmarks/cold_start.py INDEX ID [REPEATS]
"""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
import time


def seconds(command: list[str]) -> float:
    """Wall time of one fresh process."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Run every command in turn, REPEATS times, and print the medians."""
    index, paper_id = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        'python -c "import typer"': [sys.executable, "-c", "import typer"],
        "recsys related ID": [sys.executable, "-m", "recsys", "related", paper_id, "--index", index],
        "recsys --help": [sys.executable, "-m", "recsys", "--help"],
    }
    runs: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(repeats + 1):
        for name, command in commands.items():
            runs[name].append(seconds(command))
    medians = {name: statistics.median(times[1:]) for name, times in runs.items()}
    base = medians["python -c pass"]
    print(f"{platform.platform()}, Python {platform.python_version()}, {repeats} repeats, medians\n")
    print("| command | ms | times `python -c pass` |\n|---|---|---|")
    for name, median in medians.items():
        print(f"| `{name}` | {1000 * median:.0f} | {median / base:.1f} |")


if __name__ == "__main__":
    main()
