"""The Kaggle snapshot `arxiv-metadata-oai-snapshot.json`: JSON lines with version histories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from recsys.paper import Paper
from recsys.sources.base import Reject, peek
from recsys.sources.jsonlines import objects
from recsys.sources.records import normalise, paper_or_reject, version_number


class KaggleSource:
    """Newest version = last of `versions`; published = its first `created`; updated = `update_date`."""

    name: ClassVar[str] = "kaggle"
    rank: ClassVar[int] = 50

    @classmethod
    def recognises(cls, head: bytes, filename: str) -> bool:
        """JSON lines whose first record has the snapshot's own keys."""
        first = head.lstrip().partition(b"\n")[0]
        return first.startswith(b"{") and b'"versions"' in first and b'"update_date"' in first

    def read(self, stream: BinaryIO, columns: dict[str, str] | None = None) -> Iterator[Paper | Reject]:
        """See `Source.read`."""
        for found in objects(stream, peek(stream)):
            if isinstance(found, Reject):
                yield found
            else:
                line, raw, record = found
                yield paper_or_reject(_fields(record), self.name, self.rank, line, raw)


def _fields(record: dict[str, Any]) -> dict[str, Any]:
    fields = normalise({key: value for key, value in record.items() if key not in ("versions", "authors_parsed")})
    parsed = record.get("authors_parsed")
    if isinstance(parsed, list) and parsed:
        fields["authors"] = parsed
    versions = record.get("versions")
    history = [entry for entry in versions if isinstance(entry, dict)] if isinstance(versions, list) else []
    if history:
        numbers = [version_number(entry.get("version")) for entry in history]
        fields["version"] = max(numbers)
        fields["published"] = history[numbers.index(min(numbers))].get("created")
    return fields
