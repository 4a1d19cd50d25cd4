"""Where the index is unless it is said. Only doors read this module."""

from __future__ import annotations

from pathlib import Path

DEFAULT_INDEX = Path("indexes/default")
"""Below the working directory."""

INDEX_VARIABLE = "RECSYS_INDEX"
"""The environment variable that names another."""
