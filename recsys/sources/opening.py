"""Inputs opened: paths expanded, compression and encoding undone, bombs refused; always a stream, never a whole."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from glob import glob, has_magic
from pathlib import Path
from typing import BinaryIO

from recsys.errors import MissingExtra, UnreadableInput
from recsys.sources.base import HEAD

MAX_RATIO = 200
"""Output bytes per input byte at which, after `_FREE` bytes, a stream is a bomb; arXiv metadata compresses 3:1."""

MAX_BYTES = 60 << 30
"""Output bytes of one file; the whole Kaggle snapshot is 5 GB."""

Decoder = codecs.IncrementalDecoder | io.IncrementalNewlineDecoder

_FREE = 10 << 20
_COMPRESSED = (".gz", ".zip", ".zst", ".bz2", ".xz")
_SUFFIXES = (".jsonl", ".ndjson", ".json", ".xml", ".rss", ".atom", ".csv", ".tsv", ".parquet")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def expand(paths: Iterable[str]) -> list[str]:
    """Every input that the paths name, in their order: `-`, files, the known files below a folder, what a glob matches.

    Raises:
        UnreadableInput: a path that does not exist, a folder or glob with nothing in it, or no path.
    """
    inputs = [found for path in paths for found in _expand(path)]
    if not inputs:
        raise UnreadableInput("nothing to read", "name a file, a folder, a glob, or - for stdin")
    return inputs


def _expand(path: str) -> list[str]:
    given = Path(path)
    if path == "-" or given.is_file():
        return [path]
    if given.is_dir():
        found = [str(file) for file in sorted(given.rglob("*")) if file.is_file() and _known(file.name)]
    elif has_magic(path):
        found = sorted(match for match in glob(path, recursive=True) if Path(match).is_file())
    elif given.exists():
        return [path]
    else:
        raise UnreadableInput(f"no such file: {path}", "check the path")
    if not found:
        raise UnreadableInput(
            f"no metadata files in {path}", f"known suffixes: {', '.join(_SUFFIXES)}, also compressed"
        )
    return found


def _known(name: str) -> bool:
    return _plain_name(name).lower().endswith(_SUFFIXES)


def _plain_name(name: str) -> str:
    """A file name without its compression suffix."""
    return name[: -len(Path(name).suffix)] if name.lower().endswith(_COMPRESSED) else name


@contextmanager
def open_stream(path: str) -> Iterator[tuple[io.BufferedReader, str]]:
    """Open one input for reading: decompressed, UTF-8 where it is text.

    Yields:
        A stream whose first 64 KiB can be peeked, and the file's name without a compression suffix (empty for stdin).

    Raises:
        UnreadableInput: it cannot be opened, or reading it shows that it is damaged or a bomb.
        MissingExtra: Zstandard without its library.
    """
    with ExitStack() as stack:
        try:
            raw = sys.stdin.buffer if path == "-" else stack.enter_context(open(path, "rb"))
            stream = _decompressed(raw, stack, path)
        except zipfile.BadZipFile as error:
            raise UnreadableInput(f"{path} is cut or damaged: {error}") from error
        except OSError as error:
            raise UnreadableInput(f"cannot open {path}: {error.strerror or error}") from error
        head = stream.peek(HEAD)
        yield _decoded(stream, head), "" if path == "-" else _plain_name(Path(path).name)


def _decompressed(raw: BinaryIO, stack: ExitStack, path: str) -> io.BufferedReader:
    counted = _Counted(raw)
    source: io.BufferedReader = io.BufferedReader(counted, HEAD)
    head = source.peek(8)
    for magic, unpack in _UNPACKERS.items():
        if head.startswith(magic):
            return io.BufferedReader(_Guarded(unpack(source, raw, stack), counted, path), HEAD)
    return source


def _gzip(source: io.BufferedReader, raw: BinaryIO, stack: ExitStack) -> BinaryIO:
    return stack.enter_context(gzip.GzipFile(fileobj=source))  # type: ignore[return-value]


def _bzip2(source: io.BufferedReader, raw: BinaryIO, stack: ExitStack) -> BinaryIO:
    return stack.enter_context(bz2.BZ2File(source))  # type: ignore[return-value]


def _xz(source: io.BufferedReader, raw: BinaryIO, stack: ExitStack) -> BinaryIO:
    return stack.enter_context(lzma.LZMAFile(source))  # type: ignore[return-value]


def _zstandard(source: io.BufferedReader, raw: BinaryIO, stack: ExitStack) -> BinaryIO:
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("Zstandard", "zstd") from None
    reader = zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True)
    return stack.enter_context(reader)


def _zip(source: io.BufferedReader, raw: BinaryIO, stack: ExitStack) -> BinaryIO:
    """The largest member with a known suffix; the Kaggle snapshot is a zip of one file."""
    if not raw.seekable():
        raise UnreadableInput("a zip cannot be read from a pipe", "give its path")
    raw.seek(0)
    archive = stack.enter_context(zipfile.ZipFile(raw))
    members = [member for member in archive.infolist() if _known(member.filename) and not member.is_dir()]
    if not members:
        raise UnreadableInput("the zip holds no metadata file")
    largest = max(members, key=lambda member: member.file_size)
    return stack.enter_context(archive.open(largest))  # type: ignore[return-value]


_UNPACKERS: dict[bytes, Callable[[io.BufferedReader, BinaryIO, ExitStack], BinaryIO]] = {
    b"\x1f\x8b": _gzip,
    b"PK\x03\x04": _zip,
    b"PK\x05\x06": _zip,
    b"\x28\xb5\x2f\xfd": _zstandard,
    b"BZh": _bzip2,
    b"\xfd7zXZ\x00": _xz,
}


class _Filling(io.RawIOBase):
    """A raw stream that fills the buffer it is given, so that a peek sees all it may; an error waits for its turn."""

    def __init__(self) -> None:
        self._due: UnreadableInput | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        filled = 0
        while filled < len(buffer) and not self._due:
            try:
                chunk = self.take(len(buffer) - filled)
            except UnreadableInput as error:
                self._due = error
                break
            if not chunk:
                return filled
            buffer[filled : filled + len(chunk)] = chunk
            filled += len(chunk)
        if self._due and not filled:
            raise self._due
        return filled

    def take(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        raise NotImplementedError


def _some(stream: BinaryIO, size: int) -> bytes:
    """What one read gives, so that nothing read is lost to an error behind it."""
    read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
    return read(size)


class _Counted(_Filling):
    """Passes bytes on and counts them."""

    def __init__(self, inner: BinaryIO) -> None:
        super().__init__()
        self._inner = inner
        self.count = 0

    def take(self, size: int) -> bytes:
        chunk = _some(self._inner, size)
        self.count += len(chunk)
        return chunk


class _Guarded(_Filling):
    """A decompressor whose errors are ours, and that stops a bomb."""

    def __init__(self, inner: BinaryIO, source: _Counted, path: str) -> None:
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
            return _some(self._inner, size)
        except gzip.BadGzipFile as error:
            if self._count:
                return b""  # what follows a whole member is no gzip: padding, as some tools write
            raise UnreadableInput(f"{self._path}: {error}") from error
        except (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
            raise UnreadableInput(f"{self._path} is cut or damaged after {self._count:,} bytes: {error}") from error
        except Exception as error:
            if type(error).__module__.startswith("zstandard"):
                raise UnreadableInput(f"{self._path} is cut or damaged: {error}") from error
            raise


def _decoded(stream: io.BufferedReader, head: bytes) -> io.BufferedReader:
    """UTF-8 without a byte order mark, lines ended by newlines, whatever the text was written in; binary as it is."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            if encoding == "utf-8":
                stream.read(len(mark))
                return stream
            return io.BufferedReader(_Recoded(stream, codecs.getincrementaldecoder(encoding)("replace")), HEAD)
    if b"\r" in head and b"\n" not in head and b"\0" not in head:
        return io.BufferedReader(_Recoded(stream, _newlines()), HEAD)
    return stream


def _newlines() -> Decoder:
    return io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("replace"), translate=True)


class _Recoded(_Filling):
    """Another encoding as UTF-8."""

    def __init__(self, inner: io.BufferedReader, decoder: Decoder) -> None:
        super().__init__()
        self._inner = inner
        self._decoder = decoder
        self._ready = b""
        self._ended = False

    def take(self, size: int) -> bytes:
        while not self._ready and not self._ended:
            chunk = self._inner.read1(HEAD)
            self._ended = not chunk
            self._ready = self._decoder.decode(chunk, self._ended).encode("utf-8", "replace")
        taken, self._ready = self._ready[:size], self._ready[size:]
        return taken
