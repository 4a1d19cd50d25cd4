"""Parquet: one row a neighbour, ids as text; needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import BinaryIO, ClassVar

from recsys.cards import CardList
from recsys.errors import MissingExtra
from recsys.exporters.rows import COLUMNS, rows

_BATCH = 1000


class ParquetExporter:
    """One Parquet file; a row group for every 1,000 lists."""

    suffixes: ClassVar[tuple[str, ...]] = (".parquet",)
    binary: ClassVar[bool] = True

    def write(self, lists: Iterable[CardList], out: BinaryIO) -> None:
        """Write the lists.

        Raises:
            MissingExtra: pyarrow is not installed.
        """
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise MissingExtra("Parquet", "parquet") from None
        types = {str: pa.string(), int: pa.int32(), float: pa.float64()}
        schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
        with pq.ParquetWriter(out, schema) as writer:
            for group in _batches(lists):
                cells = zip(*(row.values() for row in chain.from_iterable(map(rows, group))), strict=True)
                columns = [pa.array(column, field.type) for column, field in zip(cells, schema, strict=False)]
                if columns:
                    writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _batches(lists: Iterable[CardList]) -> Iterator[tuple[CardList, ...]]:
    several = iter(lists)
    while group := tuple(islice(several, _BATCH)):
        yield group
