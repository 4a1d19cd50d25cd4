"""How commands that write say what they did."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from recsys.errors import RecsysError
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


def say(error: RecsysError, as_json: bool) -> None:
    """One line on stderr: what is wrong, then what to do next; or the same as JSON."""
    hint = f" [{error.hint}]" if error.hint else ""
    line = json.dumps({"error": error.to_dict()}) if as_json else printable(f"recsys: {error.message}{hint}")
    typer.echo(line, err=True)
