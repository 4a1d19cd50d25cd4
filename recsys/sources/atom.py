"""Atom: answers of the arXiv API, and the daily feeds in Atom form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar
from xml.etree.ElementTree import Element

from recsys.paper import Paper
from recsys.sources.base import Reject
from recsys.sources.records import excerpt_of, paper_or_reject, reject
from recsys.sources.xml import local, records, root, text, texts


class AtomSource:
    """`published` is when version 1 came, `updated` when the one in the id did."""

    name: ClassVar[str] = "atom"
    rank: ClassVar[int] = 40

    @classmethod
    def recognises(cls, head: bytes, filename: str) -> bool:
        """An Atom feed, or an entry alone."""
        return root(head) in (b"feed", b"entry") and b"http://www.w3.org/2005/Atom" in head

    def read(self, stream: BinaryIO, columns: dict[str, str] | None = None) -> Iterator[Paper | Reject]:
        """See `Source.read`."""
        for number, entry in records(stream, "entry"):
            if isinstance(entry, Reject):
                yield entry
            elif "/api/errors" in text(entry, "id"):
                yield reject(number, f"an error answer of the API: {text(entry, 'summary')[:200]}", text(entry, "id"))
            else:
                fields = _fields(entry)
                yield paper_or_reject(fields, self.name, self.rank, number, excerpt_of(fields.items()))


def _fields(entry: Element) -> dict[str, Any]:
    terms = [part.get("term", "") for part in entry if local(part.tag) in ("primary_category", "category")]
    primary = [part.get("term", "") for part in entry if local(part.tag) == "primary_category"]
    fields = {
        "paper_id": text(entry, "id"),
        "title": text(entry, "title"),
        "abstract": text(entry, "summary"),
        "authors": texts(entry, "name") or text(entry, "creator"),
        "categories": [*primary, *terms],
        "comments": text(entry, "comment"),
        "doi": text(entry, "doi") or text(entry, "DOI"),
        "journal_ref": text(entry, "journal_ref") or text(entry, "journal_reference"),
        "published": text(entry, "published"),
        "updated": text(entry, "updated"),
    }
    return {name: value for name, value in fields.items() if value}
