"""Where lists go: stdout or a file, in the format that was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import typer

from recsys import registry
from recsys.cards import CardList
from recsys.exporters.base import Exporter, format_of
from recsys.files import replacing


def write_lists(lists: Iterable[CardList], exporter: Exporter, output: Path | None) -> None:
    """Write to `output`, replacing it only when all went well; to stdout where it is None or `-`."""
    if output is not None and str(output) != "-":
        with replacing(output) as stream:
            exporter.write(lists, stream)
        return
    if exporter.binary and sys.stdout.isatty():
        raise typer.BadParameter("this format is binary: name a file with -o", param_hint="--format")
    sys.stdout.flush()
    exporter.write(lists, sys.stdout.buffer)


def choose(
    format: str | None,
    output: Path | None,
    *,
    json: bool,
    plain: bool = False,
    several: bool = False,
) -> Exporter:
    """The exporter of `--json`, `--format`, the output's suffix, or plain text, in that order."""
    if format is not None and format not in registry.EXPORTERS:
        raise typer.BadParameter(f"no format {format!r}; one of: {', '.join(registry.EXPORTERS)}")
    by_suffix = format_of(output) if output is not None and output.suffix and not json and format is None else None
    name = "json" if json else format or by_suffix or "text"
    kind = registry.load(registry.EXPORTERS, name)
    if name == "text":
        return kind(plain=plain, colour=_colour(output))  # type: ignore[no-any-return]
    return kind(array=several) if name == "json" else kind()  # type: ignore[no-any-return]


def _colour(output: Path | None) -> bool:
    """Colour only on a terminal, and never where `NO_COLOR` or a dumb terminal asks for none."""
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return output is None and sys.stdout.isatty() and not refused
