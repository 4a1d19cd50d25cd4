"""Neighbour lists brought up to date: exactly what a computation from scratch would give, for a fraction of its work.

A list holds the best of the papers there were. What is not in it is worse than its last entry, its *floor*. So of the
papers that came, those above the floor enter, those below need not be looked at, and what is above the floor is exact.
Members that went leave the list shorter; where it becomes too short, it is computed again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from recsys.allpairs.best import STEP, Best, places_in_rows, where
from recsys.allpairs.comparing import cpus, multipliers
from recsys.allpairs.products import NumpyProduct
from recsys.allpairs.tiles import blocks_of
from recsys.neighbors import DECIMALS, Lists, canonical_order, empty_lists
from recsys.search.rescore import MARGIN, NEAR, true_scores

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_BLOCK = 2048
"""Papers compared together: at most 16 MB of scores a thread."""

_MILLION = 10**DECIMALS
_SCORE_BITS = (2 * _MILLION).bit_length()


class Floors(NamedTuple):
    """The last entry of every list as it was stored; nothing that is not in the list is above it.

    Attributes:
        scores: (n,) float32; -inf where a list held every other paper.
        positions: (n,) int64; -1 where that entry is no longer listed.
    """

    scores: npt.NDArray[np.float32]
    positions: npt.NDArray[np.int64]


class Merged(NamedTuple):
    """What `merge` gives.

    Attributes:
        changed: (c,) positions of the lists that are not as they were stored, in order.
        lists: (c, k) of those.
        unsure: (u,) fresh positions of which so many are equally near that a wider search must decide.
    """

    changed: npt.NDArray[np.int64]
    lists: Lists
    unsure: npt.NDArray[np.int64]


def merge(
    embeddings: npt.NDArray[np.float32],
    k: int,
    floors: Floors,
    fresh: npt.NDArray[np.int64],
    lost: npt.NDArray[np.int64],
    stored: Callable[[npt.NDArray[np.int64]], Lists],
) -> Merged:
    """Lists without what went and with what came, and the lists of what came.

    Args:
        embeddings: (n, dim) float32 unit rows of the papers there are now.
        k: entries of a list.
        floors: of the stored lists.
        fresh: (m,) int64 positions of the papers that came or whose vector changed.
        lost: (l,) int64 positions of the lists of which a member went, or has another vector.
        stored: gives the (c, k) stored lists of (c,) positions, at today's positions; a member that went is -1.
    """
    import numpy as np

    came, nearest = _compare(embeddings, floors, fresh, min(k + 1 + MARGIN, len(embeddings)))
    touched = np.setdiff1d(np.union1d(came.lists, lost), fresh)
    repaired = _with_newcomers(stored(touched), touched, came, len(embeddings))
    best, scores = canonical_order(embeddings, fresh, nearest.positions, k)
    changed = np.union1d(touched, fresh)
    lists, own, other = empty_lists(len(changed), k), np.searchsorted(changed, fresh), np.searchsorted(changed, touched)
    lists.positions[own, : best.shape[1]], lists.scores[own, : best.shape[1]] = best, scores
    lists.positions[other], lists.scores[other] = repaired
    beyond = nearest.scores.min(axis=1, initial=np.inf) >= scores[:, -1] - (STEP + NEAR)
    return Merged(changed, lists, fresh[beyond] if nearest.positions.shape[1] < len(embeddings) else fresh[:0])


class _Entries(NamedTuple):
    """Entries of lists, flat: each (m,)."""

    lists: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]


def _compare(
    embeddings: npt.NDArray[np.float32], floors: Floors, fresh: npt.NDArray[np.int64], width: int
) -> tuple[_Entries, Lists]:
    """One pass over all vectors: where the fresh papers enter others' lists, by list; and the nearest of each."""
    import numpy as np

    product = NumpyProduct(np.ascontiguousarray(embeddings[fresh]), embeddings)
    groups, blocks = blocks_of(len(fresh), _BLOCK), blocks_of(len(embeddings), _BLOCK)
    best = [Best(group.stop - group.start, width) for group in groups]
    closed = floors.scores - np.float32(NEAR)
    closed[fresh] = np.inf

    def entering(group: int, block: slice) -> _Entries:
        scores = product(groups[group], block)
        best[group].add_rows(scores, block.start)
        rows, columns = where(scores >= closed[block])
        return _above(embeddings, floors, columns + block.start, fresh[groups[group]][rows])

    with multipliers(cpus()) as pool:
        tiles = itertools.product(range(len(groups)), blocks)
        found = list(pool.map(lambda tile: entering(*tile), tiles))
    none, nowhere = _Entries(fresh[:0], fresh[:0], floors.scores[:0]), empty_lists(0, width)
    came = _Entries(*map(np.concatenate, zip(none, *found, strict=True)))
    order = np.argsort(came.lists, kind="stable")
    nearest = Lists(*map(np.concatenate, zip(nowhere, *(some.settle() for some in best), strict=True)))
    return _Entries(came.lists[order], came.positions[order], came.scores[order]), nearest


def _above(
    embeddings: npt.NDArray[np.float32],
    floors: Floors,
    lists: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
) -> _Entries:
    """Those of the (m,) pairs that truly stand above the list's floor, by canonical score and position."""
    import numpy as np

    scores = true_scores(embeddings[lists], positions[:, None], embeddings.__getitem__)[:, 0]
    values = np.round(scores, DECIMALS).astype(np.float32)
    floor, last = floors.scores[lists], floors.positions[lists]
    above = (values > floor) | ((values == floor) & (positions < last))
    return _Entries(lists[above], positions[above], values[above])


def _with_newcomers(lists: Lists, touched: npt.NDArray[np.int64], came: _Entries, n: int) -> Lists:
    """The (t, k) lists at the positions `touched`, of n, sorted together with the entries that came."""
    import numpy as np

    position_bits = n.bit_length()
    step = 1 << (63 - _SCORE_BITS - position_bits)
    merged = [empty_lists(0, lists.positions.shape[1])]
    for start in range(0, len(touched), step):
        here = slice(start, start + step)
        first, last = np.searchsorted(came.lists, [touched[here][0], touched[here][-1] + 1])
        places = np.searchsorted(touched[here], came.lists[first:last])
        entering = _Entries(places, came.positions[first:last], came.scores[first:last])
        merged.append(_best(Lists(lists.positions[here], lists.scores[here]), entering, position_bits))
    return Lists(*map(np.concatenate, zip(*merged, strict=True)))


def _best(lists: Lists, entering: _Entries, position_bits: int) -> Lists:
    """The best k of each of (t, k) lists and of what enters them, by its place among them."""
    import numpy as np

    stayed = lists.positions >= 0
    entries = _Entries(
        np.concatenate([np.nonzero(stayed)[0], entering.lists]),
        np.concatenate([lists.positions[stayed], entering.positions]),
        np.concatenate([lists.scores[stayed], entering.scores]),
    )
    ordered = _sorted(entries, position_bits)
    place = places_in_rows(ordered.lists, len(stayed))
    kept = place < lists.positions.shape[1]
    best = empty_lists(*lists.positions.shape)
    best.positions[ordered.lists[kept], place[kept]] = ordered.positions[kept]
    best.scores[ordered.lists[kept], place[kept]] = ordered.scores[kept]
    return best


def _sorted(entries: _Entries, position_bits: int) -> _Entries:
    """By list, then highest score, then position: as one integer each, which sorts many times faster."""
    import numpy as np

    below = _MILLION - np.rint(entries.scores.astype(np.float64) * _MILLION).astype(np.int64)
    keys = (((entries.lists << _SCORE_BITS) | below) << position_bits) | entries.positions
    keys.sort()
    positions = keys & ((1 << position_bits) - 1)
    keys >>= position_bits
    scores = (_MILLION - (keys & ((1 << _SCORE_BITS) - 1))) / _MILLION
    return _Entries(keys >> _SCORE_BITS, positions, scores.astype(np.float32))
