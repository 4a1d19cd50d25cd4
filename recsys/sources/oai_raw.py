"""OAI-PMH in arXiv's own `arXivRaw`: raw TeX text, version history, and a flag for withdrawals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar
from xml.etree.ElementTree import Element

from recsys.paper import Paper
from recsys.sources.base import Reject
from recsys.sources.oai import is_oai, papers
from recsys.sources.records import version_number
from recsys.sources.xml import local, text


class ArxivRawSource:
    """The richest format: newest version = last `version`; withdrawn where that has no source (`I`, or `0kb`)."""

    name: ClassVar[str] = "arxiv-raw"
    rank: ClassVar[int] = 60

    @classmethod
    def recognises(cls, head: bytes, filename: str) -> bool:
        """An OAI-PMH answer with `arXivRaw` elements."""
        return is_oai(head, b"arXivRaw")

    def read(self, stream: BinaryIO, columns: dict[str, str] | None = None) -> Iterator[Paper | Reject]:
        """See `Source.read`."""
        return papers(stream, "arXivRaw", _fields, self.name, self.rank)


def _fields(raw: Element) -> dict[str, Any]:
    versions = sorted((part for part in raw if local(part.tag) == "version"), key=_number)
    fields: dict[str, Any] = {
        "paper_id": text(raw, "id"),
        "title": text(raw, "title"),
        "abstract": text(raw, "abstract"),
        "authors": text(raw, "authors"),
        "categories": text(raw, "categories"),
        "comments": text(raw, "comments"),
        "doi": text(raw, "doi"),
        "journal_ref": text(raw, "journal-ref"),
    }
    if versions:
        last = versions[-1]
        fields["published"] = text(versions[0], "date")
        fields["version"] = last.get("version", "")
        fields["withdrawn"] = "I" in text(last, "source_type") or text(last, "size").lower() == "0kb"
    return fields


def _number(version: Element) -> int:
    return version_number(version.get("version"))
