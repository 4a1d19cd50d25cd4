"""Compression undone as the bytes come, told by content; what unpacks to far more than it is, is refused."""

from __future__ import annotations

import bz2
import gzip
import io
import logging
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

from recsys.errors import MissingExtra, UnreadableInput
from recsys.sources.base import HEAD
from recsys.sources.streams import Counted, Filling, some

MAX_RATIO = 200
"""Output bytes per input byte at which, after `_FREE` bytes, a stream is a bomb; arXiv metadata compresses 3:1."""

MAX_BYTES = 60 << 30
"""Output bytes of one file; the whole Kaggle snapshot is 5 GB."""

SUFFIXES = (".jsonl", ".ndjson", ".json", ".xml", ".rss", ".atom", ".csv", ".tsv", ".parquet")
"""What the names of metadata files end with, before a compression suffix."""

_log = logging.getLogger(__name__)

_FREE = 10 << 20
_COMPRESSED = (".gz", ".zip", ".zst", ".bz2", ".xz")
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
_UNUSABLE = (*_DAMAGE, RuntimeError, ValueError, struct.error)
"""What opening may raise besides; zipfile's RuntimeError is for encrypted members and unknown methods."""


def is_metadata(name: str) -> bool:
    """Whether a file is of a kind that a reader reads, by its name."""
    return plain_name(name).lower().endswith(SUFFIXES)


def plain_name(name: str) -> str:
    """A file name without its compression suffix."""
    return name[: -len(Path(name).suffix)] if name.lower().endswith(_COMPRESSED) else name


def unpacked(raw: BinaryIO, stack: ExitStack, path: str) -> io.BufferedReader:
    """The stream without its compression, if it has one.

    Args:
        raw: bytes of a file.
        stack: closes what is opened here.
        path: for messages.

    Raises:
        UnreadableInput: a zip that is damaged, encrypted, empty of metadata or from a pipe; or, in reading, damage or
            a bomb.
        MissingExtra: Zstandard without its library.
    """
    counted = Counted(raw, path)
    source: io.BufferedReader = io.BufferedReader(counted, HEAD)
    head = source.peek(8)
    for magic, unpack in _UNPACKERS.items():
        if head.startswith(magic):
            try:
                inner = unpack(source, counted, stack)
            except _UNUSABLE as error:
                raise UnreadableInput(f"{path} cannot be unpacked: {error}") from error
            return io.BufferedReader(_Guarded(inner, counted, path), HEAD)
    return source


def _gzip(source: io.BufferedReader, counted: Counted, stack: ExitStack) -> BinaryIO:
    return stack.enter_context(gzip.GzipFile(fileobj=source))  # type: ignore[return-value]


def _bzip2(source: io.BufferedReader, counted: Counted, stack: ExitStack) -> BinaryIO:
    return stack.enter_context(bz2.BZ2File(source))  # type: ignore[return-value]


def _xz(source: io.BufferedReader, counted: Counted, stack: ExitStack) -> BinaryIO:
    return stack.enter_context(lzma.LZMAFile(source))  # type: ignore[return-value]


def _zstandard(source: io.BufferedReader, counted: Counted, stack: ExitStack) -> BinaryIO:
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("Zstandard", "zstd") from None
    return _Frames(source, lambda: zstandard.ZstdDecompressor().decompressobj())  # type: ignore[return-value]


def _zip(source: io.BufferedReader, counted: Counted, stack: ExitStack) -> BinaryIO:
    """The largest member with a known suffix; the Kaggle snapshot is a zip of one file."""
    raw = counted.inner
    if not raw.seekable():
        raise UnreadableInput("a zip cannot be read from a pipe", "give its path")
    counted.count = raw.seek(0, io.SEEK_END)
    raw.seek(0)
    archive = stack.enter_context(zipfile.ZipFile(raw))
    members = [member for member in archive.infolist() if is_metadata(member.filename) and not member.is_dir()]
    if not members:
        raise UnreadableInput("the zip holds no metadata file")
    largest = max(members, key=lambda member: member.file_size)
    if len(members) > 1:
        _log.warning("only %s of the %d metadata files in a zip is read: unpack it", largest.filename, len(members))
    return stack.enter_context(archive.open(largest))  # type: ignore[return-value]


_UNPACKERS: dict[bytes, Callable[[io.BufferedReader, Counted, ExitStack], BinaryIO]] = {
    b"\x1f\x8b": _gzip,
    b"PK\x03\x04": _zip,
    b"PK\x05\x06": _zip,
    b"\x28\xb5\x2f\xfd": _zstandard,
    b"BZh": _bzip2,
    b"\xfd7zXZ\x00": _xz,
}


class _Frames:
    """Zstandard frames, one after another; unlike the library's own reader it tells a frame that is cut."""

    _FEED = 4096
    """Bytes given at a time: the library gives back all that they hold, up to 128 KiB for each 4 of them."""

    def __init__(self, source: io.BufferedReader, frame: Callable[[], Any]) -> None:
        self._source = source
        self._new_frame = frame
        self._frame: Any = None
        self._packed = self._ready = b""

    def read(self, size: int) -> bytes:
        while not self._ready:
            packed = self._packed or self._source.read(self._FEED)
            if not packed and self._frame:
                raise EOFError("the file ends inside a frame")
            if not packed:
                return b""
            self._frame = self._frame or self._new_frame()
            self._ready = self._frame.decompress(packed)
            self._packed = self._frame.unused_data
            self._frame = None if self._frame.eof else self._frame
        taken, self._ready = self._ready[:size], self._ready[size:]
        return taken


class _Guarded(Filling):
    """A decompressor whose errors are ours, and that stops a bomb."""

    def __init__(self, inner: BinaryIO, source: Counted, path: str) -> None:
        super().__init__()
        self._inner = inner
        self._source = source
        self._path = path
        self._count = 0

    def take(self, size: int) -> bytes:
        chunk = self._read(size)
        self._count += len(chunk)
        if self._count > min(_FREE + MAX_RATIO * self._source.count, MAX_BYTES):
            raise UnreadableInput(f"{self._path} unpacks to far more than it is (over {self._count:,} bytes): a bomb?")
        return chunk

    def _read(self, size: int) -> bytes:
        try:
            return some(self._inner, size)
        except gzip.BadGzipFile as error:
            if self._count and str(error).startswith("Not a gzipped file"):
                return b""  # what follows a whole member is no gzip: padding, as some tools write
            raise self._damage(error) from error
        except _DAMAGE as error:
            raise self._damage(error) from error
        except Exception as error:
            if type(error).__module__.startswith("zstandard"):
                raise self._damage(error) from error
            raise

    def _damage(self, error: Exception) -> UnreadableInput:
        return UnreadableInput(f"{self._path} is cut or damaged after {self._count:,} bytes: {error}")
