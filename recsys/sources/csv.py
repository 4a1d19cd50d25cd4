"""CSV and TSV tables, by pandas; every cell is text, so ids keep their zeros."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from recsys.errors import UnreadableInput
from recsys.paper import Paper
from recsys.sources.base import Reject, peek
from recsys.sources.records import field_of, reject
from recsys.sources.tables import choose_columns, paper_of_row

_ROWS = 1000
_MAX_CELL = 1 << 20


class CsvSource:
    """A header row, then a paper a row; the separator is a comma, tab, semicolon or bar."""

    name: ClassVar[str] = "csv"
    rank: ClassVar[int] = 30

    @classmethod
    def recognises(cls, head: bytes, filename: str) -> bool:
        """Text whose first line names an id and a title, or a file with a table's suffix."""
        header = head.partition(b"\n")[0].decode("utf-8", "replace")
        cells = [cell.strip().strip('"') for cell in header.split(_separator(header))]
        fields = {found[0] for cell in cells if (found := field_of(cell))}
        named = filename.lower().endswith((".csv", ".tsv")) and head.lstrip()[:1] not in (b"<", b"{")
        return len(cells) > 1 and ({"paper_id", "title"} <= fields or named)

    def read(self, stream: BinaryIO, columns: dict[str, str] | None = None) -> Iterator[Paper | Reject]:
        """See `Source.read`; a row with too many cells is a reject."""
        import pandas as pd

        csv.field_size_limit(_MAX_CELL)
        header = peek(stream).partition(b"\n")[0].decode("utf-8", "replace")
        bad: list[list[str]] = []
        try:
            chunks = pd.read_csv(
                io.TextIOWrapper(stream, "utf-8", errors="replace", newline=""),
                sep=_separator(header),
                dtype=str,
                keep_default_na=False,
                chunksize=_ROWS,
                index_col=False,
                engine="python",
                on_bad_lines=lambda cells: bad.append(cells),
            )
            number = 1
            for chunk in chunks:
                chosen = choose_columns(chunk.columns, columns)
                for row in chunk.fillna("").astype(object).to_dict("records"):
                    number += 1
                    yield paper_of_row(row, chosen, self.name, self.rank, number)
                yield from (reject(number, "more cells than columns", ", ".join(map(str, cells))) for cells in bad)
                bad.clear()
        except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error, ValueError) as error:
            raise UnreadableInput(f"a table that breaks: {error}") from error


def _separator(header: str) -> str:
    return max(",\t;|", key=header.count)
