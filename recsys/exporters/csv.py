"""CSV: one row a neighbour, cells that a spreadsheet would run as formulas made harmless."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any, BinaryIO, ClassVar

from recsys.cards import CardList
from recsys.exporters.rows import COLUMNS, rows

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class CsvExporter:
    """Comma-separated UTF-8 with a header row.

    A text cell that begins like a formula gets a leading apostrophe (OWASP, "CSV Injection"). Ids are text: tell
    the spreadsheet so, or 0704.0010 becomes a number; JSONL and Parquet have no such trouble.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".csv",)
    binary: ClassVar[bool] = False

    def write(self, lists: Iterable[CardList], out: BinaryIO) -> None:
        """Write the lists under one header."""
        text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for shown in lists:
            writer.writerows({name: _harmless(cell) for name, cell in row.items()} for row in rows(shown))
        text.detach()


def _harmless(cell: Any) -> Any:  # noqa: ANN401 - a cell is whatever its column holds
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
