"""Ids alone: one versionless id a line, for pipes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO, ClassVar

from recsys.cards import CardList


class IdsExporter:
    """The ids of a list's papers, one a line, best first; several lists follow each other."""

    suffixes: ClassVar[tuple[str, ...]] = (".ids",)
    binary: ClassVar[bool] = False

    def write(self, lists: Iterable[CardList], out: BinaryIO) -> None:
        """Write the lists."""
        for shown in lists:
            out.write("".join(f"{item.id}\n" for item in shown).encode())
