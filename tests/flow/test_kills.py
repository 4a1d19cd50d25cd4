"""SIGKILL at any moment of any writing command: going on gives what an uninterrupted run gives, byte for byte."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import pytest

import recsys

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
KILLS, TRIES, UPDATES = 500, 2, 20
SERVER = """
import json, os, signal, sys, time
from dataclasses import replace
import numpy, faiss, rapidfuzz, psutil, filelock
import recsys, recsys.pipeline.embed, recsys.pipeline.index, recsys.pipeline.remove, recsys.batch
import recsys.search.flat, recsys.search.ivf, recsys.encoders.hashing, recsys.exporters.jsonl, recsys.library

def run(step):
    folder, name = step["folder"], step["name"]
    if name == "ingest":
        recsys.ingest([step["source"]], folder)
    elif name == "embed":
        recsys.embed(folder, encoder="hashing")
    elif name == "index":
        recsys.index(folder, kind=step["kind"], incremental=step["incremental"])
    elif name == "remove":
        recsys.remove(step["ids"], folder)
    elif name == "export":
        recsys.export(folder, step["output"])

for line in sys.stdin:
    step = json.loads(line)
    child = os.fork()
    if child == 0:
        try:
            run(step)
            os._exit(0)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
    if step["kill_after"] is not None:
        time.sleep(step["kill_after"])
        os.kill(child, signal.SIGKILL)  # it was not waited for yet, so its number is still its own
    _, status = os.waitpid(child, 0)
    print(status, flush=True)
"""


class Runner:
    """Runs steps in forks of a process that has imported everything; kills some of them."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        self._server = server

    def run(self, step: dict[str, object], kill_after: float | None = None) -> tuple[int, float]:
        """The step's status and how long it took; killed after some seconds if it is not done by then."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        started = time.perf_counter()
        self._server.stdin.write(json.dumps({**step, "kill_after": kill_after}) + "\n")
        self._server.stdin.flush()
        status = int(self._server.stdout.readline())
        return status, time.perf_counter() - started


@contextmanager
def runner() -> Iterator[Runner]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        yield Runner(server)
        assert server.stdin is not None
        server.stdin.close()


def papers(first: int, last: int, *, version: int = 1) -> str:
    """Invented records as JSON lines."""
    words = [f"{a}{b}" for a in ("oak", "elm", "ash", "yew", "fir") for b in ("ron", "tal", "mis", "dor", "ve")]
    chance = random.Random(first * 1000 + version)
    return "".join(
        json.dumps(
            {
                "id": f"2401.9{n:04}",
                "version": version,
                "title": f"On {' '.join(chance.choices(words, k=3))} {n}",
                "abstract": " ".join(chance.choices(words, k=25)),
            }
        )
        + "\n"
        for n in range(first, last)
    )


def scenario(folder: Path, sources: Path) -> list[dict[str, object]]:
    """Everything that writes, in an order that an operator might choose."""
    index = str(folder / "index")

    def ingest(name: str) -> dict[str, object]:
        return {"name": "ingest", "source": str(sources / name), "folder": index}

    def build(kind: str, *, incremental: bool) -> list[dict[str, object]]:
        made = {"name": "index", "kind": kind, "incremental": incremental, "folder": index}
        return [{"name": "embed", "folder": index}, made]

    return [
        ingest("first.jsonl"),
        *build("auto", incremental=True),
        ingest("more.jsonl"),
        *build("auto", incremental=True),
        {"name": "remove", "ids": ["2401.90003", "2401.90017"], "folder": index},
        ingest("changed.jsonl"),
        *build("auto", incremental=True),
        *build("ivf", incremental=False),
        *build("flat", incremental=False),
        {"name": "export", "output": str(folder / "lists.jsonl"), "folder": index},
    ]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "first.jsonl").write_text(papers(1, 60))
    (folder / "more.jsonl").write_text(papers(60, 66))
    (folder / "changed.jsonl").write_text(papers(5, 9, version=2))
    return folder


def finished(run: Callable[[dict[str, object]], None], folder: Path, sources: Path) -> bytes:
    folder.mkdir()
    for step in scenario(folder, sources):
        run(step)
    with closing(sqlite3.connect(folder / "index" / "library.sqlite")) as connection:
        assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    return (folder / "lists.jsonl").read_bytes()


def test_five_hundred_kills_change_nothing(tmp_path: Path, sources: Path) -> None:
    chance = random.Random(20_261_201)
    durations: list[float] = []
    kills = 0
    with runner() as running:

        def timed(step: dict[str, object]) -> None:
            status, took = running.run(step)
            assert status == 0, step
            durations.append(took)

        expected = finished(timed, tmp_path / "cold", sources)
        durations.clear()  # the first run of each step pays for its imports: kills drawn over that would come too late
        assert finished(timed, tmp_path / "warm", sources) == expected
        for number in count():
            if kills >= KILLS:
                break
            longest = iter(durations)

            def killed(step: dict[str, object]) -> None:
                nonlocal kills
                latest = next(longest)  # noqa: B023
                for _ in range(TRIES):
                    kills += running.run(step, chance.uniform(0, latest))[0] == signal.SIGKILL
                assert running.run(step)[0] == 0, step
                assert not list(Path(str(step["folder"])).rglob(".tmp-*")), step

            assert finished(killed, tmp_path / str(number), sources) == expected


def test_a_killed_update_goes_on(tmp_path: Path, sources: Path) -> None:
    """`update` embeds in a child of its own, which must neither live on nor leave anything half done."""
    chance = random.Random(7)

    def update(folder: Path, kill_after: float | None = None) -> float:
        started = time.perf_counter()
        command = [sys.executable, "-m", "recsys", "update", "--encoder", "hashing", "--wait", "--index", str(folder)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
            try:
                running.wait(kill_after)
            except subprocess.TimeoutExpired:
                running.kill()
            assert running.stderr is not None
            assert kill_after is not None or running.wait() == 0, running.stderr.read()
        return time.perf_counter() - started

    for name in ("whole", "killed"):
        recsys.ingest([sources / "first.jsonl"], tmp_path / name)
    longest = update(tmp_path / "whole")
    for _ in range(UPDATES):
        update(tmp_path / "killed", chance.uniform(0.2 * longest, longest))
    update(tmp_path / "killed")
    assert not list((tmp_path / "killed").rglob(".tmp-*"))
    with closing(sqlite3.connect(tmp_path / "killed" / "library.sqlite")) as connection:
        assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    for name in ("whole", "killed"):
        recsys.export(tmp_path / name, tmp_path / f"{name}.jsonl")
    assert (tmp_path / "whole.jsonl").read_bytes() == (tmp_path / "killed.jsonl").read_bytes()
