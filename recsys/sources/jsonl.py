"""Generic JSON records, one a line or in an array, forgiving of key names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from recsys.paper import Paper
from recsys.sources.base import Reject, peek
from recsys.sources.jsonlines import objects
from recsys.sources.records import normalise, paper_or_reject


class JsonlSource:
    """Objects with an id, a title and an abstract under any of their usual names."""

    name: ClassVar[str] = "jsonl"
    rank: ClassVar[int] = 30

    @classmethod
    def recognises(cls, head: bytes, filename: str) -> bool:
        """JSON by its first character, or by its suffix where it begins with damage."""
        start = head.lstrip()[:1]
        return start == b"{" or start == b"[" or (filename.endswith((".jsonl", ".ndjson", ".json")) and start != b"<")

    def read(self, stream: BinaryIO, columns: dict[str, str] | None = None) -> Iterator[Paper | Reject]:
        """See `Source.read`."""
        for found in objects(stream, peek(stream)):
            if isinstance(found, Reject):
                yield found
            else:
                line, raw, record = found
                yield paper_or_reject(normalise(record), self.name, self.rank, line, raw)
