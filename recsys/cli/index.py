"""`recsys index`."""

from __future__ import annotations

from recsys.cli import options
from recsys.cli.progress import shown
from recsys.cli.reporting import report
from recsys.config import DEFAULT_INDEX


def index(
    index: options.Index = DEFAULT_INDEX,
    search: options.Kind = "auto",
    keep: options.Kept = 40,
    device: options.Device = "auto",
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Compute every paper's related list from the vectors and publish them at once."""
    from recsys.pipeline.index import index as run

    with shown() as progress:
        done = run(index, kind=search, k=keep, device=device, wait=wait, progress=progress)
    report(done, json)
