"""Related lists: stored neighbours turned into the cards that are shown.

What is filtered here holds whatever happened since the build: never the paper itself, a paper withdrawn or removed
since, or a second copy of a text that is already in the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

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
    places = _distinct(cards, neighbors, k, [own], folded)
    about = own.members()
    return RelatedList(Cards(places), note, own.paper_id, about["version"], about["title"])


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
    return list(islice(_recommendable(cards, neighbors, k, list(seen), folded), k))


def _recommendable(
    cards: StoredCards, neighbors: Sequence[Neighbor], k: int, seen: list[PrintedCard], folded: bool
) -> Iterator[Place]:
    ids = {card.paper_id for card in seen}
    texts = set() if folded else {card.text_hash for card in seen}
    for start in range(0, len(neighbors), max(k, 1)):
        some = neighbors[start : start + max(k, 1)]
        for card, (_, score) in zip(cards.at([row for row, _ in some]), some, strict=True):
            if card is None or card.paper_id in ids or card.text_hash in texts:
                continue
            ids.add(card.paper_id)
            if not folded:
                texts.add(card.text_hash)
            yield Place(card._replace(folds=()) if folded and card.folds else card, round(score, 6))
