"""Keys of a paper that its copies are found by, each a number that SQLite can index at little cost."""

from __future__ import annotations

import re
from hashlib import blake2b

START = 200
"""Letters of the abstract that copies of a paper have in common, as a first sieve."""

_NOT_LETTER = re.compile(r"[\W_]+")
_TELLING = re.compile(
    r"duplicat|super[sc]ede|replace(?:d by|ment)|merged into|text overlap with"
    r"|version (?:of|from)|appears as|same (?:paper|article)",
    re.I,
)


def title_letters(title: str) -> str:
    """Letters and digits of a title in lower case: equal for titles that differ in spacing, case or punctuation."""
    return _NOT_LETTER.sub("", title.lower())


def title_key(title: str) -> int:
    """64 bits (BLAKE2b) of a title's letters."""
    return _hash(title_letters(title))


def start_key(abstract: str) -> int:
    """64 bits (BLAKE2b) of an abstract's first 200 characters; 0 where it is shorter."""
    return _hash(abstract[:START]) if len(abstract) >= START else 0


def speaks_of_a_copy(comments: str) -> bool:
    """Whether comments may say that another record is the same work."""
    return bool(comments and _TELLING.search(comments))


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), signed=True)
