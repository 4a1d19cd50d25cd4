from __future__ import annotations

import io
import tracemalloc

import pytest

from recsys.errors import UnreadableInput
from recsys.sources.base import Reject
from recsys.sources.xml import MAX_TOKEN, has_element, records, root, text


def read(content: bytes) -> tuple[list[tuple[int, str]], str]:
    """Number and id of each record, and what was said of damage."""
    found: list[tuple[int, str]] = []
    try:
        for number, record in records(io.BytesIO(content), "r"):
            found.append((number, record.reason if isinstance(record, Reject) else text(record, "id")))
    except UnreadableInput as error:
        return found, error.message
    return found, ""


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"<feed xmlns='x'>", b"feed"),
        (b'\n<?xml version="1.0"?>\n<!-- a > b --><?style x?><a:feed xmlns:a="x">', b"feed"),
        (b'<!DOCTYPE rss [<!ENTITY a "b">]><rss>', b"rss"),
        (b"<!doctype html><html>", b"html"),
        (b"Rate exceeded.", b""),
        (b'{"body": "<feed>"}', b""),
        (b"", b""),
        (b"<?xml never closed" + b" " * 60_000, b""),
        (b"<!-- -->" * 8_000 + b"<", b""),
    ],
)
def test_root(head: bytes, name: bytes) -> None:
    assert root(head) == name


def test_elements_under_any_prefix() -> None:
    assert has_element(b"<x><raw:arXivRaw xmlns='y'>", b"arXivRaw")
    assert has_element(b"<arXiv>", b"arXiv")
    assert not has_element(b"<arXivRaw>", b"arXiv")


def test_records_are_numbered_and_nested_ones_are_not_records() -> None:
    assert read(b"<l><r><id>a</id><r><id>b</id></r></r><x/><r><id>c</id></r></l>") == ([(1, "a"), (2, "c")], "")


@pytest.mark.parametrize(
    ("tail", "says"),
    [
        (b"<r><id>b</id>", "no element found"),
        (b"<r><id>\x01</id></r></l>", "not well-formed"),
        (b"<r>&nope;</r></l>", "undefined entity"),
        (b"</l><l></l>", "junk after document element"),
    ],
)
def test_the_message_names_the_last_whole_record(tail: bytes, says: str) -> None:
    found, message = read(b"<l><r><id>a</id></r>" + tail)
    assert found == [(1, "a")]
    assert "after record 1:" in message
    assert says in message


@pytest.mark.parametrize("encoding", ["nonsense", "utf-7", "gb2312"])
def test_encodings_that_the_parser_has_not(encoding: str) -> None:
    found, message = read(f'<?xml version="1.0" encoding="{encoding}"?><l><r/></l>'.encode())
    assert found == []
    assert "encoding" in message


def test_a_record_that_is_too_large_costs_only_itself() -> None:
    large = b"<r>" + b"<id>x</id>" * 60_000 + b"</r>"
    assert read(b"<l><r><id>a</id></r>" + large + b"<r><id>c</id></r></l>") == (
        [(1, "a"), (2, "a record too large"), (3, "c")],
        "",
    )


class _Endless(io.RawIOBase):
    """One tag that never ends."""

    def __init__(self) -> None:
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        self.given += size
        return b'<l><r a="'.ljust(size, b"x") if self.given == size else b"x" * size


def test_a_tag_that_never_ends_is_given_up() -> None:
    stream = _Endless()
    tracemalloc.start()
    with pytest.raises(UnreadableInput, match="one tag is longer than"):
        list(records(stream, "r"))  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert stream.given < 2 * MAX_TOKEN
    assert peak < 4 * MAX_TOKEN


def test_many_comments_are_not_one_tag() -> None:
    assert read(b"<l>" + b"<!-- x -->" * 600_000 + b"<r><id>a</id></r></l>") == ([(1, "a")], "")
