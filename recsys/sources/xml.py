"""Records out of an XML stream: one element at a time, no DOCTYPE, nothing expanded, nothing kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from recsys.errors import UnreadableInput
from recsys.sources.base import Reject

MAX_RECORD = 1 << 20
"""Characters of text in one record; the longest real one is under 300,000."""

MAX_ELEMENTS = 50_000
"""Elements in one record; an author is about four."""

MAX_TOKEN = 4 << 20
"""Bytes of one tag, comment or other piece of markup, which the parser must hold whole."""

_CHUNK = 1 << 16
_NAME = rb"<(?:[\w.-]+:)?"
_BEFORE_ROOT = rb"(?>\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)*+"
_ROOT = re.compile(_BEFORE_ROOT + _NAME + rb"([\w.-]+)", re.DOTALL | re.IGNORECASE)


def root(head: bytes) -> bytes:
    """Local name of the root element of what begins like an XML document; empty where it does not."""
    found = _ROOT.match(head)
    return found[1] if found else b""


def has_element(head: bytes, name: bytes) -> bool:
    """Whether an element with this local name begins in the head, under any prefix."""
    return re.search(_NAME + name + rb"[\s/>]", head) is not None


class _DoctypeError(Exception):
    """A DOCTYPE can define entities that blow up or read files; no arXiv format has one."""


class _Records:
    """A parser target that builds only the wanted elements, and stops building one that grows too large."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self._wanted = wanted
        self._builder: TreeBuilder | None = None
        self._depth = self._size = self._elements = 0
        self.done: list[tuple[int, Element | Reject]] = []
        self.count = 0
        self.pieces = self.ended = 0

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """Refuse."""
        raise _DoctypeError

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin a record, or an element of one."""
        self.pieces += 1
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
        self.pieces += 1
        if self._depth:
            self._grow(len(text))
            if self._builder:
                self._builder.data(text)

    def end(self, tag: str) -> None:
        """End an element; the outermost of a record ends the record."""
        self.pieces += 1
        if not self._depth:
            return
        self._depth -= 1
        if self._builder:
            self._builder.end(tag)
        if not self._depth:
            whole = self._builder.close() if self._builder else Reject(self.count, "a record too large", "")
            self.done.append((self.count, whole))
            self.ended = self.count

    def comment(self, text: str) -> None:
        """Drop a comment."""
        self.pieces += 1

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
    try:
        for _ in _fed(XMLParser(target=target), stream, target):
            yield from _taken(target)
    except _DoctypeError:
        raise UnreadableInput(
            "XML with a DOCTYPE is refused: no arXiv format has one, and it can be an attack"
        ) from None
    except (ParseError, ValueError, LookupError) as error:
        yield from _taken(target)
        raise UnreadableInput(f"XML that ends or breaks after record {target.ended}: {error}") from error


def _fed(parser: XMLParser, stream: BinaryIO, target: _Records) -> Iterator[None]:
    """Feed the parser to the end of the stream, a pause after each chunk."""
    waiting, pieces = 0, 0
    while chunk := stream.read1(_CHUNK) if hasattr(stream, "read1") else stream.read(_CHUNK):
        parser.feed(chunk)
        waiting = waiting + len(chunk) if target.pieces == pieces else 0
        pieces = target.pieces
        if waiting > MAX_TOKEN:
            raise ValueError(f"one tag is longer than {MAX_TOKEN:,} bytes")
        yield
    parser.close()


def _taken(target: _Records) -> list[tuple[int, Element | Reject]]:
    taken, target.done = target.done, []
    return taken


def texts(element: Element, name: str) -> list[str]:
    """The text of every descendant with this local name, in order, markup inside it dropped."""
    return ["".join(found.itertext()).strip() for found in element.iter() if local(found.tag) == name]


def text(element: Element, name: str) -> str:
    """The text of the first descendant with this local name; empty where there is none."""
    return next(iter(texts(element, name)), "")
