"""A progress bar on stderr, where stderr is a terminal; else nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from recsys.pipeline.progress import Progress, Silent


@contextmanager
def shown() -> Iterator[Progress]:
    """A listener for long work, that draws only on a terminal."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield Silent()
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """One line a stage: count, rate and the time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._progress.start()

    def start(self, what: str, total: int | None) -> None:
        """Draw a new line."""
        self._task = self._progress.add_task(what, total=total)

    def advance(self, steps: int) -> None:
        """Move the newest line on."""
        self._progress.advance(self._task, steps)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._progress.stop()
