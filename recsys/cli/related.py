"""`recsys related`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

import typer

from recsys.cards import RelatedList
from recsys.cli import options
from recsys.cli.ids import read_ids
from recsys.cli.output import choose, write_lists
from recsys.cli.reporting import say
from recsys.config import DEFAULT_INDEX
from recsys.errors import PaperNotFound
from recsys.library import SHOWN, Library


def related(
    ids: options.Ids,
    k: options.Count = SHOWN,
    index: options.Index = DEFAULT_INDEX,
    format: options.Format = None,
    json: options.Json = False,
    output: options.Output = None,
    plain: options.Plain = False,
    no_fold: options.NoFold = False,
) -> None:
    """The papers nearest to a paper, best first."""
    several = len(ids) > 1 or ids == ["-"]
    exporter = choose(format, output, json=json, plain=plain, several=several)
    failures: list[PaperNotFound] = []
    with Library(index) as library:
        one = [] if several else [library.related(ids[0], k, fold=not no_fold)]
        groups = read_ids(ids) if several else iter(())
        many = chain.from_iterable(library.related_many(group, k, fold=not no_fold) for group in groups)
        lists = chain(one, _answered(many, failures, json))
        first = list(islice(lists, 1))
        if first or output is None:
            write_lists(map(_noted, chain(first, lists)), exporter, output)
    if failures:
        raise typer.Exit(PaperNotFound.exit_code)


def _answered(
    answers: Iterable[RelatedList | PaperNotFound], failures: list[PaperNotFound], as_json: bool
) -> Iterator[RelatedList]:
    """The lists among the answers; an id without one is named on stderr and the rest go on."""
    for answer in answers:
        if isinstance(answer, RelatedList):
            yield answer
        else:
            failures.append(answer)
            say(answer, as_json)


def _noted(shown: RelatedList) -> RelatedList:
    """Pass a list on, its note said on stderr."""
    if shown.note:
        typer.echo(f"recsys: {shown.query_id}: {shown.note}", err=True)
    return shown
