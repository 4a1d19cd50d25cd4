"""Related lists: stored neighbours turned into the cards that are shown.

What is filtered here holds whatever happened since the build: never the paper itself, a paper withdrawn since,
or a second copy of a text that is already in the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from recsys.cards import Card, RelatedList, SearchResults, card
from recsys.paper import Paper
from recsys.store.corpus import Corpus

Neighbor = tuple[int, float]
"""(row, score) of one hit."""


def related_list(corpus: Corpus, paper: Paper, neighbors: Sequence[Neighbor], k: int, note: str = "") -> RelatedList:
    """The `k` best cards among the neighbours of a paper, in their order; fewer where there are fewer."""
    cards = _cards(_works(corpus, neighbors, seen=[paper]), k)
    return RelatedList(cards, note, paper.paper_id, paper.version or None, paper.title)


def search_results(
    corpus: Corpus, text: str, best: Paper | None, neighbors: Sequence[Neighbor], k: int, note: str = ""
) -> SearchResults:
    """Cards for a text: the paper that it names exactly, if any, with score 1; then the neighbours."""
    first = [(best, 1.0)] if best else []
    rest = _works(corpus, neighbors, seen=[best] if best else [])
    return SearchResults(_cards([*first, *islice(rest, k)], k), note, text)


def _works(corpus: Corpus, neighbors: Sequence[Neighbor], seen: Iterable[Paper]) -> Iterator[tuple[Paper, float]]:
    """Recommendable papers of distinct text, none of them in `seen`."""
    ids = {paper.paper_id for paper in seen}
    texts = {paper.text_hash for paper in seen}
    for row, score in neighbors:
        paper = corpus.paper_at(row)
        if paper is None or not paper.recommendable or paper.paper_id in ids or paper.text_hash in texts:
            continue
        ids.add(paper.paper_id)
        texts.add(paper.text_hash)
        yield paper, score


def _cards(found: Iterable[tuple[Paper, float]], k: int) -> tuple[Card, ...]:
    return tuple(card(paper, rank, score) for rank, (paper, score) in enumerate(islice(found, k), 1))
