"""Ids that a command was given."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import BufferedReader
from itertools import groupby
from typing import cast

_BYTES_AT_ONCE = 1 << 16


def read_ids(arguments: list[str]) -> Iterator[list[str]]:
    """The ids asked for, as many together as are there; `-` stands for stdin, one id a line, `#` begins a comment."""
    for from_stdin, some in groupby(arguments, key="-".__eq__):
        if from_stdin:
            yield from _groups_of_stdin()
        else:
            yield list(some)


def _groups_of_stdin() -> Iterator[list[str]]:
    """What has come so far is a group: who types an id has its answer at once, and of a file many are read together."""
    stdin, rest = cast(BufferedReader, sys.stdin.buffer), b""
    while some := stdin.read1(_BYTES_AT_ONCE):
        *lines, rest = (rest + some).split(b"\n")
        yield _ids_of(lines)
    yield _ids_of([rest])


def _ids_of(lines: list[bytes]) -> list[str]:
    wanted = (line.decode("utf-8", "replace").partition("#")[0].strip() for line in lines)
    return [paper_id for paper_id in wanted if paper_id]
