"""What the library warns of (`logging`, under `recsys`), as lines on stderr."""

from __future__ import annotations

import logging
import sys

from recsys.text.terminal import printable


class _Lines(logging.Handler):
    """One line a warning, in the form of the errors."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write it; whatever stderr is by now."""
        sys.stderr.write(printable(f"recsys: {record.getMessage()}") + "\n")


def show_warnings() -> None:
    """Let the library's warnings be seen, once each."""
    logger = logging.getLogger("recsys")
    if not any(isinstance(handler, _Lines) for handler in logger.handlers):
        logger.addHandler(_Lines())
        logger.propagate = False
