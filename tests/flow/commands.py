"""Run whole commands, in this process and in a child."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from recsys.cli import app


def run(*arguments: str | Path, stdin: str | None = None) -> Result:
    """A command in this process; stdout and stderr apart."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, prog_name="recsys")


def spawn(*arguments: str | Path, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """A command as users run it: `python -m recsys ...`."""
    return subprocess.run(
        [sys.executable, "-m", "recsys", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )
