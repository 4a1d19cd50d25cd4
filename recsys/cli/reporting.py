"""How commands that write say what they did."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from recsys.text.terminal import printable

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def report(done: DataclassInstance, as_json: bool, **more: Any) -> None:  # noqa: ANN401 - JSON values
    """Print a report: its own words a line each, or its fields (and `more`) as JSON."""
    if as_json:
        typer.echo(json.dumps({"schema_version": 1, **asdict(done), **more}, ensure_ascii=False))
        return
    for line in str(done).splitlines():
        typer.echo(printable(line))
