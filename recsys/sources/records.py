"""A loose record of any source -> a `Paper`, or the reason why not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any

from recsys import arxiv_id, taxonomy
from recsys.errors import InvalidArxivId
from recsys.paper import Paper
from recsys.sources.authors import names
from recsys.sources.base import Reject
from recsys.sources.withdrawal import says_withdrawn
from recsys.text.clean import clean_abstract, clean_text, clean_title

_ALIASES = {
    "paper_id": ("id", "arxiv_id", "paper_id", "arxiv", "identifier", "entry_id", "_id", "url", "abs_url", "link"),
    "version": ("version", "latest_version", "v"),
    "title": ("title", "name"),
    "abstract": ("abstract", "summary", "description"),
    "authors": ("authors", "author", "creators", "creator", "authors_parsed"),
    "categories": ("categories", "category", "primary_category", "subjects", "terms", "tags"),
    "published": ("published", "created", "submitted", "date", "publication_date", "announced", "published_date"),
    "updated": ("updated", "update_date", "modified", "updated_date", "datestamp"),
    "comments": ("comments", "comment"),
    "doi": ("doi",),
    "journal_ref": ("journal_ref", "journal_reference", "journal"),
}
_FIELD_OF = {name: field for field, names_ in _ALIASES.items() for name in names_}
_SQUASHED = {name.replace("_", ""): name for name in reversed(_FIELD_OF)}
"""`arxivid` -> `arxiv_id`: what is left of `arxivId`; the first of two that squash alike."""
_RANK_OF = {name: place for names_ in _ALIASES.values() for place, name in enumerate(names_)}
_ISO = re.compile(r"\s*([0-9]{4})(?:[-/]([0-9]{1,2})(?:[-/]([0-9]{1,2}))?)?(?![0-9])")
_VERSION = re.compile(r"v?([1-9][0-9]{0,3})", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;]+")
_COMMENTS_LIMIT = 5_000
_EXCERPT = 200
_KEY_LIMIT = 60
_CATEGORIES_LIMIT = 300
"""The longest real list of categories has about 100 characters; limits keep caches small whatever a file holds."""
_FIRST_YEAR = 1986
"""arXiv began in 1991; a few records carry dates of the texts that were put there later."""


def field_of(name: str) -> tuple[str, int] | None:
    """The field that a key or column name means, and how far down its list of names it is; None if it means none."""
    if name not in _FIELD_OF:
        name = name[:_KEY_LIMIT].strip().lower().replace("-", "_").replace(" ", "_").rpartition(":")[2]
        name = name if name in _FIELD_OF else _SQUASHED.get(name, name)
    return (_FIELD_OF[name], _RANK_OF[name]) if name in _FIELD_OF else None


def normalise(record: Mapping[str, Any]) -> dict[str, Any]:
    """Field -> value, whatever spelling the keys have; of two filled keys for one field the more usual wins."""
    fields: dict[str, Any] = {}
    for field, name in _fields_of(tuple(record)):
        value = record[name]
        if value is not None and value != "" and value != []:
            fields[field] = value
    return fields


@lru_cache(maxsize=64)
def _fields_of(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(field, key) for the keys that mean something, the more usual later; records of one file have the same keys."""
    found = [(found[1], found[0], name) for name in names if (found := field_of(name))]
    return tuple((field, name) for _, field, name in sorted(found, reverse=True))


def paper_or_reject(
    fields: Mapping[str, Any], source: str, rank: int, line: int, raw: str | bytes = "", *, withdrawn: bool = False
) -> Paper | Reject:
    """Make the paper that the fields describe.

    Args:
        fields: field name -> raw value of any type; see `normalise`.
        source: the reader's name.
        rank: the reader's rank.
        line: where the record is.
        raw: the record as it came, for the excerpt of a reject.
        withdrawn: whether the source's own flags say so; else comments and abstract are read.
    """
    try:
        return _paper(fields, source, rank, withdrawn)
    except InvalidArxivId as error:
        hint = f" ({error.hint})" if error.hint else ""
        return reject(line, f"{error.message}{hint}", raw)
    except ValueError as error:
        return reject(line, str(error), raw)


def reject(line: int, reason: str, raw: str | bytes) -> Reject:
    """A reject with an escaped excerpt of at most 200 characters."""
    text = raw[: 2 * _EXCERPT].decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    return Reject(line, reason, ascii(text[:_EXCERPT])[1:-1])


def _paper(fields: Mapping[str, Any], source: str, rank: int, withdrawn: bool) -> Paper:
    identifier = _identifier(fields.get("paper_id"))
    title = clean_title(_text(fields.get("title"), "title"))
    if not title:
        raise ValueError("no title")
    abstract = clean_abstract(_text(fields.get("abstract"), "abstract"))
    comments = _line(fields.get("comments"))
    return Paper(
        identifier.paper_id,
        version_number(fields.get("version")) or identifier.version,
        title,
        abstract,
        names(fields.get("authors")),
        categories(fields.get("categories")),
        iso_date(fields.get("published")),
        iso_date(fields.get("updated")),
        comments,
        _line(fields.get("doi")),
        _line(fields.get("journal_ref")),
        withdrawn or says_withdrawn(comments, abstract),
        source,
        rank,
    )


def _identifier(value: object) -> arxiv_id.ArxivId:
    if value is None:
        raise ValueError("no id")
    if not isinstance(value, str):
        kind = type(value).__name__
        raise ValueError(
            f"the id is a {kind}, not text: {str(value)[:40]!r}; read ids as text, zeros are lost otherwise"
        )
    return arxiv_id.parse(value)


def _text(value: object, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"the {name} is a {type(value).__name__}, not text")


def _line(value: object) -> str:
    """A side field on one line; of another type than text, it is left out."""
    return clean_text(value, limit=_COMMENTS_LIMIT).replace("\n", " ") if isinstance(value, str) else ""


def version_number(value: object) -> int:
    """`2`, `2.0`, `"2"` or `"v2"` as 2; anything else as 0."""
    if value is None:
        return 0
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    found = _VERSION.fullmatch(str(value).strip()) if isinstance(value, int | str) else None
    return int(found[1]) if found else 0


def categories(value: object) -> tuple[str, ...]:
    """Canonical categories of a list, or of a string with spaces, commas or semicolons; primary first."""
    if isinstance(value, str):
        return _canonical((value[:_CATEGORIES_LIMIT],))
    if not isinstance(value, list | tuple):
        return ()
    return _canonical(tuple([item[:_CATEGORIES_LIMIT] for item in value[:50] if isinstance(item, str)]))


@lru_cache(maxsize=1 << 13)
def _canonical(written: tuple[str, ...]) -> tuple[str, ...]:
    return taxonomy.normalize(token for item in written for token in _BETWEEN.split(item))


def iso_date(value: object) -> str:
    """`YYYY-MM-DD`, `YYYY-MM` or `YYYY` of an ISO or RFC 2822 date; empty where it is no date that can be."""
    if isinstance(value, str):
        return _iso_date(value[:60])
    return _iso_date(value.isoformat()) if isinstance(value, date) else ""


@lru_cache(maxsize=1 << 15)
def _iso_date(value: str) -> str:
    found = _ISO.match(value)
    if not found:
        return _rfc_date(value)
    parts = [int(part) for part in found.groups() if part]
    try:
        date(*[*parts, 1, 1][:3])
    except ValueError:
        return ""
    return "-".join(f"{part:02}" for part in parts) if _FIRST_YEAR <= parts[0] <= date.today().year + 1 else ""


def _rfc_date(value: str) -> str:
    try:
        return iso_date(parsedate_to_datetime(value).date().isoformat())
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def excerpt_of(fields: Iterable[tuple[str, object]]) -> str:
    """A record that is no text, as text for an excerpt."""
    return ", ".join(f"{name}={value}" for name, value in fields)[: 2 * _EXCERPT]
