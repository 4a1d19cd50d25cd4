"""Author names out of whatever a source gives."""

from __future__ import annotations

import re
from typing import Any

from recsys.text.clean import clean_text

MAX_NAMES = 5_000
MAX_CHARACTERS = 200_000
"""The largest collaborations have about 3,000 authors."""

_SEPARATOR = re.compile(r"\s*[,;]\s*(?:and\s+|&\s*)?|\s+and\s+|\s+&\s+", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv)\.?", re.IGNORECASE)


def names(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever a source holds
    """Names in order, at most 5,000: of a list (of text, `[key name, forenames, suffix]` or objects), or of a string.

    Affiliations in parentheses are dropped; a suffix such as "Jr." stays with its name.
    """
    if isinstance(value, str):
        return _split(value[:MAX_CHARACTERS])
    if not isinstance(value, list | tuple):
        return ()
    if all(type(item) is str for item in value) and _is_clean("|".join(value)):
        return tuple(value[:MAX_NAMES])
    found = (clean_text(_name(item), limit=300).replace("\n", " ") for item in value[:MAX_NAMES])
    return tuple(name for name in found if any(map(str.isalnum, name)))


def _is_clean(joined: str) -> bool:
    """Whether `clean_text` would leave every name as it is: one look, in C, at all of a paper's names."""
    odd = "&" in joined or "<" in joined or "  " in joined or "| " in joined or " |" in joined or "||" in joined
    return joined.isascii() and joined.isprintable() and not odd and joined.strip(" |") == joined != ""


def _name(item: object) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        return _joined(
            item.get("keyname") or item.get("name") or item.get("family"), item.get("forenames") or item.get("given")
        )
    if isinstance(item, list | tuple) and item:
        keyname, forenames, suffix = [*item[:3], "", ""][:3]
        return _joined(keyname, forenames, suffix)
    return ""


def _joined(keyname: object, forenames: object = "", suffix: object = "") -> str:
    return " ".join(part for part in (forenames, keyname, suffix) if isinstance(part, str) and part)


def _split(line: str) -> tuple[str, ...]:
    cleaned = clean_text(_without_parentheses(line), limit=MAX_CHARACTERS).replace("\n", " ")
    found: list[str] = []
    for name in _SEPARATOR.split(cleaned)[:MAX_NAMES]:
        name = name.strip(" .:") if name.strip() in (".", ":") else name.strip()
        if found and _SUFFIX.fullmatch(name):
            found[-1] = f"{found[-1]}, {name}"
        elif name and name.lower() != "et al.":
            found.append(name)
    return tuple(found)


def _without_parentheses(line: str) -> str:
    """Drop what stands in parentheses, nested or never closed."""
    if "(" not in line:
        return line
    kept: list[str] = []
    depth = 0
    for character in line:
        depth += character == "("
        if not depth:
            kept.append(character)
        depth -= character == ")" and depth > 0
    return "".join(kept)
