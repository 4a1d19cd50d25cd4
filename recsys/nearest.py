"""Search now: the nearest papers to a vector, where no stored list answers.

Exact builds are answered from the vector shards, a shard in memory at a time; approximate ones from their search file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from recsys import registry
from recsys.encoders.base import Fingerprint
from recsys.encoders.process import encode_apart
from recsys.files import verified
from recsys.neighbors import canonical_scores
from recsys.paper import Paper
from recsys.related import Neighbor
from recsys.store.built import Build, Built, Shard
from recsys.text.tex import embedding_text
from recsys.vectors import read_shard

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Nearest:
    """Searches one build of an index.

    Args:
        folder: the index folder.
        built: what was built there.
        build: the build to search.
    """

    def __init__(self, folder: Path, built: Built, build: Build) -> None:
        self._folder = folder
        self._built = built
        self._build = build

    def of_paper(self, paper: Paper, k: int) -> list[Neighbor]:
        """The k nearest to a paper's text, itself among them; encoded now where it has no vector yet."""
        place = self._built.vector_place(self._build.fingerprint, paper.text_hash)
        if place is None:
            made_by = self._fingerprint()
            text = embedding_text(paper.title, paper.abstract, made_by.separator)
            return self._search(encode_apart(text, made_by, query=False), k)
        sha256, rows, dim, position = place
        return self._search(read_shard(self._folder / "vectors", sha256, rows=rows, dim=dim)[position], k)

    def of_text(self, text: str, k: int) -> list[Neighbor]:
        """The k nearest to a query text."""
        return self._search(encode_apart(text, self._fingerprint(), query=True), k)

    def _fingerprint(self) -> Fingerprint:
        stored = self._built.fingerprint()
        assert stored is not None, "a build has a fingerprint"
        return Fingerprint.from_json(stored)

    def _search(self, vector: npt.NDArray[np.float32], k: int) -> list[Neighbor]:
        if self._build.search_file:
            return self._search_file(vector, k)
        return self._search_shards(vector, k)

    def _search_file(self, vector: npt.NDArray[np.float32], k: int) -> list[Neighbor]:
        """The build's approximate index knows papers by their row."""
        path = verified(self._folder / "search", self._build.search_file, ".faiss", "recsys index")
        found = registry.load(registry.SEARCH, self._build.kind).load(path).search(vector[None], k)
        hits = zip(found.ids[0].tolist(), found.scores[0].tolist(), strict=True)
        return [(row, score) for row, score in hits if row >= 0]

    def _search_shards(self, vector: npt.NDArray[np.float32], k: int) -> list[Neighbor]:
        """Exact: every vector is scored, and whatever ties with the k-th goes by paper id."""
        import numpy as np

        shards = self._built.shards(self._build.fingerprint)
        scores = [canonical_scores(self._read(shard), vector) for shard in shards]
        together = np.concatenate([*scores, np.empty(0, dtype=np.float32)])
        least = np.partition(together, -k)[-k] if k < len(together) else -np.inf
        papers = [
            (-score, paper_id, row)
            for shard, found in zip(shards, scores, strict=True)
            for position, score in _at_least(found, least)
            for row, paper_id in self._built.rows_of(shard.shard, position)
        ]
        return [(row, -negative) for negative, _, row in sorted(papers)[:k]]

    def _read(self, shard: Shard) -> npt.NDArray[np.float32]:
        return read_shard(self._folder / "vectors", shard.sha256, rows=shard.rows, dim=shard.dim)


def _at_least(scores: npt.NDArray[np.float32], least: float) -> Iterator[tuple[int, float]]:
    """(position, score) of the scores that are no less."""
    positions = (scores >= least).nonzero()[0]
    return zip(positions.tolist(), scores[positions].tolist(), strict=True)
