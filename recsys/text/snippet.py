"""The start of an abstract, cut where a reader would cut it."""

from __future__ import annotations

import re

LIMIT = 240
"""Characters of a snippet before its ellipsis."""

_AHEAD = 300
_WHOLE = re.compile(
    r"""\$\$.*?\$\$ | \$(?:[^$\\]|\\.)+\$          # mathematics
      | \\\(.*?\\\) | \\\[.*?\\\]
      | \\[a-zA-Z]+\*?\s?\{ | \{                                # an argument or a group: the brace is matched below
      | \\[a-zA-Z]+ | \\["'`^~=.]\s?\\?[a-zA-Z]? | \\.          # a command, an accent, an escape
      | &\#?\w{1,30};""",
    re.VERBOSE | re.DOTALL,
)
_TRAILING = re.compile(r"(?:(?<!\\)[ ,;:(\[{\-\u2013\u2014])+$")


def snippet(abstract: str, limit: int = LIMIT) -> str:
    r"""At most `limit` characters from the start of an abstract, then "…" if anything was cut.

    The cut is at a word, never inside `$...$`, a TeX command with its argument, an accent, an escape or an HTML entity.
    Where that would leave nothing (the abstract begins with a formula or word longer than `limit`), characters are cut.
    """
    text = " ".join(abstract[: 4 * limit + _AHEAD].split())
    if len(text) <= limit:
        return text
    end = _last_break(text, limit)
    kept = _TRAILING.sub("", text[:end])
    return f"{kept or text[:limit].rstrip()}…"


def _last_break(text: str, limit: int) -> int:
    """The last place up to `limit` where a word has ended and nothing is open that belongs together; 0 if none."""
    last = place = 0
    while place <= limit:
        whole = _WHOLE.search(text, place, limit + _AHEAD)
        start = whole.start() if whole else limit + 1
        last = max(last, text.rfind(" ", place, min(start, limit + 1)))
        place = _end_of(text, whole, limit + _AHEAD) if whole else limit + 1
    return last


def _end_of(text: str, whole: re.Match[str], until: int) -> int:
    """Where what begins there ends; a brace that is never closed is a character like any other."""
    if not whole[0].endswith("{"):
        return whole.end()
    depth = 0
    for place in range(whole.end() - 1, min(until, len(text))):
        escaped = text[place - 1] == "\\"
        depth += (text[place] == "{") - (text[place] == "}") if not escaped else 0
        if not depth:
            return place + 1
    return whole.end()
