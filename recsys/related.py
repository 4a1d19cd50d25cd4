"""Related lists: stored neighbours turned into the cards that are shown.

What is filtered here holds whatever happened since the build: never the paper itself, a paper withdrawn or removed
since, or a second copy of a text that is already in the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from recsys.cards import Card, Folded, RelatedList, SearchResults, card
from recsys.paper import Paper
from recsys.store.corpus import Corpus

Neighbor = tuple[int, float]
"""(row, score) of one hit."""


class Hit(NamedTuple):
    """A paper in a list, its row, and its score."""

    row: int
    paper: Paper
    score: float


def related_list(
    corpus: Corpus, paper: Paper, neighbors: Sequence[Neighbor], k: int, note: str = "", *, folded: bool = False
) -> RelatedList:
    """The `k` best cards among the neighbours of a paper, in their order; fewer where there are fewer.

    Args:
        corpus: where the neighbours are.
        paper: whose list it is.
        neighbors: best first; more than `k`, as some are filtered here.
        k: cards wanted.
        note: see `CardList.note`.
        folded: whether copies of a work stand on their own.
    """
    hits = _distinct(corpus, neighbors, k, seen=[paper], folded=folded)
    return RelatedList(_cards(corpus, hits, folded), note, paper.paper_id, paper.version or None, paper.title)


def search_results(
    corpus: Corpus, text: str, neighbors: Sequence[Neighbor], k: int, *, folded: bool = False
) -> SearchResults:
    """The `k` best cards among the neighbours of a text; arguments are those of `related_list`."""
    hits = _distinct(corpus, neighbors, k, seen=[], folded=folded)
    return SearchResults(_cards(corpus, hits, folded), "", text)


def led_by(corpus: Corpus, named: Hit, shown: RelatedList, text: str, k: int) -> SearchResults:
    """The paper that a text names, then what is related to it: `k` cards in all."""
    (first,) = _cards(corpus, [named], folded=False)
    rest = (replace(item, rank=item.rank + 1) for item in shown.related[: k - 1])
    return SearchResults((first, *rest), shown.note, text)


def _distinct(corpus: Corpus, neighbors: Sequence[Neighbor], k: int, seen: Iterable[Paper], folded: bool) -> list[Hit]:
    """The first k recommendable papers, none of them in `seen`; of distinct text unless copies are wanted."""
    return list(islice(_recommendable(corpus, neighbors, k, list(seen), folded), k))


def _recommendable(
    corpus: Corpus, neighbors: Sequence[Neighbor], k: int, seen: list[Paper], folded: bool
) -> Iterator[Hit]:
    ids = {paper.paper_id for paper in seen}
    texts = set() if folded else {paper.text_hash for paper in seen}
    for start in range(0, len(neighbors), max(k, 1)):
        some = neighbors[start : start + max(k, 1)]
        papers = corpus.papers_at(row for row, _ in some)
        for row, score in some:
            paper = papers.get(row)
            if paper is None or not paper.recommendable or paper.paper_id in ids or paper.text_hash in texts:
                continue
            ids.add(paper.paper_id)
            if not folded:
                texts.add(paper.text_hash)
            yield Hit(row, paper, score)


def _cards(corpus: Corpus, hits: Sequence[Hit], folded: bool) -> tuple[Card, ...]:
    folds = {} if folded else corpus.folds_of(hit.row for hit in hits)
    return tuple(
        card(hit.paper, rank, hit.score, tuple(Folded(*fold) for fold in folds.get(hit.row, ())))
        for rank, hit in enumerate(hits, 1)
    )
