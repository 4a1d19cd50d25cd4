"""Neighbour lists: candidates from any search, put into one canonical order.

A float32 score depends, in its last bits, on the BLAS, the block and the batch that computed it. So the candidates that
a search finds are scored again in float64, rounded to 6 decimals, and ordered by (score, position). Positions follow
paper ids, so ties go by paper id, and the lists are the same on every machine and for every block size.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from recsys.search.rescore import MARGIN, NEAR, true_scores

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from recsys.search.base import SearchIndex

DECIMALS = 6
"""Digits that a score keeps: float32 dot products of unit vectors agree to about 1e-7."""

EXACT_UP_TO = 300_000
"""Papers up to which `auto` searches exactly."""

_BLOCK = 4096

_SCORES_AT_ONCE = 1 << 24
"""Scores held together: 64 MB."""


class Lists(NamedTuple):
    """Neighbour lists, one a row.

    Attributes:
        positions: (n, k) int64, nearest first, ties by position; -1 beyond a list's end.
        scores: (n, k) float32 canonical cosines; -inf beside a -1.
    """

    positions: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]


class Block(NamedTuple):
    """The lists of consecutive positions.

    Attributes:
        start: the first one's position.
        positions: (b, k) int64, nearest first; -1 where fewer were found, at the end of a row.
        scores: (b, k) float32 cosines; -inf beside a -1.
    """

    start: int
    positions: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]


def default_kind(n: int) -> str:
    """The kind of build for n papers: `flat` to 300,000, then `nndescent` where PyNNDescent is installed, or `hnsw`."""
    if n <= EXACT_UP_TO:
        return "flat"
    return "nndescent" if find_spec("pynndescent") else "hnsw"


def all_neighbors(
    embeddings: npt.NDArray[np.float32],
    k: int,
    index: SearchIndex,
    *,
    ids: npt.NDArray[np.int64] | None = None,
    block: int = 1024,
) -> Iterator[Block]:
    """The k nearest other rows of every row that a search finds, a block at a time, in order.

    Args:
        embeddings: (n, dim) float32 unit rows.
        k: at least 1; lowered to n - 1.
        index: holds the rows of `embeddings` under `ids`.
        ids: (n,) int64, what `index` calls each row; its position where None.
        block: rows searched together.
    """
    import numpy as np

    known = _Known(np.arange(len(embeddings)) if ids is None else ids)
    for start in range(0, len(embeddings), block):
        own = np.arange(start, min(start + block, len(embeddings)))
        yield Block(start, *_lists(embeddings, own, min(k, len(embeddings) - 1), index, known))


def neighbors_of(embeddings: npt.NDArray[np.float32], own: npt.NDArray[np.int64], k: int) -> Lists:
    """The k nearest other rows of some rows, exactly: each is compared with all.

    Args:
        embeddings: (n, dim) float32 unit rows.
        own: (m,) int64 positions of those asked for.
        k: at least 1; the lists are padded to it.
    """
    import numpy as np

    lists, n = empty_lists(len(own), k), len(embeddings)
    width = min(k, n - 1)
    step = max(1, _SCORES_AT_ONCE // max(1, n))
    for start in range(0, len(own) if width else 0, step):
        some = own[start : start + step]
        scores = embeddings[some] @ embeddings.T
        least = np.partition(scores, n - width - 1, axis=1)[:, n - width - 1]  # the row itself is one more
        candidates = _columns(scores >= least[:, None] - np.float32(2 * NEAR))
        best, values = canonical_order(embeddings, some, candidates, width)
        lists.positions[start : start + step, :width], lists.scores[start : start + step, :width] = best, values
    return lists


def _columns(true: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """The columns of what is true, a row each, padded with -1."""
    import numpy as np

    counts = true.sum(axis=1)
    columns = np.full((len(true), counts.max(initial=0)), -1, dtype=np.int64)
    columns[np.arange(columns.shape[1]) < counts[:, None]] = np.flatnonzero(true) % max(1, true.shape[1])
    return columns


def empty_lists(n: int, k: int) -> Lists:
    """N lists of k places, all of them free."""
    import numpy as np

    return Lists(np.full((n, k), -1, dtype=np.int64), np.full((n, k), -np.inf, dtype=np.float32))


def canonical_scores(embeddings: npt.NDArray[np.float32], vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The (n,) canonical score of every row of `embeddings` with one vector."""
    import numpy as np

    scores = np.empty(len(embeddings), dtype=np.float32)
    for start in range(0, len(embeddings), _BLOCK):
        here = slice(start, start + _BLOCK)
        scores[here] = np.round(embeddings[here].astype(np.float64) @ vector.astype(np.float64), DECIMALS)
    return scores


def _lists(
    embeddings: npt.NDArray[np.float32],
    own: npt.NDArray[np.int64],
    k: int,
    index: SearchIndex,
    known: _Known,
) -> Lists:
    """The lists of the rows `own`, out of what a search finds."""
    import numpy as np

    lists = empty_lists(len(own), k)
    if k:
        found = index.search(np.ascontiguousarray(embeddings[own]), k + 1 + MARGIN)
        best, values = canonical_order(embeddings, own, known.positions(found.ids), k)
        lists.positions[:, : best.shape[1]], lists.scores[:, : best.shape[1]] = best, values
    return lists


class _Known:
    """What an index calls rows, to be turned into positions.

    Args:
        ids: (n,) int64, distinct.
    """

    def __init__(self, ids: npt.NDArray[np.int64]) -> None:
        import numpy as np

        self._order = np.argsort(ids)
        self._sorted = ids[self._order]

    def positions(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The position of each id; -1 stays."""
        import numpy as np

        places = self._order[np.searchsorted(self._sorted, np.maximum(ids, self._sorted[0]))]
        return np.where(ids < 0, -1, places)


def canonical_order(
    embeddings: npt.NDArray[np.float32], own: npt.NDArray[np.int64], candidates: npt.NDArray[np.int64], k: int
) -> Lists:
    """Score candidates again in float64, drop the query itself, and keep the k best by (score, position)."""
    import numpy as np

    scores = np.round(true_scores(embeddings[own], candidates, embeddings.__getitem__), DECIMALS)
    scores[(candidates < 0) | (candidates == own[:, None])] = -np.inf
    order = np.lexsort((candidates, -scores), axis=1)[:, :k]
    values = np.take_along_axis(scores, order, axis=1).astype(np.float32)
    best = np.where(np.isinf(values), -1, np.take_along_axis(candidates, order, axis=1))
    return Lists(best, values)
