"""The command line: words in, one library call, words out. The only part of recsys that prints."""

from __future__ import annotations

from recsys.cli.app import app, main

__all__ = ["app", "main"]
