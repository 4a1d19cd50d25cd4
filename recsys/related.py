"""Related lists: stored neighbours turned into the cards that are shown.

What is filtered here holds whatever happened since the build: never the paper itself, a paper withdrawn or removed
since, or a second copy of a text that is already in the list.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from recsys.cards import Cards, PrintedCard, RelatedList, SearchResults
from recsys.store.built import Neighbors
from recsys.store.cards import StoredCards


def related_list(
    cards: StoredCards, own: PrintedCard, neighbors: Neighbors, k: int, note: str = "", *, folded: bool = False
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
    cards: StoredCards, text: str, neighbors: Neighbors, k: int, *, folded: bool = False
) -> SearchResults:
    """The `k` best cards among the neighbours of a text; arguments are those of `related_list`."""
    return SearchResults(_distinct(cards, neighbors, k, [], folded), "", text)


def led_by(shown: RelatedList, text: str, k: int) -> SearchResults:
    """The paper that a text names, then what is related to it: `k` cards in all."""
    rest = shown.related
    cards = Cards([shown.asked, *rest.printed[: k - 1]], [1.0, *rest.scores[: k - 1]])
    return SearchResults(cards, shown.note, text)


def _distinct(cards: StoredCards, neighbors: Neighbors, k: int, seen: Iterable[PrintedCard], folded: bool) -> Cards:
    """The first k recommendable papers, none of them in `seen`; of distinct text unless copies are wanted."""
    told_apart_by = attrgetter("paper_id" if folded else "text_hash")
    found = set(map(told_apart_by, seen))
    rows, scores = neighbors
    first = [card for card in cards.at(rows[:k]) if card]
    if not folded and len(found.union(map(told_apart_by, first))) == len(found) + len(rows[:k]):
        return Cards(first, scores[:k])
    shown, shown_scores = list[PrintedCard](), list[float]()
    for start in range(0, len(rows), k):
        for card, score in zip(cards.at(rows[start : start + k]), scores[start : start + k], strict=True):
            if card is None or (text := told_apart_by(card)) in found:
                continue
            if len(shown) == k:
                return Cards(shown, shown_scores)
            found.add(text)
            shown.append(card.folding(()) if folded else card)
            shown_scores.append(score)
    return Cards(shown, shown_scores)
