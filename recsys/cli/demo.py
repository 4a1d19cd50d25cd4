"""`recsys demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recsys.cli import options
from recsys.cli.output import choose, write_lists
from recsys.cli.progress import shown
from recsys.cli.reporting import report
from recsys.library import Library


def demo(
    index: Annotated[Path, typer.Option("--index", metavar="DIR", help="Folder for the demo's index.")] = Path(
        "indexes/demo"
    ),
    encoder: options.Encoder = "",
    device: options.Device = "auto",
) -> None:
    """Ingest the invented sample corpus, embed it, index it, and print one related list."""
    from recsys.pipeline.ingest import ingest
    from recsys.pipeline.update import update
    from recsys.sample import EXAMPLE, papers_file

    with shown() as progress:
        report(ingest([papers_file()], index, progress=progress), as_json=False)
        report(update(index, encoder=encoder, device=device, progress=progress), as_json=False)
    typer.echo()
    with Library(index) as library:
        write_lists([library.related(EXAMPLE)], choose(None, None, json=False), None)
