"""The result of a query as arrays, one a column: a tuple a row costs more time than the query, and more memory."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from recsys.errors import IndexDamaged

if TYPE_CHECKING:
    import numpy.typing as npt

_AT_ONCE = 8192


def columns(found: sqlite3.Cursor, *dtypes: str) -> list[npt.NDArray[Any]]:
    """Read all rows of a query.

    Args:
        found: what `execute` returned.
        dtypes: one a column. Bytes are best read as `V<length>`: exact, shorter ones are filled up with zeros.

    Raises:
        IndexDamaged: a value is not of its column's kind.
    """
    import numpy as np

    parts: list[list[npt.NDArray[Any]]] = [[np.empty(0, dtype=dtype)] for dtype in dtypes]
    try:
        while some := found.fetchmany(_AT_ONCE):
            for part, values, dtype in zip(parts, zip(*some, strict=True), dtypes, strict=True):
                part.append(np.array(values, dtype=dtype))
    except (TypeError, ValueError, OverflowError) as error:
        raise IndexDamaged(f"a table holds a value of the wrong kind ({error})", "recsys doctor --repair") from error
    return [np.concatenate(part) for part in parts]
