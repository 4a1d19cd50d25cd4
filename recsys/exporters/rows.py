"""The flat form that tables share: one row a neighbour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recsys.cards import CardList

COLUMNS = {
    "query": str,
    "rank": int,
    "id": str,
    "version": int,
    "title": str,
    "snippet": str,
    "score": float,
    "published": str,
    "subject": str,
    "categories": str,
    "url": str,
    "folds": str,
}
"""Column name -> type, in order. `version` may be missing; categories are separated by spaces, folds by semicolons."""


def rows(shown: CardList) -> Iterator[dict[str, Any]]:
    """The rows of one list; `query` is the paper's id, or the text of a search."""
    query = shown.query.get("id", shown.query.get("text"))
    for item in shown:
        values = (query, item.rank, item.id, item.version, item.title, item.snippet, item.score, item.published)
        folds = "; ".join(f"{folded.id} ({folded.reason})" for folded in item.folds)
        yield dict(zip(COLUMNS, (*values, item.subject, " ".join(item.categories), item.url, folds), strict=True))
