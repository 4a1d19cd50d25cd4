"""The OAI-PMH envelope that three formats share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element

from recsys.paper import Paper
from recsys.sources.base import Reject
from recsys.sources.records import excerpt_of, paper_or_reject, reject
from recsys.sources.xml import has_element, local, records, root, text


def is_oai(head: bytes, metadata: bytes = b"") -> bool:
    """Whether a file begins like an OAI-PMH answer, or a record of one.

    Args:
        head: the beginning of the file.
        metadata: local name of the format's own element, which must be there too, or be named in the request.
    """
    answer = root(head) not in (b"", b"html") and (b"OAI-PMH" in head or b"//www.openarchives.org/OAI/" in head)
    asked = b'metadataPrefix="' + metadata + b'"' in head and has_element(head, b"record")
    return answer and (not metadata or has_element(head, metadata) or asked)


def papers(
    stream: BinaryIO, metadata: str, fields: Callable[[Element], dict[str, Any]], source: str, rank: int
) -> Iterator[Paper | Reject]:
    """Papers of a ListRecords or GetRecord answer.

    Args:
        stream: bytes of one answer.
        metadata: local name of the format's own element.
        fields: that element -> field name -> value; a key `withdrawn` is the format's own flag.
        source: the reader's name.
        rank: the reader's rank.
    """
    for number, record in records(stream, "record", "error"):
        if isinstance(record, Reject):
            yield record
        elif local(record.tag) == "error":
            code = record.get("code", "error")
            if code != "noRecordsMatch":
                yield reject(number, f"the server's error {code}: {(record.text or '').strip()[:200]}", "")
        else:
            yield _paper(number, record, metadata, fields, source, rank)


def _paper(
    number: int, record: Element, metadata: str, fields: Callable[[Element], dict[str, Any]], source: str, rank: int
) -> Paper | Reject:
    identifier = text(record, "identifier")
    header = next((part for part in record if local(part.tag) == "header"), None)
    if header is not None and header.get("status") == "deleted":
        return reject(number, "deleted at the server", identifier)
    found = next((part for part in record.iter() if local(part.tag) == metadata), None)
    if found is None:
        return reject(number, f"no {metadata} metadata in this record", identifier)
    made = {"paper_id": identifier, "updated": text(record, "datestamp")}
    made |= {name: value for name, value in fields(found).items() if value}
    withdrawn = bool(made.pop("withdrawn", False))
    return paper_or_reject(made, source, rank, number, excerpt_of(made.items()), withdrawn=withdrawn)
