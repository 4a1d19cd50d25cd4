"""`recsys search`."""

from __future__ import annotations

from typing import Annotated

import typer

from recsys.cli import options
from recsys.cli.output import choose, write_lists
from recsys.config import DEFAULT_INDEX
from recsys.library import SHOWN, Library
from recsys.text.terminal import readable


def search(
    text: Annotated[list[str], typer.Argument(metavar="TEXT...", help="What to look for, an id or a title.")],
    k: options.Count = SHOWN,
    index: options.Index = DEFAULT_INDEX,
    format: options.Format = None,
    json: options.Json = False,
    output: options.Output = None,
    plain: options.Plain = False,
    no_fold: options.NoFold = False,
) -> None:
    """The papers nearest to a text; an exact id or title comes first."""
    exporter = choose(format, output, json=json, plain=plain)
    with Library(index) as library:
        found = library.search(" ".join(map(readable, text)), k, fold=not no_fold)
    write_lists([found], exporter, output)
    if found.note:
        typer.echo(f"recsys: {found.note}", err=True)
