"""Which blocks of papers are compared with which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Tile(NamedTuple):
    """Two blocks that are compared, by their numbers; `rows <= columns`."""

    rows: int
    columns: int


def blocks_of(n: int, size: int) -> list[slice]:
    """Consecutive slices of n rows."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def every_pair(blocks: int) -> Iterator[Tile]:
    """Each two blocks once; first each with itself, then with its neighbours, so that early ones lie side by side."""
    for distance in range(blocks):
        for first in range(blocks - distance):
            yield Tile(first, first + distance)
