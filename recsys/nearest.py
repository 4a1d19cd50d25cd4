"""Search now: the nearest papers to a vector, where no stored list answers.

Exact builds are answered from the vector shards, a shard in memory at a time; approximate ones from their search file.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from recsys import registry
from recsys.encoders.base import Fingerprint
from recsys.encoders.process import encode_apart
from recsys.errors import IndexDamaged
from recsys.files import verified
from recsys.gathering import read_checked
from recsys.neighbors import canonical_scores
from recsys.paper import Paper
from recsys.store.built import Build, Built, Embedded, Shard
from recsys.text.tex import embedding_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from recsys.search.base import SearchIndex

Neighbor = tuple[int, float]
"""(row, score) of one hit."""

Search = Callable[[int], list[Neighbor]]
"""The nearest to something, as many as asked for, best first, ties by paper id."""

_log = logging.getLogger(__name__)


class Nearest:
    """Searches one build of an index.

    Args:
        folder: the index folder.
        built: what was built there.
        build: the build to search.
        folded: whether papers that are folded into others are found too.
    """

    def __init__(self, folder: Path, built: Built, build: Build, *, folded: bool = False) -> None:
        self._folder = folder
        self._built = built
        self._build = build
        self._folded = folded

    def to_paper(self, paper: Paper, row: int) -> Search:
        """A search for what is near to a paper, itself among it: by the text it has a list of, else by its present one.

        That is encoded now where it has no vector yet.
        """
        text_hash = self._built.listed_text(row) or paper.text_hash
        place = self._built.vector_place(self._build.fingerprint, text_hash)
        if place is None:
            made_by = self._fingerprint()
            text = embedding_text(paper.title, paper.abstract, made_by.separator)
            return partial(self.search, encode_apart(text, made_by, query=False))
        shard, position = place
        return partial(self.search, read_checked(self._folder, self._built, shard)[position])

    def to_text(self, text: str) -> Search:
        """A search for what is near to a query text, which is encoded now."""
        return partial(self.search, encode_apart(text, self._fingerprint(), query=True))

    def _fingerprint(self) -> Fingerprint:
        stored = self._built.build_fingerprint()
        assert stored is not None, "a build has a fingerprint"
        return Fingerprint.from_json(stored)

    def search(self, vector: npt.NDArray[np.float32], k: int) -> list[Neighbor]:
        """The k nearest to a (dim,) vector, best first, ties by paper id.

        From the search file if the build has one; exactly if it has none, or where that is damaged.
        """
        if self._index is not None:
            return self._search_file(self._index, vector, k)
        return self._search_shards(self._built.shards(self._build.fingerprint), vector, k)

    @cached_property
    def _index(self) -> SearchIndex | None:
        """What the build's search file holds; None where it has none, or where that is damaged."""
        if not self._build.search_file:
            return None
        try:
            path = verified(self._folder / "search", self._build.search_file, ".faiss", "recsys index")
            index: SearchIndex = registry.load(registry.SEARCH, self._build.kind).load(path)
        except IndexDamaged as error:
            _log.warning("%s; searching without it (recsys doctor --repair makes it anew)", error.message)
            return None
        return index

    def _search_file(self, index: SearchIndex, vector: npt.NDArray[np.float32], k: int) -> list[Neighbor]:
        """The file knows papers by their row; those that it does not know, or knows by an old vector, are searched."""
        width, inside = k, list[Embedded]()
        while index.size:
            rows = [row for row in index.search(vector[None], width).ids[0].tolist() if row >= 0]
            inside = self._built.searchable(self._build.fingerprint, rows)
            if len(inside) >= k or width >= index.size:
                break
            width = min(4 * width, index.size)
        outside = self._built.unsearchable(self._build.fingerprint)
        folded = self._built.folded(self._build.fingerprint) if self._folded else []
        return self._score([*inside, *outside, *folded], vector)[:k]

    def _score(self, embedded: Sequence[Embedded], vector: npt.NDArray[np.float32]) -> list[Neighbor]:
        """(row, canonical score) of some papers, best first, ties by paper id."""
        by_shard = defaultdict(list)
        for paper in embedded:
            by_shard[paper.shard].append(paper)
        found: list[tuple[float, Embedded]] = []
        for shard in self._built.shards(self._build.fingerprint):
            if papers := by_shard.get(shard.shard):
                scores = canonical_scores(
                    read_checked(self._folder, self._built, shard)[[paper.position for paper in papers]], vector
                )
                found += zip((-scores).tolist(), papers, strict=True)
        found.sort(key=lambda hit: (hit[0], hit[1].paper_id))
        return [(paper.row, -negative) for negative, paper in found]

    def _search_shards(self, shards: Sequence[Shard], vector: npt.NDArray[np.float32], k: int) -> list[Neighbor]:
        """Exact: every vector is scored, and whatever ties with the k-th goes by paper id."""
        import numpy as np

        self._built.check_reachable(self._build)
        scores = {
            shard.shard: canonical_scores(read_checked(self._folder, self._built, shard), vector) for shard in shards
        }
        changed = [
            (-float(scores[paper.shard][paper.position]), paper.paper_id, paper.row)
            for paper in self._built.changed(self._build.fingerprint)
        ]
        together = np.concatenate([*scores.values(), np.empty(0, dtype=np.float32)])
        width = k
        while True:
            least = np.partition(together, -width)[-width] if width < len(together) else -np.inf
            papers = [
                (-score, paper_id, row)
                for shard, found in scores.items()
                for position, score in _at_least(found, least)
                for row, paper_id in self._built.rows_of(shard, position, folded=self._folded)
            ]
            if len(papers) >= k or width >= len(together):
                return [(row, -negative) for negative, _, row in sorted(papers + changed)[:k]]
            width *= 4


def _at_least(scores: npt.NDArray[np.float32], least: float) -> Iterator[tuple[int, float]]:
    """(position, score) of the scores that are no less."""
    positions = (scores >= least).nonzero()[0]
    return zip(positions.tolist(), scores[positions].tolist(), strict=True)
