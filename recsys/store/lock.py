"""One writer at a time: a lock that dies with its holder, and a note that says who holds it."""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from recsys.errors import IndexBusy

_log = logging.getLogger(__name__)

_GLANCES = 10


@contextmanager
def writer_lock(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the folder's lock; the operating system frees it when its holder ends, however that happens.

    Args:
        folder: the index folder.
        wait: whether to wait for another writer instead of refusing.

    Raises:
        IndexBusy: another process holds it and `wait` is false; the message says which.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / "writer.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        if not wait:
            raise IndexBusy(f"{_holder(folder)} is writing to {folder}", "wait for it to end, or add --wait") from None
        _log.warning("waiting for %s to end its writing to %s", _holder(folder), folder)
        lock.acquire(timeout=-1)
    try:
        _sign(folder)
        yield
    finally:
        with suppress(OSError):
            _note(folder).unlink(missing_ok=True)
        lock.release()


def _note(folder: Path) -> Path:
    """The lock file itself cannot hold the note: whoever tries the lock truncates it."""
    return folder / "writer.json"


def _sign(folder: Path) -> None:
    """Leave word of who writes; only a courtesy, so a failure is no error."""
    command = " ".join(["recsys", *sys.argv[1:2]])
    fields = {"pid": os.getpid(), "host": socket.gethostname(), "command": command}
    fields["since"] = datetime.now().astimezone().isoformat(timespec="seconds")
    with suppress(OSError):
        _note(folder).write_text(json.dumps(fields), encoding="utf-8")


def _holder(folder: Path) -> str:
    """Who signed; a holder that has only just taken the lock is given a moment to."""
    for _ in range(_GLANCES):
        try:
            fields = json.loads(_note(folder).read_text(encoding="utf-8"))
            return "{command} (process {pid} on {host}, since {since})".format(**fields)
        except (OSError, ValueError, KeyError, TypeError):
            time.sleep(0.02)
    return "another process"
