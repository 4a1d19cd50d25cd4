"""Batch export: every stored list into one file, replaced only when all of it is written."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path

from recsys.errors import Republished
from recsys.exporters.base import exporter_for
from recsys.files import replacing
from recsys.library import SHOWN, Library


@dataclass(frozen=True, slots=True)
class ExportReport:
    """How many `lists` were written, and to which file (`output`)."""

    lists: int
    output: str

    def __str__(self) -> str:
        return f"wrote {self.lists:,} lists to {self.output}"


def export(index: str | Path, output: str | Path, *, k: int = SHOWN) -> ExportReport:
    """Write the related list of every paper, by paper id; the same build gives the same bytes.

    Args:
        index: the index folder.
        output: the file; its suffix names the format (see `registry.EXPORTERS`).
        k: papers a list.

    Raises:
        IndexMissing: no index there.
        IndexStale: nothing was indexed yet.
        MissingExtra: the format needs a library that is not installed.
    """
    path = Path(output)
    exporter = exporter_for(path)
    while True:
        written = count()
        try:
            with Library(index) as library, replacing(path) as stream:
                exporter.write((shown for shown, _ in zip(library.lists(k), written, strict=False)), stream)
        except Republished:
            continue
        return ExportReport(next(written), str(path))
