"""OAI-PMH in Dublin Core: subjects by name, abstract and comments both `description`, no version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar
from xml.etree.ElementTree import Element

from recsys import taxonomy
from recsys.paper import Paper
from recsys.sources.base import Reject
from recsys.sources.oai import is_oai, papers
from recsys.sources.xml import text, texts

_BY_NAME = {name: category for category, name in taxonomy.CATEGORIES.items() if "." not in category}
_BY_NAME |= {
    f"{taxonomy.ARCHIVES[category.partition('.')[0]].name} - {name}": category
    for category, name in taxonomy.CATEGORIES.items()
    if "." in category
}
_BY_NAME |= {archive.name: name for name, archive in taxonomy.ARCHIVES.items() if archive.name not in _BY_NAME}


class OaiDcSource:
    """The plainest format; it also reads OAI-PMH answers that hold only an error."""

    name: ClassVar[str] = "oai-dc"
    rank: ClassVar[int] = 5

    @classmethod
    def recognises(cls, head: bytes, filename: str) -> bool:
        """Any OAI-PMH answer that no richer format's reader took."""
        return is_oai(head)

    def read(self, stream: BinaryIO, columns: dict[str, str] | None = None) -> Iterator[Paper | Reject]:
        """See `Source.read`."""
        return papers(stream, "dc", _fields, self.name, self.rank)


def _fields(dc: Element) -> dict[str, Any]:
    dates = texts(dc, "date")
    descriptions = texts(dc, "description")
    comments = next((found for found in descriptions if found.startswith("Comment:")), "")
    identifiers = texts(dc, "identifier")
    return {
        "paper_id": next((found for found in identifiers if "arxiv.org/abs/" in found), ""),
        "title": text(dc, "title"),
        "abstract": next((found for found in descriptions if not found.startswith("Comment:")), ""),
        "authors": [" ".join(reversed(name.split(", ", 1))) for name in texts(dc, "creator")],
        "categories": [_BY_NAME[subject] for subject in texts(dc, "subject") if subject in _BY_NAME],
        "comments": comments.removeprefix("Comment:").strip(),
        "doi": next((found.removeprefix("doi:") for found in identifiers if found.startswith("doi:")), ""),
        "published": min(dates, default=""),
        "updated": max(dates, default=""),
    }
