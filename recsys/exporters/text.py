"""Plain text for a terminal: each snippet with a quiet line under it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, ClassVar

from recsys.cards import CardList
from recsys.text.terminal import printable

_DIM, _BOLD, _RESET = "\x1b[2m", "\x1b[1m", "\x1b[0m"


class TextExporter:
    """A heading line, then for each paper its snippet and a caption (score, id, title, date, subject).

    Args:
        plain: snippets alone, a blank line between them.
        colour: dim the captions and embolden the heading with ANSI codes.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".txt",)
    binary: ClassVar[bool] = False

    def __init__(self, *, plain: bool = False, colour: bool = False) -> None:
        self._plain = plain
        self._colour = colour

    def write(self, lists: Iterable[CardList], out: BinaryIO) -> None:
        """Write the lists, a blank line between them."""
        for place, shown in enumerate(lists):
            text = "\n\n".join(self._blocks(shown))
            out.write(f"{chr(10) if place else ''}{text}\n".encode())

    def _blocks(self, shown: CardList) -> Iterator[str]:
        if self._plain:
            yield from (printable(item.snippet) for item in shown)
            return
        yield self._styled(printable(shown.heading), _BOLD)
        for item in shown:
            yield f"{printable(item.snippet)}\n    {self._styled(printable(item.caption), _DIM)}"

    def _styled(self, text: str, style: str) -> str:
        return f"{style}{text}{_RESET}" if self._colour else text
