"""Inputs opened: paths expanded, compression and encoding undone, bombs refused; always a stream, never a whole."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from glob import glob, has_magic
from pathlib import Path

from recsys.errors import UnreadableInput
from recsys.sources.base import HEAD
from recsys.sources.decoding import decoded
from recsys.sources.unpacking import SUFFIXES, is_metadata, plain_name, unpacked


def expand(paths: Iterable[str]) -> list[str]:
    """Every input that the paths name, in their order: `-`, files, the known files below a folder, what a glob matches.

    Raises:
        UnreadableInput: a path that does not exist, a folder or glob with nothing in it, or no path.
    """
    inputs = [found for path in paths for found in _expand(path)]
    if not inputs:
        raise UnreadableInput("nothing to read", "name a file, a folder, a glob, or - for stdin")
    return inputs


def _expand(path: str) -> list[str]:
    try:
        found = _named(path)
    except (OSError, ValueError) as error:
        raise UnreadableInput(f"cannot open {path[:200]}: {getattr(error, 'strerror', None) or error}") from error
    if not found:
        raise UnreadableInput(f"no metadata files in {path}", f"known suffixes: {', '.join(SUFFIXES)}, also compressed")
    return found


def _named(path: str) -> list[str]:
    if not path:
        raise UnreadableInput("an empty path", "check the variable that it came from")
    given = Path(path)
    if path == "-" or given.is_file():
        return [path]
    if given.is_dir():
        return [str(file) for file in sorted(given.rglob("*")) if file.is_file() and is_metadata(file.name)]
    if has_magic(path):
        return sorted(match for match in glob(path, recursive=True) if Path(match).is_file())
    if given.exists():
        return [path]
    raise UnreadableInput(f"no such file: {path}", "check the path")


@contextmanager
def open_stream(path: str) -> Iterator[tuple[io.BufferedReader, str]]:
    """Open one input for reading: decompressed, UTF-8 where it is text.

    Yields:
        A stream whose first 64 KiB can be peeked, and the file's name without a compression suffix (empty for stdin).

    Raises:
        UnreadableInput: it cannot be opened, or reading it shows that it is damaged or a bomb.
        MissingExtra: Zstandard without its library.
    """
    with ExitStack() as stack:
        try:
            raw = sys.stdin.buffer if path == "-" else stack.enter_context(open(path, "rb"))
        except OSError as error:
            raise UnreadableInput(f"cannot open {path}: {error.strerror or error}") from error
        stream = unpacked(raw, stack, path)
        yield decoded(stream, stream.peek(HEAD)), "" if path == "-" else plain_name(Path(path).name)
