"""Every file operation of a publication refused in turn: one clear error, the old build intact, nothing left over."""

from __future__ import annotations

import errno
import io
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recsys
from recsys import files
from recsys.errors import RecsysError
from recsys.pipeline import compact as compacting
from recsys.store.connection import writing
from tests.disk import written_by
from tests.flow.commands import run
from tests.flow.test_crash_points import PAPERS, SCENARIOS, _most, _several_shards, answers, build, compacted, put

ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
CALLS = ("open", "write", "fsync", "replace", "unlink", "mkdir", "listdir")


class Faulty:
    """Stands for the module `os` in `recsys.files`; the n-th call, or every one from it on, is refused."""

    def __init__(self, number: int, error: int, *, for_good: bool) -> None:
        self.left = number
        self._error = error
        self._for_good = for_good
        self.refused = 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._guarded(real) if name in CALLS else real

    def _guarded(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.left -= 1
            if self.left == 0 or (self._for_good and self.left < 0):
                self.refused += 1
                raise OSError(self._error, os.strerror(self._error))
            return real(*arguments)

        return call

    def fdopen(self, descriptor: int, mode: str) -> io.BufferedWriter:
        return written_by(descriptor, self.__getattr__("write"))


def _by_graph(folder: Path) -> None:
    build(folder, kind="hnsw", incremental=False)


WORK: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "first build": (lambda folder: put(folder, PAPERS), build),
    "append": (_most, build),
    "search file": (_most, _by_graph),
    "compaction": (_several_shards, compacted),
    "export": (_most, lambda folder: recsys.export(folder, folder / "out" / "lists.jsonl")),
}


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("name", WORK)
def test_a_refused_operation_costs_nothing(
    name: str, for_good: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare, work = WORK[name]
    prepare(tmp_path / "before")
    (tmp_path / "before" / "out").mkdir()
    old = answers(tmp_path / "before")
    monkeypatch.setattr(compacting, "_SMALL_ALLOWED", 1 if name == "compaction" else 32)
    whole = Path(shutil.copytree(tmp_path / "before", tmp_path / "whole"))
    work(whole)
    new = answers(whole)
    number = refused = 0
    while True:
        number += 1
        faulty = Faulty(number, ERRORS[number % len(ERRORS)], for_good=for_good)
        folder = Path(shutil.copytree(tmp_path / "before", tmp_path / "index"))
        with monkeypatch.context() as patched:
            patched.setattr(files, "os", faulty)
            failed = _attempt(work, folder)
        if not faulty.refused:
            break
        refused += 1
        assert answers(folder) in ((old,) if failed and name != "append" else (old, new))
        if not (name == "compaction" and not failed):
            work(folder)
        assert name == "search file" or answers(folder) == new
        assert for_good or not list(folder.rglob(".tmp-*")), number
        shutil.rmtree(folder)
    assert refused >= 5


def _attempt(work: Callable[[Path], object], folder: Path) -> bool:
    """Whether it failed, as it may: by an error that the command line turns into one line."""
    try:
        work(folder)
    except (OSError, RecsysError):
        return True
    return False


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, PAPERS)
    monkeypatch.setattr(files, "os", Faulty(3, errno.ENOSPC, for_good=True))
    result = run("embed", "--encoder", "hashing", "--index", tmp_path)
    assert result.exit_code == 1
    assert "No space left" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("pages", [1, 3, 10, 30])
def test_a_database_that_cannot_grow_keeps_what_it_has(
    pages: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _most(tmp_path)
    old = answers(tmp_path)
    from recsys.store import connection as connecting

    original = connecting._open_for_writing

    def cramped(folder: Path) -> sqlite3.Connection:
        opened = original(folder)
        (size,) = opened.execute("PRAGMA page_count").fetchone()
        opened.execute(f"PRAGMA max_page_count = {size + pages}")
        return opened

    monkeypatch.setattr(connecting, "_open_for_writing", cramped)
    many = [PAPERS[n % 30].__class__(f"2403.9{n:04}", 1, f"New {n}", f"Text {n} " * 99) for n in range(200)]
    with pytest.raises(RecsysError, match="full") as caught:
        put(tmp_path, many)
    assert caught.value.exit_code == 1
    assert answers(tmp_path) == old
    monkeypatch.undo()
    put(tmp_path, many)
    build(tmp_path)
    assert recsys.examine(tmp_path, deep=True).healthy


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
@pytest.mark.parametrize("size", [20_000, 60_000, 120_000])
def test_a_limit_on_file_sizes_is_no_damage(size: int, tmp_path: Path) -> None:
    _most(tmp_path)
    old = answers(tmp_path)
    script = (
        f"import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        f"from recsys.cli import main; sys.argv = ['recsys', 'update', '--index', {str(tmp_path)!r}]; main()"
    )
    # Coverage's own file in that process would meet the limit too, and say so.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    with writing(tmp_path):
        pass
    assert done.returncode == 0 or answers(tmp_path) == old
    build(tmp_path)
    assert recsys.examine(tmp_path, deep=True).healthy


def test_too_little_space_is_said_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SCENARIOS["append"].before(tmp_path)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    for command in ("embed", "index"):
        result = run(command, "--index", tmp_path)
        assert result.exit_code == 1
        assert "MB free" in result.stderr
