"""Rows of a delimited text out of a stream; a row that breaks costs one line."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Callable, Iterator
from typing import BinaryIO

MAX_ROW = 1 << 20
"""Bytes of one row; the longest real record is under 300,000."""

_CELL_LINES = 64
"""Lines that a cell of a row with too few cells may have."""

Row = tuple[int, list[str] | str, str]
"""Line of the row's start, its cells or what is wrong with it, and its first line."""


class _Lines:
    """Decoded lines, those of the row that is being read held until it is known to be whole."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._again: deque[str] = deque()
        self._held: list[str] = []
        self._size = 0
        self.number = 1

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._read()
        self._held.append(line)
        self._size += len(line)
        if self._size > MAX_ROW:
            raise csv.Error(f"a row longer than {MAX_ROW:,} bytes")
        return line

    def _read(self) -> str:
        line = self._stream.readline(MAX_ROW + 1)
        if not line:
            raise StopIteration
        rest = line
        while len(rest) > MAX_ROW and not rest.endswith(b"\n"):
            rest = self._stream.readline(MAX_ROW + 1)
        return line.decode("utf-8", "replace")

    @property
    def row(self) -> list[str]:
        """The lines of the row."""
        return self._held

    def take(self) -> None:
        """The row is done with."""
        self.number += len(self._held)
        self._held, self._size = [], 0

    def give_back(self, kept: int) -> None:
        """Read all but the first `kept` lines of the row again."""
        self._again.extendleft(reversed(self._held[kept:]))
        del self._held[kept:]
        self.take()


def rows(stream: BinaryIO, separator: Callable[[str], str]) -> Iterator[Row]:
    """Every row that is not blank, the header first.

    Quotes may hold line ends. Where they do not close, or close in the middle of a cell, only the first line of the
    row is lost: the lines that the open quote swallowed are read again as rows of their own.

    Args:
        stream: UTF-8 bytes.
        separator: first line -> what stands between its cells.
    """
    lines = _Lines(stream)
    first = next((line for line in lines if line.strip()), "")
    lines.give_back(len(lines.row) - 1)
    between = separator(first)
    reader = csv.reader(lines, delimiter=between, strict=True)
    width = 0
    while True:
        try:
            found: list[str] | str = _trimmed(next(reader), width)
        except StopIteration:
            return
        except csv.Error as error:
            found = _alone(lines.row, between, width) or f"a row that breaks: {error}"
        number, begins = lines.number, lines.row[0] if lines.row else ""
        if isinstance(found, str) or (len(found) != width > 0 and _swallowed(lines.row[1:], between, width)):
            lines.give_back(1)
            yield number, found if isinstance(found, str) else "a quote that does not close", begins
            continue
        lines.take()
        if found:
            width = width or len(found)
            yield number, found, begins


def _swallowed(lines: list[str], separator: str, width: int) -> bool:
    """Whether an open quote made rows a part of this one: they are many, or one is as wide as the header."""
    return len(lines) > _CELL_LINES or any(len(cells) == width for cells in csv.reader(lines, delimiter=separator))


def _trimmed(cells: list[str], width: int) -> list[str]:
    """The cells, without empty ones beyond the header's."""
    while width and len(cells) > width and not cells[-1]:
        cells.pop()
    return cells


def _alone(row: list[str], separator: str, width: int) -> list[str]:
    """The cells of a row of one line with quotes in odd places, if it has as many as the header; else none."""
    if len(row) != 1 or len(row[0]) > MAX_ROW:
        return []
    cells = next(csv.reader(row, delimiter=separator), [])
    return cells if len(cells) == width else []
