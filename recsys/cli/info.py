"""`recsys info`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from json import dumps
from typing import TYPE_CHECKING, Annotated

import typer

from recsys.cli import options
from recsys.config import DEFAULT_INDEX
from recsys.library import Library
from recsys.text.terminal import printable

if TYPE_CHECKING:
    from recsys.info import IndexInfo


def info(
    index: options.Index = DEFAULT_INDEX,
    rejects: Annotated[bool, typer.Option("--rejects", help="List the records refused at ingest, and why.")] = False,
    json: options.Json = False,
) -> None:
    """What is in the index, how it was made, and whether it is up to date."""
    with Library(index) as library:
        if rejects:
            for record in library.rejects():
                line = f"{record.file}:{record.line}: {record.reason}: {record.excerpt}"
                typer.echo(dumps(asdict(record), ensure_ascii=False) if json else printable(line))
            return
        found = library.info()
    if json:
        typer.echo(dumps(found.to_dict(), ensure_ascii=False))
    else:
        for line in _lines(found):
            typer.echo(printable(line))


def _lines(found: IndexInfo) -> Iterator[str]:
    yield f"index     {found.path}"
    yield (
        f"papers    {found.papers:,} ({found.recommendable:,} recommendable, {found.withdrawn:,} withdrawn,"
        f" {found.without_abstract:,} without abstract); {found.rejects:,} records rejected"
    )
    if found.encoder:
        length, digest = found.fingerprint["max_length"], found.fingerprint["weights"][:12]
        yield f"vectors   {found.vectors:,} texts by {found.encoder}, {length} tokens, weights {digest}"
    if found.built:
        recall = f" (recall@20 {found.recall:.3f})" if found.recall < 1 else ""
        yield (
            f"lists     {found.listed:,} papers, {found.k} neighbours each, {found.kind} search{recall},"
            f" built {found.built}"
        )
    yield "state     " + ("stale: run `recsys update`" if found.stale else "up to date")
