"""arXiv's daily RSS feeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar
from xml.etree.ElementTree import Element

from recsys.paper import Paper
from recsys.sources.base import Reject
from recsys.sources.records import excerpt_of, paper_or_reject
from recsys.sources.xml import records, root, text, texts


class RssSource:
    """One announcement day; the version is in `guid`; dates are those of the announcement."""

    name: ClassVar[str] = "rss"
    rank: ClassVar[int] = 10

    @classmethod
    def recognises(cls, head: bytes, filename: str) -> bool:
        """An RSS document."""
        return root(head) in (b"rss", b"RDF")

    def read(self, stream: BinaryIO, columns: dict[str, str] | None = None) -> Iterator[Paper | Reject]:
        """See `Source.read`."""
        for number, item in records(stream, "item"):
            if isinstance(item, Reject):
                yield item
            else:
                fields = _fields(item)
                yield paper_or_reject(fields, self.name, self.rank, number, excerpt_of(fields.items()))


def _fields(item: Element) -> dict[str, Any]:
    announced = text(item, "pubDate")
    first = text(item, "announce_type") in ("new", "cross")
    fields = {
        "paper_id": text(item, "guid") or text(item, "link"),
        "title": text(item, "title"),
        "abstract": text(item, "description"),
        "authors": text(item, "creator"),
        "categories": texts(item, "category"),
        "doi": text(item, "DOI"),
        "journal_ref": text(item, "journal_reference"),
        "published": announced if first else "",
        "updated": announced,
    }
    return {name: value for name, value in fields.items() if value}
