"""OAI-PMH in arXiv's `arXiv` format: authors in parts, text with accents already decoded, no version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar
from xml.etree.ElementTree import Element

from recsys.paper import Paper
from recsys.sources.base import Reject
from recsys.sources.oai import is_oai, papers
from recsys.sources.xml import local, text


class ArxivOaiSource:
    """`created` is when version 1 came, `updated` when the newest did; which version that is stays unknown."""

    name: ClassVar[str] = "arxiv-oai"
    rank: ClassVar[int] = 20

    @classmethod
    def recognises(cls, head: bytes, filename: str) -> bool:
        """An OAI-PMH answer with `arXiv` elements."""
        return is_oai(head, b"arXiv")

    def read(self, stream: BinaryIO, columns: dict[str, str] | None = None) -> Iterator[Paper | Reject]:
        """See `Source.read`."""
        return papers(stream, "arXiv", _fields, self.name, self.rank)


def _fields(found: Element) -> dict[str, Any]:
    authors = [
        [text(author, "keyname"), text(author, "forenames"), text(author, "suffix")]
        for author in found.iter()
        if local(author.tag) == "author"
    ]
    return {
        "paper_id": text(found, "id"),
        "title": text(found, "title"),
        "abstract": text(found, "abstract"),
        "authors": authors,
        "categories": text(found, "categories"),
        "comments": text(found, "comments"),
        "doi": text(found, "doi"),
        "journal_ref": text(found, "journal-ref"),
        "published": text(found, "created"),
        "updated": text(found, "updated"),
    }
