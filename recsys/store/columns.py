"""The result of a query as arrays, one a column.

SQLite joins each column into one text, so that Python sees one row: a Python row a row costs several times the query,
and asks for the interpreter's lock each time, for which other threads then wait.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from recsys.errors import IndexDamaged

if TYPE_CHECKING:
    import numpy.typing as npt


def columns(
    connection: sqlite3.Connection, query: str, values: tuple[object, ...] = (), **dtypes: str
) -> list[npt.NDArray[Any]]:
    """Read all rows of a query, in no order, but the same in every column. About 100 bytes a row while it reads.

    Args:
        connection: open.
        query: its columns have the names of `dtypes`.
        values: for its question marks.
        dtypes: column -> `int64`; `S` for text of ASCII without commas; `V<n>` for bytes, filled up with zeros to n.

    Raises:
        IndexDamaged: a value is not of its column's kind.
    """
    joined = ", ".join(_joined(name, dtype) for name, dtype in dtypes.items())
    count, *texts = connection.execute(f"SELECT count(*), {joined} FROM ({query})", values).fetchone()
    try:
        found = [_array(text or "", dtype) for text, dtype in zip(texts, dtypes.values(), strict=True)]
    except ValueError as error:
        raise _of_the_wrong_kind() from error
    if any(len(column) != count for column in found):
        raise _of_the_wrong_kind()
    return found


def _joined(name: str, dtype: str) -> str:
    if not dtype.startswith("V"):
        return f"group_concat({name})"
    digits = 2 * int(dtype[1:])
    return f"group_concat(substr(hex({name}) || '{'0' * digits}', 1, {digits}), '')"


def _array(text: str, dtype: str) -> npt.NDArray[Any]:
    import numpy as np

    if dtype.startswith("V"):
        return np.frombuffer(bytes.fromhex(text), dtype=dtype)
    if dtype == "S":
        return np.array(text.split(",") if text else [], dtype=dtype)
    return np.fromstring(text, dtype=dtype, sep=",")


def _of_the_wrong_kind() -> IndexDamaged:
    return IndexDamaged("a table holds a value of the wrong kind", "recsys doctor --repair")
