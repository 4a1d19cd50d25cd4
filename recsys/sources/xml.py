"""Records out of an XML stream: one element at a time, no DOCTYPE, nothing expanded, nothing kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from recsys.errors import UnreadableInput
from recsys.sources.base import Reject

MAX_RECORD = 1 << 20
"""Characters of text in one record; the longest real one is under 300,000."""

MAX_ELEMENTS = 50_000
"""Elements in one record; an author is about four."""

_CHUNK = 1 << 16


class _DoctypeError(Exception):
    """A DOCTYPE can define entities that blow up or read files; no arXiv format has one."""


class _Records:
    """A parser target that builds only the wanted elements, and stops building one that grows too large."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self._wanted = wanted
        self._builder: TreeBuilder | None = None
        self._depth = self._size = self._elements = 0
        self.done: list[Element | Reject] = []
        self.count = 0

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """Refuse."""
        raise _DoctypeError

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin a record, or an element of one."""
        if not self._depth:
            if local(tag) not in self._wanted:
                return
            self._builder, self._size, self._elements = TreeBuilder(), 0, 0
            self.count += 1
        self._depth += 1
        self._elements += 1
        self._grow(sum(map(len, attributes.values())))
        if self._builder:
            self._builder.start(tag, attributes)

    def data(self, text: str) -> None:
        """Text of a record's element."""
        if self._depth:
            self._grow(len(text))
            if self._builder:
                self._builder.data(text)

    def end(self, tag: str) -> None:
        """End an element; the outermost of a record ends the record."""
        if not self._depth:
            return
        self._depth -= 1
        if self._builder:
            self._builder.end(tag)
        if not self._depth:
            self.done.append(self._builder.close() if self._builder else Reject(self.count, "a record too large", ""))

    def close(self) -> None:
        """The end of the document."""

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MAX_RECORD or self._elements > MAX_ELEMENTS:
            self._builder = None


def local(tag: str) -> str:
    """A tag without its namespace."""
    return tag.rpartition("}")[2]


def records(stream: BinaryIO, *wanted: str) -> Iterator[tuple[int, Element | Reject]]:
    """Every outermost element with one of these local names, with its number from 1.

    Raises:
        UnreadableInput: a DOCTYPE, or XML that ends or breaks; whole records before that place were yielded.
    """
    target = _Records(frozenset(wanted))
    parser = XMLParser(target=target)
    number = 0
    try:
        while chunk := stream.read1(_CHUNK) if hasattr(stream, "read1") else stream.read(_CHUNK):
            parser.feed(chunk)
            for record in _taken(target):
                number += 1
                yield number, record
        parser.close()
    except _DoctypeError:
        raise UnreadableInput(
            "XML with a DOCTYPE is refused: no arXiv format has one, and it can be an attack"
        ) from None
    except (ParseError, ValueError) as error:
        yield from enumerate(_taken(target), number + 1)
        raise UnreadableInput(f"XML that ends or breaks after record {number}: {error}") from error


def _taken(target: _Records) -> list[Element | Reject]:
    taken, target.done = target.done, []
    return taken


def texts(element: Element, name: str) -> list[str]:
    """The text of every descendant with this local name, in order, markup inside it dropped."""
    return ["".join(found.itertext()).strip() for found in element.iter() if local(found.tag) == name]


def text(element: Element, name: str) -> str:
    """The text of the first descendant with this local name; empty where there is none."""
    return next(iter(texts(element, name)), "")
