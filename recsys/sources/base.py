"""The contract of a reader: bytes of one file in, papers and rejects out.

A reader never raises for what is wrong with a record: it yields a `Reject` and goes on. It raises
`UnreadableInput` only where the rest of the file cannot be read, after having yielded what came before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import BinaryIO, ClassVar, Protocol

from recsys.paper import Paper

HEAD = 65_536
"""Bytes that a reader may look at to recognise a file."""


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that was not stored, and why.

    Attributes:
        line: 1-based line in the file (of the record's start); for tables the row, for XML the record's number.
        reason: one line, in words.
        excerpt: the first 200 characters of the record, escaped.
    """

    line: int
    reason: str
    excerpt: str


class Source(Protocol):
    """A reader of one file format.

    Attributes:
        name: its name in the registry.
        rank: how much its text is trusted against another source's of the same version (higher wins):
            arXivRaw 60, Kaggle 50, Atom 40, jsonl and tables 30, arXiv OAI 20, RSS 10, oai_dc 5.
    """

    name: ClassVar[str]
    rank: ClassVar[int]

    @classmethod
    def recognises(cls, head: bytes, filename: str) -> bool:
        """Whether this reader reads such a file.

        Args:
            head: the first 64 KiB (or fewer) of the decompressed content.
            filename: the name without its compression suffix; empty for stdin. Content decides before it.
        """
        ...

    def read(self, stream: BinaryIO, columns: dict[str, str] | None = None) -> Iterator[Paper | Reject]:
        """Read one decompressed stream to its end, in constant memory, yielding records in file order.

        Args:
            stream: bytes; may not be seekable.
            columns: for tables, field name -> column name; other readers ignore it.

        Raises:
            UnreadableInput: when the rest of the file cannot be read.
        """
        ...


def peek(stream: BinaryIO) -> bytes:
    """What a stream begins with, at most 64 KiB, left in it; empty where the stream cannot be looked into."""
    return stream.peek(HEAD)[:HEAD] if isinstance(stream, BufferedReader) else b""
