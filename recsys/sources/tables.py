"""What tables share: which column a field is in, and a row as a paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from recsys.errors import UnreadableInput
from recsys.paper import Paper
from recsys.sources.base import Reject
from recsys.sources.records import excerpt_of, field_of, paper_or_reject

_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")


def choose_columns(header: Iterable[str], asked: Mapping[str, str] | None) -> dict[str, str]:
    """Field -> column: as asked, else by the columns' usual names.

    Raises:
        UnreadableInput: a column that was asked for is not there, or no column is the id or the title.
    """
    columns = [str(name) for name in header]
    chosen: dict[str, tuple[int, str]] = {}
    for column in columns:
        found = field_of(column)
        if found and found[1] < chosen.get(found[0], (99, ""))[0]:
            chosen[found[0]] = (found[1], column)
    fields = {field: column for field, (_, column) in chosen.items()}
    for name, column in (asked or {}).items():
        found = field_of(name)
        if found is None or column not in columns:
            raise UnreadableInput(f"no column {column!r} for {name!r}; there is: {', '.join(columns[:30])}")
        fields[found[0]] = column
    if not {"paper_id", "title"} <= set(fields):
        raise UnreadableInput(
            f"no column is the id or the title; there is: {', '.join(columns[:30])}",
            "--column id=NAME --column title=NAME",
        )
    return fields


def paper_of_row(
    row: Mapping[Any, Any], columns: Mapping[str, str], source: str, rank: int, line: int
) -> Paper | Reject:
    """The paper of one row, or why not."""
    fields = {field: row[column] for field, column in columns.items() if row[column] not in (None, "")}
    for field in ("authors", "categories"):
        value = fields.get(field)
        if isinstance(value, str) and value.startswith("["):
            fields[field] = _listed(value)
    return paper_or_reject(fields, source, rank, line, excerpt_of(fields.items()))


def _listed(value: str) -> list[str] | str:
    """A Python list that a table holds as text, `['cs.LG', 'stat.ML']`, as a list."""
    return [single or double for single, double in _QUOTED.findall(value)] or value
