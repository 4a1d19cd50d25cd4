"""`recsys doctor`."""

from __future__ import annotations

from json import dumps
from typing import Annotated

import typer

from recsys.cli import options
from recsys.cli.progress import shown
from recsys.config import DEFAULT_INDEX
from recsys.errors import IndexUnusable
from recsys.text.terminal import printable


def doctor(
    index: options.Index = DEFAULT_INDEX,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what is wrong, then examine again.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Look at every row and byte, not at samples.")] = False,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Find what makes answers wrong, missing or old, one finding a line; exit 4 when something is."""
    from recsys.doctor.examination import examine
    from recsys.doctor.repairing import repair as mend

    with shown() as progress:
        found = mend(index, deep=deep, wait=wait, progress=progress) if repair else examine(index, deep=deep)
    if json:
        typer.echo(dumps(found.to_dict(), ensure_ascii=False))
    else:
        for line in str(found).splitlines():
            typer.echo(printable(line))
    if not found.healthy:
        raise typer.Exit(IndexUnusable.exit_code)
