"""Where the index is: flag, environment, default. Only doors read this module."""

from __future__ import annotations

import os
from pathlib import Path

DEFAULT_INDEX = Path("indexes/default")
INDEX_VARIABLE = "RECSYS_INDEX"


def index_path(given: Path | None = None) -> Path:
    """The index folder: `given`, else `$RECSYS_INDEX`, else `indexes/default` below the working directory."""
    if given is not None:
        return given
    named = os.environ.get(INDEX_VARIABLE, "")
    return Path(named) if named else DEFAULT_INDEX
