"""Sentences of an abstract."""

from __future__ import annotations

import re

_END = re.compile(
    r"""[.!?\u2026]+["'\u201d\u2019)\]]*\s+(?=["'\u201c\u2018(\[]?[A-Z0-9$\\\u00c0-\u024f\u0370-\u04ff])"""
)
_MATHS = re.compile(r"\$\$.{1,2000}?\$\$|\$(?:[^$\\]|\\.){1,1000}\$|\\\(.{1,1000}?\\\)|\\\[.{1,2000}?\\\]", re.DOTALL)
_ABBREVIATION = re.compile(
    r"""(?:^|[\s(\[~"'])(?:
      e\.?g|i\.?e|et\ al|al|cf|vs|viz|resp|approx|ca|etc|incl|w\.?r\.?t|a\.?k\.?a|i\.?i\.?d|
      figs?|eqs?|refs?|secs?|tabs?|thms?|chaps?|props?|no|nos|vol|pp?|ch|
      dr|mr|mrs|ms|prof|st|jr|sr|inc|ltd|univ|dept|
      phys|rev|lett|math|proc|int|j|astron|astrophys|
      [A-Z]|[A-Z]\.[A-Z]
    )\.$""",
    re.IGNORECASE | re.VERBOSE,
)
_ENDS_ANYWAY = re.compile(r"(?:\betc|\bal|[a-z] [A-Z])\.$")
_OPENERS = (
    "We ",
    "This ",
    "The ",
    "In ",
    "Our ",
    "These ",
    "Here ",
    "It ",
    "To ",
    "Then ",
    "However",
    "Moreover",
    "Furthermore",
    "Finally",
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order; joined by spaces they give the text again, its white space made single spaces.

    A paragraph break ends a sentence. A full stop after an abbreviation, an initial or inside mathematics does not.
    """
    return [sentence for paragraph in text.split("\n") for sentence in _split(" ".join(paragraph.split()))]


def _split(paragraph: str) -> list[str]:
    maths = [found.span() for found in _MATHS.finditer(paragraph)]
    found: list[str] = []
    start = 0
    for end in _END.finditer(paragraph):
        inside = any(first < end.start() < last - 1 for first, last in maths)
        if not inside and not _is_abbreviation(paragraph[start : end.end()].rstrip(), paragraph[end.end() :]):
            found.append(paragraph[start : end.end()].rstrip())
            start = end.end()
    return [*found, paragraph[start:]] if paragraph[start:] else found


def _is_abbreviation(sentence: str, following: str) -> bool:
    """Whether the stop is an abbreviation's; "al.", "etc." and a symbol may also end a sentence."""
    if not _ABBREVIATION.search(sentence[-20:]):
        return False
    return not (_ENDS_ANYWAY.search(sentence) and following.startswith(_OPENERS))
