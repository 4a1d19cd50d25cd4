"""The Typer application: one file a command, each error one clear line and its exit code."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from recsys.cli import demo, doctor, embed, export, index, info, ingest, related, remove, search, update
from recsys.cli.options import wants_json
from recsys.cli.reporting import say
from recsys.cli.warnings import show_warnings
from recsys.errors import RecsysError, refused


class Commands(TyperGroup):
    """Turns the errors that users can mend into one line on stderr and an exit code; bugs keep their traceback."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's context and result are untyped here
        """Run a command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except RecsysError as error:
            raise _failed(error, wants_json(ctx)) from error
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit from None
        except OSError as error:
            raise _failed(refused(error), wants_json(ctx)) from error
        return result


def _failed(error: RecsysError, as_json: bool) -> typer.Exit:
    """Say what went wrong on stderr; the exit that follows from it."""
    say(error, as_json)
    return typer.Exit(error.exit_code)


app = typer.Typer(
    name="recsys",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (ingest, embed, index, update, remove, related, search, info, doctor, demo):
    app.command()(getattr(command, command.__name__.rpartition(".")[2]))
app.add_typer(export.app, name="export")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"recsys {version('recsys-arxiv')}")
        raise typer.Exit


@app.callback()
def recsys(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """A local, embedding-based related-papers recommender for arXiv.

    First `recsys ingest FILE...`, then `recsys update`, then `recsys related ID`. Or try `recsys demo`.
    """
    show_warnings()


def main() -> None:
    """The console script."""
    app(prog_name="recsys")
