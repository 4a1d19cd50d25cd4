"""Ids that a command was given."""

from __future__ import annotations

import sys
from collections.abc import Iterator


def read_ids(arguments: list[str]) -> Iterator[str]:
    """The ids asked for; `-` stands for stdin, one id a line, `#` begins a comment."""
    for argument in arguments:
        if argument != "-":
            yield argument
            continue
        for line in sys.stdin.buffer:
            wanted = line.decode("utf-8", "replace").partition("#")[0].strip()
            if wanted:
                yield wanted
