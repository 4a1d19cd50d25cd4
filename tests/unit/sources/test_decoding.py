from __future__ import annotations

import io

import pytest

from recsys.sources.base import HEAD
from recsys.sources.decoding import decoded

XML = '<?xml version="1.0" encoding="{}"?>\n<feed>Löf 🌲</feed>'


def text(content: bytes) -> str:
    stream = io.BufferedReader(io.BytesIO(content), HEAD)
    return decoded(stream, stream.peek(HEAD)).read().decode()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_a_declaration_of_the_old_encoding_is_dropped(encoding: str) -> None:
    """expat refuses a document whose bytes are not in the encoding that it declares."""
    assert text(XML.format(encoding).encode(encoding)) == '<?xml version="1.0"?>\n<feed>Löf 🌲</feed>'


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_json_in_utf_16_with_a_mark_or_without(encoding: str) -> None:
    assert text('{"a": "🌲"}'.encode(encoding)) == '{"a": "🌲"}'


def test_pieces_of_a_letter_on_both_sides_of_a_chunk() -> None:
    content = "{" + "🌲é" * 100_000
    assert text(content.encode("utf-16")) == content


@pytest.mark.parametrize("content", [b"PAR1\r\0", b'{"a": 1}\r\n{"b": 2}\r\n', XML.format("UTF-8").encode(), b""])
def test_others_stay_as_they_are(content: bytes) -> None:
    assert text(content).encode() == content
