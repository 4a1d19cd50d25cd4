"""Durable files: immutable ones named by their content's hash, and atomic replacement of named ones.

Every operation on the file system goes through this module's `os`, so that the tests can record, refuse or undo each.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from recsys.errors import IndexDamaged, RecsysError

_TEMPORARY = ".tmp-"
_SPARE = 1.2
"""Free space asked for, as a multiple of what is about to be written."""


def publish(folder: Path, suffix: str, write: Callable[[BinaryIO], None]) -> str:
    """Write an immutable file and name it by its hash; it is on disk, whole, when this returns.

    Args:
        folder: made where absent.
        suffix: with the dot.
        write: fills the stream that it is given.

    Returns:
        sha256 of the content, hex; the file is `<sha256><suffix>`.

    Raises:
        OSError: the content could not be written and read back.
    """
    _make(folder)
    with _temporary(folder, suffix) as temporary:
        with _created(temporary) as stream:
            write(stream)
            _flush(stream)
        sha256 = hash_of(temporary)
        os.replace(temporary, folder / f"{sha256}{suffix}")
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
    with _intact(path, repair):
        if hash_of(path) != sha256:
            raise ValueError
    return path


def content(folder: Path, sha256: str, suffix: str, repair: str) -> bytes:
    """The bytes of a published file, checked as in `verified`; what is checked is what is returned."""
    path = folder / f"{sha256}{suffix}"
    with _intact(path, repair):
        found = path.read_bytes()
        if hashlib.sha256(found).hexdigest() != sha256:
            raise ValueError
    return found


@contextmanager
def _intact(path: Path, repair: str) -> Iterator[None]:
    """Turn what is raised of a published file into damage: it cannot be read, or (ValueError) is another."""
    try:
        yield
    except OSError as error:
        raise IndexDamaged(f"cannot read {path}: {error.strerror}", repair) from error
    except ValueError as error:
        raise IndexDamaged(f"{path} is not the file that was published", repair) from error


def hash_of(path: Path) -> str:
    """sha256 of a file's content, hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def unreferenced(folder: Path, keep: set[str], suffix: str) -> list[Path]:
    """Published files whose hash is not in `keep`, and temporaries that a killed writer left; by name."""
    if not folder.is_dir():
        return []
    paths = map(folder.joinpath, os.listdir(folder))
    return sorted(p for p in paths if p.name.startswith(_TEMPORARY) or (p.suffix == suffix and p.stem not in keep))


def sweep(folder: Path, keep: set[str], suffix: str) -> list[str]:
    """Remove what is `unreferenced`; returns the names removed. What cannot be removed now is left for the next."""
    removed: list[str] = []
    with suppress(OSError):
        for path in unreferenced(folder, keep, suffix):
            os.unlink(path)
            removed.append(path.name)
    return removed


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream whose bytes take the place of `path`, all at once, when the block ends well; else nothing changes.

    A link is followed. What is no regular file (a pipe, a device) is written to directly: it cannot be replaced.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    with _temporary(path.parent, f"-{path.name}") as temporary:
        with _created(temporary) as stream:
            yield stream
            _flush(stream)
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    _sync(path.parent)


def require_space(folder: Path, size: int, what: str) -> None:
    """Refuse long work that the disk has no room for.

    Args:
        folder: on the disk that is written to; need not exist yet.
        size: bytes that will be written, estimated.
        what: names the work in the message.

    Raises:
        RecsysError: less than 1.2 times `size` is free.
    """
    present = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    free = shutil.disk_usage(present).free
    if free < _SPARE * size:
        raise RecsysError(
            f"{what} needs about {_SPARE * size / 1e6:,.0f} MB, {folder} has {free / 1e6:,.0f} MB free",
            "free some space, then run the same command again",
        )


def _make(folder: Path) -> None:
    """Make a folder, whose name is then on disk too."""
    if not folder.is_dir():
        _make(folder.parent)
        with suppress(FileExistsError):
            os.mkdir(folder)
        _sync(folder.parent)


@contextmanager
def _temporary(folder: Path, suffix: str) -> Iterator[Path]:
    """A name for a file to be, in the folder where it will stay; nothing is left under it when the block fails."""
    temporary = folder / f"{_TEMPORARY}{os.urandom(8).hex()}{suffix[-100:]}"
    try:
        yield temporary
    except BaseException as error:
        if isinstance(error, OSError) and error.filename == temporary:
            error.filename = str(folder)
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _created(path: Path) -> BinaryIO:
    """A new file, readable by whom the umask lets."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666), "wb")


def _flush(stream: BinaryIO) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    """Force a folder's names to disk; Windows cannot open folders, and needs no such call for them."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
