"""`recsys related`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from recsys.cards import RelatedList
from recsys.cli import options
from recsys.cli.output import choose, write_lists
from recsys.config import DEFAULT_INDEX
from recsys.errors import PaperNotFound
from recsys.library import SHOWN, Library
from recsys.text.terminal import printable


def related(
    ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="arXiv ids, links or DOIs; `-` reads them from stdin.")
    ],
    k: options.Count = SHOWN,
    index: options.Index = DEFAULT_INDEX,
    format: options.Format = None,
    json: options.Json = False,
    output: options.Output = None,
    plain: options.Plain = False,
) -> None:
    """The papers nearest to a paper, best first."""
    several = len(ids) > 1 or ids == ["-"]
    exporter = choose(format, output, json=json, plain=plain, several=several)
    failures: list[PaperNotFound] = []
    with Library(index) as library:
        lists = _lists(library, ids, k, failures) if several else [library.related(ids[0], k)]
        write_lists(map(_noted, lists), exporter, output)
    if failures:
        raise typer.Exit(PaperNotFound.exit_code)


def _lists(library: Library, ids: list[str], k: int, failures: list[PaperNotFound]) -> Iterator[RelatedList]:
    """The lists of many ids in input order; an id without one is named on stderr and the rest go on."""
    for answer in library.related_many(_ids(ids), k):
        if isinstance(answer, RelatedList):
            yield answer
        else:
            failures.append(answer)
            hint = f" [{answer.hint}]" if answer.hint else ""
            typer.echo(printable(f"recsys: {answer.message}{hint}"), err=True)


def _ids(arguments: list[str]) -> Iterator[str]:
    """The ids asked for; `-` stands for stdin, one id a line, `#` begins a comment."""
    for argument in arguments:
        if argument != "-":
            yield argument
            continue
        for line in sys.stdin.buffer:
            wanted = line.decode("utf-8", "replace").partition("#")[0].strip()
            if wanted:
                yield wanted


def _noted(shown: RelatedList) -> RelatedList:
    """Pass a list on, its note said on stderr."""
    if shown.note:
        typer.echo(f"recsys: {shown.query_id}: {shown.note}", err=True)
    return shown
