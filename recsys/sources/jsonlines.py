"""JSON objects out of a stream: one a line, several a line, in an array, or printed over many lines."""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any, BinaryIO

from recsys.sources.base import Reject
from recsys.sources.records import reject

MAX_LINE = 1 << 20
"""Bytes of one record; the longest real one is under 300 kB (a collaboration's author list)."""

_SPACE = b" \t\r\n\x1e"
_BETWEEN = " \t\r\n,[]\x1e"
_CHUNK = 1 << 16
_IN_LINE = re.compile(r"\}[ \t]*,[ \t]*(?=\{)")

Record = tuple[int, bytes, dict[str, Any]]
"""Line, raw bytes, object."""


class _DuplicateKey(ValueError):
    """An object names one key twice, so that what it says depends on who reads it."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _DuplicateKey("a key stands twice in one object")
    return made


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse, strict=False)


def objects(stream: BinaryIO, head: bytes) -> Iterator[Record | Reject]:
    """Every object of the stream, and a reject for each piece that is none.

    Args:
        stream: bytes.
        head: what the stream begins with, to tell lines from a document.
    """
    first = head.lstrip(_SPACE).partition(b"\n")[0]
    if first.startswith(b"[") or (first.startswith(b"{") and b"\n" in head.lstrip(_SPACE) and _unfinished(first)):
        yield from _document(stream)
    else:
        yield from _lines(stream)


def _unfinished(line: bytes) -> bool:
    """Whether a first line is only the beginning of an object that is printed over several."""
    return line.strip() == b"{" or (line.rstrip().endswith((b",", b"{", b"[")) and len(line) < 2000)


def _lines(stream: BinaryIO) -> Iterator[Record | Reject]:
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            yield reject(number, f"a line longer than {MAX_LINE:,} bytes", line)
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
            continue
        stripped = line.strip(_SPACE)
        if stripped:
            yield from _parse_line(number, stripped)


def _parse_line(number: int, line: bytes) -> Iterator[Record | Reject]:
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = line.decode("utf-8", "replace")
    place = 0
    while place < len(text):
        try:
            value, end = _decoder.raw_decode(text, place)
        except RecursionError:
            yield reject(number, "nested too deeply", line)
            return
        except ValueError as error:
            yield reject(number, f"not JSON: {getattr(error, 'msg', error)}", text[place:])
            return
        yield (number, line, value) if isinstance(value, dict) else reject(number, "not an object", text[place:])
        place = end
        while place < len(text) and text[place] in " ,\t\r":
            place += 1


def _document(stream: BinaryIO) -> Iterator[Record | Reject]:
    """Objects of an array, or one after another, over any number of lines; about one record is held at a time."""
    decoder = getincrementaldecoder("utf-8")("replace")
    text, number, indent, ended = "", 1, 0, False
    while True:
        rest = text.lstrip(_BETWEEN)
        between, text = text[: len(text) - len(rest)], rest
        number += between.count("\n")
        indent = len(between.rpartition("\n")[2]) if "\n" in between else indent
        try:
            value, end = _decoder.raw_decode(text)
        except (ValueError, RecursionError) as error:
            if not ended and len(text) < MAX_LINE:
                chunk = stream.read(_CHUNK)
                ended = not chunk
                text += decoder.decode(chunk, ended)
                continue
            if not text:
                return
            yield reject(number, f"not JSON: {getattr(error, 'msg', error)}", text)
            end = _next_object(text, indent)
        else:
            yield (
                (number, text[:end].encode("utf-8", "replace"), value)
                if isinstance(value, dict)
                else reject(number, "not an object", text)
            )
        number += text.count("\n", 0, end)
        text = text[end:]


def _next_object(text: str, indent: int) -> int:
    """Where the next record may begin after one that cannot be read.

    At a brace no deeper in its line than the last record's; where all stands on one line, at the next object of a list.
    """
    found = re.compile(rf"\n[ \t]{{0,{indent}}}(?=\{{)").search(text) or _IN_LINE.search(text)
    return found.end() if found else len(text)
