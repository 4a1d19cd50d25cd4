"""What the benchmarks share: the machine they ran on, fresh processes in turn, tables and records."""

from __future__ import annotations

import compileall
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import recsys

_FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16")


def environment(packages: Iterable[str]) -> dict[str, Any]:
    """What a figure depends on: machine, CPU flags, threads, load before the run, versions."""
    cpuinfo = Path("/proc/cpuinfo")
    flags = cpuinfo.read_text() if cpuinfo.exists() else ""
    return {
        "machine": platform.platform(),
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "flags": [flag for flag in _FLAGS if f" {flag}" in flags],
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        "load": round(os.getloadavg()[0], 2),
        "versions": {package: _version(package) for package in packages},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def in_turn(peers: Sequence[str], repeats: int, command: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Peer -> what each of its runs printed as JSON; each in a fresh process, peers in turn; failures are said."""
    compile_recsys()
    runs: dict[str, list[dict[str, Any]]] = {peer: [] for peer in peers}
    for _ in range(repeats):
        for peer in peers:
            done = subprocess.run(
                [sys.executable, *command, "--peer", peer], capture_output=True, text=True, check=False
            )
            if done.returncode:
                print(f"{peer}: {(done.stderr.strip() or 'failed').splitlines()[-1]}", file=sys.stderr)
            else:
                runs[peer].append(json.loads(done.stdout.splitlines()[-1]))
    return {peer: found for peer, found in runs.items() if found}


def compile_recsys() -> None:
    """Compile the package's modules as pip does when it installs it, or every fresh process would."""
    compileall.compile_dir(Path(recsys.__file__).parent, quiet=1)


def peak_memory() -> float:
    """The most memory that this process held, in MB; `ru_maxrss` would count what its parent held when it forked."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / (1 << 10)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def median(runs: Sequence[Mapping[str, Any]], name: str) -> float:
    """Of one figure over several runs."""
    return float(statistics.median(run[name] for run in runs))


def show(
    title: str, rows: Sequence[Mapping[str, Any]], runs: Mapping[str, Any], record: Mapping[str, Any], file: str
) -> None:
    """Print rows as a Markdown table; write them, every run behind them and what they depend on to `file` here."""
    print(f"{title}\n\n{record}\n")
    print(f"| {' | '.join(rows[0])} |\n|{'---|' * len(rows[0])}")
    for row in rows:
        print(f"| {' | '.join(map(str, row.values()))} |")
    Path(file).write_text(json.dumps({"title": title, "environment": record, "rows": rows, "runs": runs}, indent=1))
