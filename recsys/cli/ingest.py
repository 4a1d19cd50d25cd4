"""`recsys ingest`."""

from __future__ import annotations

from typing import Annotated

import typer

from recsys import registry
from recsys.cli import options
from recsys.cli.progress import shown
from recsys.cli.reporting import report
from recsys.config import DEFAULT_INDEX
from recsys.text.terminal import printable


def _columns(pairs: list[str]) -> dict[str, str]:
    """`title=Name` pairs as field -> column."""
    for pair in pairs:
        if "=" not in pair:
            raise typer.BadParameter(f"{pair!r} is not FIELD=COLUMN", param_hint="--column")
    return dict(pair.split("=", 1) for pair in pairs)


def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders, globs; `-` is stdin.")],
    index: options.Index = DEFAULT_INDEX,
    format: Annotated[str, typer.Option("--format", help=f"auto, {', '.join(registry.SOURCES)}.")] = "auto",
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="FIELD=COLUMN", help="Tables: which column a field is in; repeatable."),
    ] = None,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Read arXiv metadata into the index: JSONL, Kaggle, OAI-PMH, Atom, RSS, CSV, Parquet; compressed or not."""
    from recsys.pipeline.ingest import ingest as run

    with shown() as progress:
        done = run(paths, index, format=format, columns=_columns(column or []), wait=wait, progress=progress)
    report(done, json, read=done.read)
    for line in done.unreadable:
        typer.echo(printable(f"recsys: {line}"), err=True)
    if done.rejected:
        typer.echo(f"why records were rejected: recsys info --rejects --index {index}", err=True)
    if done.unreadable:
        raise typer.Exit(1)
