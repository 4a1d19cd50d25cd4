"""Neighbour lists brought up to date: exactly what a computation from scratch would give, for a fraction of its work.

A list holds the best of the papers there were. What is not in it is worse than its last entry, its *floor*. So of the
papers that came, those above the floor enter, those below need not be looked at, and what is above the floor is exact.
Members that went leave the list shorter; where it becomes too short, it is computed again.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from recsys.allpairs.best import STEP, Best, places_in_rows, where
from recsys.allpairs.comparing import cpus, multipliers
from recsys.allpairs.products import NumpyProduct
from recsys.allpairs.tiles import blocks_of
from recsys.neighbors import DECIMALS, Lists, canonical_order, empty_lists, neighbors_of
from recsys.search.rescore import MARGIN, NEAR, true_scores

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_BLOCK = 2048
"""Papers compared together: at most 16 MB of scores a thread."""

_MILLION = 10**DECIMALS
_POSITION_BITS = 32
_FREE = 1 << 62


class Floors(NamedTuple):
    """The last entry of every list as it was stored; nothing that is not in the list is above it.

    Attributes:
        scores: (n,) float32; -inf where a list held every other paper.
        positions: (n,) int64; -1 where that entry is no longer listed.
    """

    scores: npt.NDArray[np.float32]
    positions: npt.NDArray[np.int64]


class Entering(NamedTuple):
    """What enters lists, by list: each (m,).

    Attributes:
        lists: int64 positions of the papers whose lists they are, in order.
        positions: int64 of the papers that enter.
        scores: float32, canonical.
    """

    lists: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]

    def into(self, lists: npt.NDArray[np.int64]) -> Entering:
        """What enters some lists, given in order; these are then called 0, 1, 2, ..."""
        import numpy as np

        first, last = np.searchsorted(self.lists, lists), np.searchsorted(self.lists, lists, side="right")
        counts = last - first
        own = np.repeat(np.arange(len(lists)), counts)
        which = np.repeat(first, counts) + places_in_rows(own, len(lists))
        return Entering(own, self.positions[which], self.scores[which])


def compare_fresh(
    embeddings: npt.NDArray[np.float32], k: int, floors: Floors, fresh: npt.NDArray[np.int64]
) -> tuple[Lists, Entering]:
    """The lists of the papers that came, and where these enter the lists of others.

    Memory beside `embeddings`: 4 x 2048^2 bytes a thread, and some 100 x k bytes a fresh paper.

    Args:
        embeddings: (n, dim) float32 unit rows of the papers there are now.
        k: entries of a list.
        floors: of the stored lists.
        fresh: (m,) int64 positions of the papers that came or whose vector changed.

    Returns:
        (m, k) lists, and what enters the lists of papers that are not fresh.
    """
    import numpy as np

    width = min(k + 1 + MARGIN, len(embeddings))
    nearest, entering = _compare(embeddings, floors, fresh, width)
    lists = empty_lists(len(fresh), k)
    best, scores = canonical_order(embeddings, fresh, nearest.positions, k)
    lists.positions[:, : best.shape[1]], lists.scores[:, : best.shape[1]] = best, scores
    if width < len(embeddings):  # where many are equally near, a wider search must decide
        unsure = nearest.scores.min(axis=1, initial=np.inf) >= scores[:, -1] - (STEP + NEAR)
        lists.positions[unsure], lists.scores[unsure] = neighbors_of(embeddings, fresh[unsure], k)
    return lists, entering


def _compare(
    embeddings: npt.NDArray[np.float32], floors: Floors, fresh: npt.NDArray[np.int64], width: int
) -> tuple[Lists, Entering]:
    """One pass over all vectors: the nearest of each fresh paper, in no order; and what enters the lists of others."""
    import numpy as np

    product = NumpyProduct(np.ascontiguousarray(embeddings[fresh]), embeddings)
    groups, blocks = blocks_of(len(fresh), _BLOCK), blocks_of(len(embeddings), _BLOCK)
    best = [Best(group.stop - group.start, width) for group in groups]
    closed = floors.scores - np.float32(NEAR)
    closed[fresh] = np.inf

    def entering(group: int, block: slice) -> Entering:
        scores = product(groups[group], block)
        best[group].add_rows(scores, block.start)
        rows, columns = where(scores >= closed[block])
        return _above(embeddings, floors, columns + block.start, fresh[groups[group]][rows])

    with multipliers(cpus()) as pool:
        tiles = itertools.product(range(len(groups)), blocks)
        found = list(pool.map(lambda tile: entering(*tile), tiles))
    nothing, nowhere = Entering(fresh[:0], fresh[:0], floors.scores[:0]), empty_lists(0, width)
    came = Entering(*map(np.concatenate, zip(nothing, *found, strict=True)))
    order = np.argsort(came.lists, kind="stable")
    nearest = Lists(*map(np.concatenate, zip(nowhere, *(some.settle() for some in best), strict=True)))
    return nearest, Entering(came.lists[order], came.positions[order], came.scores[order])


def _above(
    embeddings: npt.NDArray[np.float32],
    floors: Floors,
    lists: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
) -> Entering:
    """Those of the (m,) pairs that truly stand above the list's floor, by canonical score and position."""
    import numpy as np

    scores = true_scores(embeddings[lists], positions[:, None], embeddings.__getitem__)[:, 0]
    values = np.round(scores, DECIMALS).astype(np.float32)
    floor, last = floors.scores[lists], floors.positions[lists]
    above = (values > floor) | ((values == floor) & (positions < last))
    return Entering(lists[above], positions[above], values[above])


def merge(lists: Lists, entering: Entering) -> Lists:
    """The best of what lists hold and of what enters them.

    Args:
        lists: (c, k) stored lists, of which a member that went is -1.
        entering: by place among them.
    """
    import numpy as np

    n, k = lists.positions.shape
    came = _keys(entering.positions, entering.scores)
    came = came[np.lexsort((came, entering.lists))]
    places = places_in_rows(entering.lists, n)
    enter = places < k
    keys = np.full((n, k + int(places.max(initial=-1)) + 1), _FREE, dtype=np.int64)[:, : 2 * k]
    keys[:, :k] = _keys(lists.positions, lists.scores)
    keys[entering.lists[enter], k + places[enter]] = came[enter]
    keys.sort(axis=1)
    return _lists(keys[:, :k])


def _keys(positions: npt.NDArray[np.int64], scores: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """Entries as integers, the best the smallest: plain integers are sorted many at a time."""
    import numpy as np

    free = positions < 0
    below = _MILLION - np.rint(np.where(free, 0, scores).astype(np.float64) * _MILLION).astype(np.int64)
    return np.where(free, _FREE, (below << _POSITION_BITS) | positions)


def _lists(keys: npt.NDArray[np.int64]) -> Lists:
    import numpy as np

    free = keys == _FREE
    scores = (_MILLION - (keys >> _POSITION_BITS)) / _MILLION
    positions = np.where(free, -1, keys & ((1 << _POSITION_BITS) - 1))
    return Lists(positions, np.where(free, -np.inf, scores).astype(np.float32))
