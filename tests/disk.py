"""A disk that remembers: what an index folder may look like after the power fails at any moment.

`recsys.files` does every file operation through its `os`; `Recorder` takes its place, does the work and writes down
what was done. `Disk.after` then replays the first steps as a disk would keep them: what was not synced may be there,
gone, empty, zeroed or torn. SQLite's commits are taken as it promises them: at once, and for good.
"""

from __future__ import annotations

import io
import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any


@dataclass
class Step:
    """One operation: its `name`, the path it was on, and what else belongs to it."""

    name: str
    path: Path
    other: Any = None


_AT_ONCE = 2048
"""Bytes that a write takes at most: every write of more is a short one."""


class Recorder:
    """Stands for the module `os` in `recsys.files`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.steps: list[Step] = []
        self.databases: list[bytes] = [database_of(folder)]
        self._open: dict[int, Path] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def _note(self, name: str, path: Path, other: Any = None) -> None:
        self.steps.append(Step(name, Path(path), other))
        self.databases.append(database_of(self.folder))

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        descriptor = os.open(path, flags, mode)
        self._open[descriptor] = Path(path)
        if flags & os.O_CREAT:
            self._note("create", path)
        return descriptor

    def fdopen(self, descriptor: int, mode: str) -> io.BufferedWriter:
        return written_by(descriptor, self._write)

    def _write(self, descriptor: int, data: memoryview) -> int:
        written = os.write(descriptor, data)
        self._note("write", self._open[descriptor], bytes(data[:written]))
        return written

    def fsync(self, descriptor: int) -> None:
        os.fsync(descriptor)
        self._note("fsync", self._open[descriptor])

    def replace(self, source: Path, target: Path) -> None:
        os.replace(source, target)
        self._note("replace", source, Path(target))

    def unlink(self, path: Path) -> None:
        os.unlink(path)
        self._note("unlink", path)

    def mkdir(self, path: Path) -> None:
        os.mkdir(path)
        self._note("mkdir", path)


def written_by(descriptor: int, write: Callable[[int, memoryview], int]) -> io.BufferedWriter:
    """A file that is written to by a function, a few bytes at a time."""
    return io.BufferedWriter(_Raw(descriptor, write), 4096)


class _Raw(io.RawIOBase):
    def __init__(self, descriptor: int, write: Callable[[int, memoryview], int]) -> None:
        self._descriptor = descriptor
        self._write = write

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any) -> int:
        return self._write(self._descriptor, memoryview(data)[:_AT_ONCE])

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def database_of(folder: Path) -> bytes:
    """What a reader would see of the database now; empty where there is none."""
    path = folder / "library.sqlite"
    if not path.exists():
        return b""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.serialize()


@dataclass
class _File:
    content: bytearray = field(default_factory=bytearray)
    durable: bytes | None = None


class Disk:
    """The folder at the start, and what was done to it.

    Args:
        before: relative path -> content of the files there were, all of them durable.
        recorder: what was done.
    """

    def __init__(self, before: dict[str, bytes], recorder: Recorder) -> None:
        self._before = before
        self._recorder = recorder

    def __len__(self) -> int:
        return len(self._recorder.steps)

    def databases(self, step: int) -> list[bytes]:
        """The database as it may be when the power fails after some steps: before or after the next commit."""
        known = self._recorder.databases
        return [known[step], *([known[step + 1]] if step + 1 < len(known) else [])]

    def after(self, steps: int, ignored: frozenset[str] = frozenset()) -> _Crash:
        """What is durable and what is pending after some steps; `ignored` names operations that do nothing."""
        crash = _Crash({path: _File(bytearray(content), content) for path, content in self._before.items()})
        for step in self._recorder.steps[:steps]:
            if step.name not in ignored:
                crash.apply(step, self._recorder.folder)
        return crash


def _rename(source: str, target: str, moved: _File, names: dict[str, _File]) -> None:
    names.pop(source, None)
    names[target] = moved


def _remove(path: str, names: dict[str, _File]) -> None:
    names.pop(path, None)


class _Crash:
    """Files by name as they are durable; changes of names that no folder sync has made so yet."""

    def __init__(self, files: dict[str, _File]) -> None:
        self._names = dict(files)
        self._now = dict(files)
        self._pending: list[tuple[str, Callable[[dict[str, _File]], None]]] = []

    def apply(self, step: Step, root: Path) -> None:
        path = step.path.relative_to(root).as_posix() if step.path != root else "."
        folder = str(Path(path).parent)
        if step.name == "create":
            made = _File()
            self._change(folder, partial(_rename, path, path, made))
        elif step.name == "write":
            self._now[path].content += step.other
        elif step.name == "fsync" and path in self._now:
            self._now[path].durable = bytes(self._now[path].content)
        elif step.name == "fsync":
            self._settle(path)
        elif step.name == "replace":
            self._change(folder, partial(_rename, path, step.other.relative_to(root).as_posix(), self._now[path]))
        elif step.name == "unlink":
            self._change(folder, partial(_remove, path))

    def _change(self, folder: str, change: Callable[[dict[str, _File]], None]) -> None:
        change(self._now)
        self._pending.append((folder, change))

    def _settle(self, folder: str) -> None:
        for where, change in self._pending:
            if where == folder:
                change(self._names)
        self._pending = [(where, change) for where, change in self._pending if where != folder]

    def survivors(self, chance: random.Random, torn: int) -> Iterator[dict[str, bytes]]:
        """Relative path -> content, in every way that is tried."""
        every = [True] * len(self._pending)
        for unsynced in (bytes, lambda content: bytes(len(content)), lambda content: b""):
            yield self._show(every, unsynced)
            yield self._show([False] * len(every), unsynced)
        for _ in range(torn):
            kept = [chance.random() < 0.5 for _ in every]
            yield self._show(kept, lambda content: _torn(bytes(content), chance))

    def _show(self, kept: list[bool], unsynced: Callable[[bytearray], bytes]) -> dict[str, bytes]:
        names = dict(self._names)
        for (_, change), keep in zip(self._pending, kept, strict=True):
            if keep:
                change(names)
        return {
            path: found.durable if found.durable == bytes(found.content) else unsynced(found.content)  # type: ignore[misc]
            for path, found in names.items()
        }


def _torn(content: bytes, chance: random.Random) -> bytes:
    """Cut at some place, and some of what is left zeroed."""
    kept = bytearray(content[: chance.randint(0, len(content))])
    for _ in range(chance.randint(0, 3)):
        start = chance.randint(0, len(kept))
        end = min(len(kept), start + chance.randint(1, 4096))
        kept[start:end] = bytes(end - start)
    return bytes(kept)
