"""The flat form that tables share: one row a neighbour."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from recsys.cards import CardList, PrintedCard

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


_REMEMBERED = 1 << 15
"""Papers whose cells are kept, about 2 kB each: a paper is in some twenty lists."""


def rows(shown: CardList) -> Iterator[dict[str, Any]]:
    """The rows of one list; `query` is the paper's id, or the text of a search."""
    query = shown.query.get("id", shown.query.get("text"))
    cards = zip(shown.related.printed, shown.related.scores, strict=True)
    for rank, (printed, score) in enumerate(cards, start=1):
        before, after = _cells(printed)
        yield dict(zip(COLUMNS, (query, rank, *before, round(score, 6), *after), strict=True))


@lru_cache(_REMEMBERED)
def _cells(printed: PrintedCard) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What a paper's row holds before and after the score."""
    card = printed.card(1, 1.0)
    folds = "; ".join(f"{folded.id} ({folded.reason})" for folded in card.folds)
    before = (card.id, card.version, card.title, card.snippet)
    return before, (card.published, card.subject, " ".join(card.categories), card.url, folds)
