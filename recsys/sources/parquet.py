"""Parquet tables, by pyarrow, a batch of rows at a time."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from recsys.errors import MissingExtra, UnreadableInput
from recsys.paper import Paper
from recsys.sources.base import Reject
from recsys.sources.tables import choose_columns, paper_of_row

_ROWS = 1000
_IN_MEMORY = 64 << 20


class ParquetSource:
    """A paper a row. Ids must be text: a column of numbers has already lost their zeros."""

    name: ClassVar[str] = "parquet"
    rank: ClassVar[int] = 30

    @classmethod
    def recognises(cls, head: bytes, filename: str) -> bool:
        """The format's first four bytes."""
        return head.startswith(b"PAR1")

    def read(self, stream: BinaryIO, columns: dict[str, str] | None = None) -> Iterator[Paper | Reject]:
        """See `Source.read`; a stream is first copied to a temporary file, as the format is read from its end.

        Raises:
            MissingExtra: pyarrow is not installed.
        """
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise MissingExtra("Parquet", "parquet") from None
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as copy:
            shutil.copyfileobj(stream, copy)
            copy.seek(0)
            try:
                table = pq.ParquetFile(copy)
                chosen = choose_columns(table.schema_arrow.names, columns)
                number = 0
                for batch in table.iter_batches(_ROWS, columns=sorted(set(chosen.values()))):
                    for row in _rows(batch):
                        number += 1
                        yield paper_of_row(row, chosen, self.name, self.rank, number)
            except (pa.ArrowException, OSError, OverflowError, io.UnsupportedOperation) as error:
                raise UnreadableInput(f"a Parquet file that breaks: {error}") from error


_UNFIT = (UnicodeDecodeError, OverflowError, ValueError)
"""What pyarrow raises of cells that Python cannot hold: text that is no UTF-8, dates beyond year 9999."""


def _rows(batch: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - pyarrow has no types
    """A batch as rows; text that is no UTF-8 is mended, as pyarrow writes it without looking."""
    try:
        return list(batch.to_pylist())
    except _UNFIT:
        columns = {name: _mended(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}
        return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _mended(column: Any) -> list[Any]:  # noqa: ANN401 - pyarrow has no types
    try:
        return list(column.to_pylist())
    except _UNFIT:
        return [_text(cell) for cell in column]


def _text(cell: Any) -> object:  # noqa: ANN401 - pyarrow has no types
    try:
        return cell.as_py()
    except _UNFIT:
        buffer = cell.as_buffer() if hasattr(cell, "as_buffer") else None
        return buffer.to_pybytes().decode("utf-8", "replace") if buffer else None
