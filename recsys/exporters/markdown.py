"""Markdown: a heading a list, a numbered item a paper."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import BinaryIO, ClassVar

from recsys.cards import Card, CardList, long_date
from recsys.text.terminal import printable

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!~&$])")
_LIST_MARK = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")


class MarkdownExporter:
    """Readable Markdown in which foreign text is escaped, so that none of it is markup."""

    suffixes: ClassVar[tuple[str, ...]] = (".md",)
    binary: ClassVar[bool] = False

    def write(self, lists: Iterable[CardList], out: BinaryIO) -> None:
        """Write the lists, a blank line between them."""
        for place, shown in enumerate(lists):
            blocks = (f"## {_escaped(shown.heading)}", *map(_item, shown))
            out.write(f"{chr(10) if place else ''}{(chr(10) * 2).join(blocks)}\n".encode())


def _item(item: Card) -> str:
    quiet = " · ".join(part for part in (f"{item.score:.3f}", long_date(item.published), item.subject) if part)
    return (
        f"{item.rank}. **{_escaped(item.title)}** ([{item.versioned_id}]({item.url}))\n"
        f"   {_escaped(item.snippet)}\n"
        f"   <br>{_escaped(quiet)}"
    )


def _escaped(text: str) -> str:
    return _LIST_MARK.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", printable(text)))
