"""`recsys remove`."""

from __future__ import annotations

from itertools import chain

from recsys.cli import options
from recsys.cli.ids import read_ids
from recsys.cli.reporting import report
from recsys.config import DEFAULT_INDEX


def remove(
    ids: options.Ids,
    index: options.Index = DEFAULT_INDEX,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Take papers out of the index: they leave every list at once, the next update fills their places."""
    from recsys.pipeline.remove import remove as run

    report(run(chain.from_iterable(read_ids(ids)), index, wait=wait), json)
