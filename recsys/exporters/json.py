"""JSON: the documented object for one list, an array of such objects for several."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain, islice
from typing import BinaryIO, ClassVar

from recsys.cards import CardList


class JsonExporter:
    """Indented JSON.

    Args:
        array: always write an array; else a single list is written as one object.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".json",)
    binary: ClassVar[bool] = False

    def __init__(self, *, array: bool = False) -> None:
        self._array = array

    def write(self, lists: Iterable[CardList], out: BinaryIO) -> None:
        """Write the lists."""
        several = iter(lists)
        first = list(islice(several, 2))
        if len(first) == 1 and not self._array:
            out.write(_object(first[0]) + b"\n")
            return
        for place, shown in enumerate(chain(first, several)):
            out.write((b",\n" if place else b"[\n") + _object(shown))
        out.write(b"\n]\n" if first else b"[]\n")


def _object(shown: CardList) -> bytes:
    return json.dumps(shown.to_dict(), ensure_ascii=False, indent=2).encode()
