"""`recsys export ...`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recsys.cli import options
from recsys.cli.reporting import report
from recsys.config import DEFAULT_INDEX
from recsys.library import SHOWN

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Write everything that was built to files.")


@app.callback()
def export() -> None:
    """Write everything that was built to files."""


@app.command()
def related(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="A .jsonl, .csv, .parquet, .json, .md or .txt file.")
    ],
    k: options.Count = SHOWN,
    index: options.Index = DEFAULT_INDEX,
    json: options.Json = False,
) -> None:
    """Every paper's related list, by paper id; the file is replaced only when all of it is written."""
    from recsys.batch import export as run

    report(run(index, output, k=k), json)
