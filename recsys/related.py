"""Related lists: stored neighbours turned into the cards that are shown.

What is filtered here holds whatever happened since the build: never the paper itself, a paper withdrawn or removed
since, or a second copy of a text that is already in the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recsys.cards import Cards, Place, PrintedCard, RelatedList, SearchResults
from recsys.store.cards import StoredCards

Neighbor = tuple[int, float]
"""(row, score) of one hit."""


def related_list(
    cards: StoredCards, own: PrintedCard, neighbors: Sequence[Neighbor], k: int, note: str = "", *, folded: bool = False
) -> RelatedList:
    """The `k` best cards among the neighbours of a paper, in their order; fewer where there are fewer.

    Args:
        cards: of the neighbours.
        own: card of the paper whose list it is.
        neighbors: best first; more than `k`, as some are filtered here.
        k: cards wanted.
        note: see `CardList.note`.
        folded: whether copies of a work stand on their own.
    """
    return RelatedList(Cards(_distinct(cards, neighbors, k, [own], folded)), note, own)


def search_results(
    cards: StoredCards, text: str, neighbors: Sequence[Neighbor], k: int, *, folded: bool = False
) -> SearchResults:
    """The `k` best cards among the neighbours of a text; arguments are those of `related_list`."""
    return SearchResults(Cards(_distinct(cards, neighbors, k, [], folded)), "", text)


def led_by(named: PrintedCard, shown: RelatedList, text: str, k: int) -> SearchResults:
    """The paper that a text names, then what is related to it: `k` cards in all."""
    return SearchResults(Cards([Place(named, 1.0), *shown.related.places[: k - 1]]), shown.note, text)


def _distinct(
    cards: StoredCards, neighbors: Sequence[Neighbor], k: int, seen: Iterable[PrintedCard], folded: bool
) -> list[Place]:
    """The first k recommendable papers, none of them in `seen`; of distinct text unless copies are wanted."""
    ids, texts = {card.paper_id for card in seen}, {card.text_hash for card in seen}
    places: list[Place] = []
    for start in range(0, len(neighbors), k):
        some = neighbors[start : start + k]
        for card, (_, score) in zip(cards.at([row for row, _ in some]), some, strict=True):
            if card is None or card.paper_id in ids or (not folded and card.text_hash in texts):
                continue
            if len(places) == k:
                return places
            ids.add(card.paper_id)
            texts.add(card.text_hash)
            places.append(Place(card.folding(()) if folded else card, round(score, 6)))
    return places
