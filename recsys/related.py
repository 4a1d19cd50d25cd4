"""Related lists: stored neighbours turned into the cards that are shown.

What is filtered here holds whatever happened since the build: never the paper itself, a paper withdrawn or removed
since, or a second copy of a text that is already in the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

from recsys.cards import Cards, PrintedCard, RelatedList, SearchResults
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
    return RelatedList(_distinct(cards, neighbors, k, [own], folded), note, own)


def search_results(
    cards: StoredCards, text: str, neighbors: Sequence[Neighbor], k: int, *, folded: bool = False
) -> SearchResults:
    """The `k` best cards among the neighbours of a text; arguments are those of `related_list`."""
    return SearchResults(_distinct(cards, neighbors, k, [], folded), "", text)


def led_by(named: PrintedCard, shown: RelatedList, text: str, k: int) -> SearchResults:
    """The paper that a text names, then what is related to it: `k` cards in all."""
    rest = shown.related
    return SearchResults(Cards([named, *rest.printed[: k - 1]], [1.0, *rest.scores[: k - 1]]), shown.note, text)


def _distinct(
    cards: StoredCards, neighbors: Sequence[Neighbor], k: int, seen: Iterable[PrintedCard], folded: bool
) -> Cards:
    """The first k recommendable papers, none of them in `seen`; of distinct text unless copies are wanted."""
    told_apart_by = attrgetter("paper_id" if folded else "text_hash")
    found = set(map(told_apart_by, seen))
    printed, scores = list[PrintedCard](), list[float]()
    for start in range(0, len(neighbors), k):
        some = neighbors[start : start + k]
        for card, (_, score) in zip(cards.at([row for row, _ in some]), some, strict=True):
            if card is None or (text := told_apart_by(card)) in found:
                continue
            if len(printed) == k:
                return Cards(printed, scores)
            found.add(text)
            printed.append(card.folding(()) if folded else card)
            scores.append(score)
    return Cards(printed, scores)
