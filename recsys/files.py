"""Durable files: immutable ones named by their content's hash, and atomic replacement of named ones."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO

from recsys.errors import IndexDamaged

_TEMPORARY = ".tmp-"


def publish(folder: Path, suffix: str, write: Callable[[Path], None]) -> str:
    """Write an immutable file and name it by its hash; it is on disk, whole, when this returns.

    Args:
        folder: made where absent.
        suffix: with the dot.
        write: fills the temporary path that it is given.

    Returns:
        sha256 of the content, hex; the file is `<sha256><suffix>`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=_TEMPORARY, suffix=suffix, dir=folder)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        sha256 = hash_of(temporary)
        _sync(temporary)
        temporary.replace(folder / f"{sha256}{suffix}")
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync(folder)
    return sha256


def verified(folder: Path, sha256: str, suffix: str, repair: str) -> Path:
    """The path of a published file, after checking that its content is what its name says.

    Args:
        folder: where it lies.
        sha256: its name.
        suffix: with the dot.
        repair: the command to name in the error.

    Raises:
        IndexDamaged: it is absent, or its content differs.
    """
    path = folder / f"{sha256}{suffix}"
    try:
        intact = hash_of(path) == sha256
    except OSError as error:
        raise IndexDamaged(f"cannot read {path}: {error.strerror}", repair) from error
    if not intact:
        raise IndexDamaged(f"{path} is not the file that was published", repair)
    return path


def hash_of(path: Path) -> str:
    """sha256 of a file's content, hex."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def sweep(folder: Path, keep: set[str], suffix: str) -> list[str]:
    """Remove published files whose hash is not in `keep`, and temporaries; returns the names removed, sorted."""
    if not folder.is_dir():
        return []
    doomed = [
        path
        for path in folder.iterdir()
        if path.name.startswith(_TEMPORARY) or (path.suffix == suffix and path.stem not in keep)
    ]
    for path in doomed:
        path.unlink(missing_ok=True)
    return sorted(path.name for path in doomed)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream whose bytes take the place of `path`, all at once, when the block ends well; else nothing changes."""
    folder = path.parent
    handle, name = tempfile.mkstemp(prefix=f"{_TEMPORARY}{path.name}-", dir=folder)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync(folder)


def _umask() -> int:
    """The process's umask; there is no way to read it but to set it."""
    current = os.umask(0)
    os.umask(current)
    return current


def _sync(path: Path) -> None:
    """Force a file's or folder's bytes to disk; Windows cannot open folders, and needs no such call for them."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
