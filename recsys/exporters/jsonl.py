"""JSON lines: the documented object, one line a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO, ClassVar

from recsys.cards import CardList


class JsonlExporter:
    """One compact JSON object a line, in input order."""

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")
    binary: ClassVar[bool] = False

    def write(self, lists: Iterable[CardList], out: BinaryIO) -> None:
        """Write the lists."""
        for shown in lists:
            out.write(shown.to_json() + b"\n")
