"""Byte streams on which decompression and decoding are built."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import BinaryIO

from recsys.errors import UnreadableInput


class Filling(io.RawIOBase):
    """A raw stream that fills the buffer it is given, so that a peek sees all it may; an error waits for its turn."""

    def __init__(self) -> None:
        self._due: UnreadableInput | None = None

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer, less only at the end or before an error."""
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


class Counted(Filling):
    """Passes bytes on and counts them.

    Attributes:
        inner: the stream below.
        count: bytes read from it.
    """

    def __init__(self, inner: BinaryIO, path: str) -> None:
        super().__init__()
        self.inner = inner
        self.count = 0
        self._path = path

    def take(self, size: int) -> bytes:
        """See `Filling.take`."""
        try:
            chunk = some(self.inner, size)
        except OSError as error:
            raise UnreadableInput(f"cannot read {self._path}: {error.strerror or error}") from error
        self.count += len(chunk)
        return chunk


def some(stream: BinaryIO, size: int) -> bytes:
    """What one read gives, so that nothing read is lost to an error behind it."""
    read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
    return read(size)
