"""One writer and many readers at once; two writers at once."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path

import pytest

import recsys
from recsys.errors import IndexBusy
from recsys.paper import Paper
from recsys.pipeline import compact as compacting
from recsys.store.connection import transaction, writing
from recsys.store.corpus import Corpus
from tests.locks import holder

BUILDS, READERS, RACES = 100, 8, 50
SPAWN = multiprocessing.get_context("spawn")


def paper(n: int, version: int = 1) -> Paper:
    return Paper(
        f"2401.9{n:04}",
        version,
        f"On oak{n} and elm{n % 7}",
        f"Tree oak{n} river{n % 5} hill{n % 3} year{version} and rain.",
    )


def put(folder: Path, papers: list[Paper]) -> None:
    with writing(folder, create=True, wait=True) as connection, transaction(connection):
        Corpus(connection).upsert(papers)
        Corpus(connection).bump_revision()


def answers(folder: Path) -> str:
    """Three answers, a line each: a stored list, one that is longer and so is searched for in shards, and all lists."""
    with recsys.open(folder) as library:
        asked = ([library.related(ASKED[0], 20)], [library.related(ASKED[1], 45)], library.lists())
        return "".join(
            json.dumps([(one.query_id, [(card.id, card.score) for card in one]) for one in shown]) + "\n"
            for shown in asked
        )


ASKED = [f"2401.9{n:04}" for n in (1, 2)]


def _write(folder: Path, builds: int, oracle: Path, done: Event) -> None:
    compacting._SMALL_ALLOWED = 4
    with oracle.open("a") as known:
        for number in range(builds):
            changed = [paper(3 + number % 40, version=2 + number), paper(61 + number)]
            put(folder, changed)
            recsys.embed(folder)
            recsys.index(folder, incremental=True)
            known.write(answers(folder))
            known.flush()
            assert len(list((folder / "vectors").iterdir())) < 16
    done.set()


def _read(folder: Path, seen: Path, done: Event) -> None:
    with seen.open("w") as written:
        while not done.is_set():
            written.write(answers(folder))


def test_every_answer_is_of_one_build(tmp_path: Path) -> None:
    folder, oracle = tmp_path / "index", tmp_path / "oracle"
    put(folder, [paper(n) for n in range(1, 61)])
    recsys.embed(folder, encoder="hashing")
    recsys.index(folder)
    oracle.write_text(answers(folder))
    done = SPAWN.Event()
    seen = [tmp_path / f"seen{n}" for n in range(READERS)]
    readers = [SPAWN.Process(target=_read, args=(folder, path, done)) for path in seen]
    writer = SPAWN.Process(target=_write, args=(folder, BUILDS, oracle, done))
    for process in (*readers, writer):
        process.start()
    writer.join(900)
    done.set()
    for process in (*readers, writer):
        process.join(60)
        assert process.exitcode == 0
    known = set(oracle.read_text().splitlines())
    assert len(known) > BUILDS
    answered = [line for path in seen for line in path.read_text().splitlines()]
    assert len(answered) > BUILDS
    assert set(answered) <= known


def _race(folder: Path, barrier: Barrier, log: Path) -> None:
    barrier.wait()
    try:
        with writing(folder):
            _say(log, "in")
            time.sleep(0.01)
            _say(log, "out")
    except IndexBusy:
        _say(log, "busy")


def _say(log: Path, word: str) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{word}\n".encode())
    os.close(descriptor)


def _racing(folder: Path, barrier: Barrier, log: Path) -> None:
    for _ in range(RACES):
        _race(folder, barrier, log)


def test_of_two_writers_one_wins(tmp_path: Path) -> None:
    folder, log = tmp_path / "index", tmp_path / "log"
    put(folder, [paper(1)])
    barrier = SPAWN.Barrier(2)
    racers = [SPAWN.Process(target=_racing, args=(folder, barrier, log)) for _ in range(2)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(60)
        assert racer.exitcode == 0
    words = log.read_text().split()
    assert words.count("in") == words.count("out") >= RACES
    assert words.count("in") + words.count("busy") == 2 * RACES
    inside = 0
    for word in words:
        inside += {"in": 1, "out": -1, "busy": 0}[word]
        assert inside in (0, 1)


def ingest(folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "recsys", "ingest", "-", "--index", str(folder), *more]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    record = {"id": "2401.90999", "title": "T", "abstract": "A."}
    process.stdin.write(json.dumps(record) + "\n")
    process.stdin.close()
    process.stdin = None
    return process


def test_a_second_writer_is_told_who_holds_the_lock_and_may_wait(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    put(folder, [paper(1)])
    with holder(folder) as process:
        refused = ingest(folder)
        _, said = refused.communicate(timeout=60)
        assert refused.returncode == 1
        assert f"process {process.pid}" in said
        assert len(said.splitlines()) == 1
        waiting = ingest(folder, "--wait")
        assert waiting.stderr is not None
        assert "waiting for" in waiting.stderr.readline()
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
        out, _ = waiting.communicate(timeout=60)
        assert waiting.returncode == 0
        assert "stored 1" in out


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no SIGSTOP here")
def test_a_stopped_holder_keeps_the_lock_and_a_dead_one_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    put(folder, [paper(1)])
    with holder(folder) as process:
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(IndexBusy), writing(folder):
            pass
        process.kill()
        process.wait()
        put(folder, [replace(paper(1), version=2)])
    assert not (folder / "writer.json").exists()
