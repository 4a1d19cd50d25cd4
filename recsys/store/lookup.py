"""Rows by a column's values, however many."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

_AT_ONCE = 500


def matching(connection: sqlite3.Connection, query: str, values: Iterable[object]) -> Iterator[tuple[Any, ...]]:
    """The rows of a query that ends in a column, where that column is one of the values."""
    wanted = list(values)
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        yield from connection.execute(f"{query} IN ({', '.join('?' * len(some))})", some).fetchall()
