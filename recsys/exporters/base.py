"""The contract of an exporter."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, ClassVar, Protocol

from recsys import registry
from recsys.cards import CardList
from recsys.errors import RecsysError


class Exporter(Protocol):
    """Writes lists as one format.

    Attributes:
        suffixes: file suffixes that mean this format, with the dot.
        binary: whether the bytes are no text, so that a terminal must not see them.
    """

    suffixes: ClassVar[tuple[str, ...]]
    binary: ClassVar[bool]

    def write(self, lists: Iterable[CardList], out: BinaryIO) -> None:
        """Write every list, in order, as it comes; memory does not grow with their number.

        Raises:
            MissingExtra: a library that this format needs is not installed.
        """
        ...


def exporter_for(path: Path) -> Exporter:
    """The exporter that a file's suffix asks for; errors are those of `format_of`."""
    return registry.load(registry.EXPORTERS, format_of(path))()  # type: ignore[no-any-return]


def format_of(path: Path) -> str:
    """The registered name of the format that a file's suffix asks for.

    Raises:
        RecsysError: no exporter has that suffix; the message lists those that there are.
    """
    suffixes: list[str] = []
    for name in registry.EXPORTERS:
        exporter = registry.load(registry.EXPORTERS, name)
        if path.suffix.lower() in exporter.suffixes:
            return name
        suffixes.extend(exporter.suffixes)
    raise RecsysError(f"cannot tell a format from {path.name!r}", f"use one of: {', '.join(suffixes)}")
