"""CSV and TSV tables, a row at a time; every cell is text, so ids keep their zeros."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from recsys.errors import UnreadableInput
from recsys.paper import Paper
from recsys.sources.base import Reject
from recsys.sources.records import field_of, reject
from recsys.sources.rows import MAX_ROW, rows
from recsys.sources.tables import choose_columns, paper_of_row


class CsvSource:
    """A header row, then a paper a row; the separator is a comma, tab, semicolon or bar."""

    name: ClassVar[str] = "csv"
    rank: ClassVar[int] = 30

    @classmethod
    def recognises(cls, head: bytes, filename: str) -> bool:
        """Text whose first line names an id and a title, or a file with a table's suffix."""
        header = head.lstrip(b"\r\n").partition(b"\n")[0].decode("utf-8", "replace")
        cells = [cell.strip().strip('"') for cell in header.split(separator(header))]
        fields = {found[0] for cell in cells if (found := field_of(cell))}
        named = filename.lower().endswith((".csv", ".tsv")) and head.lstrip()[:1] not in (b"<", b"{")
        return len(cells) > 1 and ({"paper_id", "title"} <= fields or named)

    def read(self, stream: BinaryIO, columns: dict[str, str] | None = None) -> Iterator[Paper | Reject]:
        """See `Source.read`; a row that breaks, or has more cells than the header, is a reject."""
        csv.field_size_limit(MAX_ROW)
        found = rows(stream, separator)
        _, header, _ = next(found, (1, "no header", ""))
        if isinstance(header, str):
            raise UnreadableInput(f"a table that breaks: {header}")
        chosen = choose_columns(header, columns)
        for line, cells, begins in found:
            if isinstance(cells, str):
                yield reject(line, cells, begins)
            elif len(cells) > len(header):
                yield reject(line, "more cells than columns", begins)
            else:
                row = dict.fromkeys(header, "") | dict(zip(header, cells, strict=False))
                yield paper_of_row(row, chosen, self.name, self.rank, line)


def separator(header: str) -> str:
    """What stands between the cells of a header."""
    return max(",\t;|", key=header.count)
