"""Neighbour lists brought up to date: exactly what a computation from scratch would give, for a fraction of its work.

A list holds the best of the papers there were. What is not in it is worse than its last entry, its *floor*. So of the
papers that came, those above the floor enter, those below need not be looked at, and what is above the floor is exact.
Members that went leave the list shorter; where it becomes too short, it is computed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from recsys.neighbors import DECIMALS, Lists, canonical_order, empty_lists
from recsys.search.rescore import MARGIN, NEAR, true_scores

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_SCORES_AT_ONCE = 1 << 24
"""Scores held together: 64 MB."""

_FIRST = 4096
"""Rows of the first block."""

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
        lists: (n, k) of every position.
        changed: (c,) positions of the lists that differ from what was given, in order.
        unsure: (u,) fresh positions of which so many are equally near that a wider search must decide.
    """

    lists: Lists
    changed: npt.NDArray[np.int64]
    unsure: npt.NDArray[np.int64]


def merge(embeddings: npt.NDArray[np.float32], lists: Lists, floors: Floors, fresh: npt.NDArray[np.int64]) -> Merged:
    """Lists without what went and with what came, and the lists of what came.

    Args:
        embeddings: (n, dim) float32 unit rows of the papers there are now.
        lists: (n, k) as stored, at today's positions; a member that went, or whose vector changed, is -1.
        floors: of those lists.
        fresh: (m,) int64 positions of the papers that came or whose vector changed.
    """
    import numpy as np

    k = lists.positions.shape[1]
    came, nearest = _compare(embeddings, floors, fresh, min(k + 1 + MARGIN, len(embeddings)))
    holes = (lists.positions[:, :-1] < 0) & (lists.positions[:, 1:] >= 0)
    changed = np.union1d(came.lists, np.flatnonzero(holes.any(axis=1)))
    merged = Lists(lists.positions.copy(), lists.scores.copy())
    step = 1 << (63 - _SCORE_BITS - len(embeddings).bit_length())
    for start in range(0, len(changed), step):
        _merge_some(merged, changed[start : start + step], came)
    best, scores = canonical_order(embeddings, fresh, nearest.positions, k)
    merged.positions[fresh, : best.shape[1]], merged.scores[fresh, : best.shape[1]] = best, scores
    beyond = nearest.scores.min(axis=1, initial=np.inf) >= scores[:, -1] - NEAR
    unsure = fresh[beyond] if nearest.positions.shape[1] < len(embeddings) else fresh[:0]
    return Merged(merged, np.union1d(changed, fresh), unsure)


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

    nearest = empty_lists(len(fresh), width)
    newcomers = np.ascontiguousarray(embeddings[fresh])
    closed = np.where(np.isin(np.arange(len(embeddings)), fresh), np.float32(np.inf), floors.scores - np.float32(NEAR))
    found = [_Entries(fresh[:0], fresh[:0], floors.scores[:0])]
    for block in _blocks(len(embeddings) if len(fresh) else 0, len(fresh), width):
        scores = newcomers @ embeddings[block].T
        rows, columns = _where(scores >= closed[block])
        found.append(_above(embeddings, floors, columns + block.start, fresh[rows]))
        _keep_best(nearest, scores, block.start)
    came = _Entries(*map(np.concatenate, zip(*found, strict=True)))
    order = np.argsort(came.lists, kind="stable")
    return _Entries(came.lists[order], came.positions[order], came.scores[order]), nearest


def _blocks(n: int, m: int, width: int) -> Iterator[slice]:
    """Slices of n: the first, of which most is kept at first, short."""
    step = max(width, _SCORES_AT_ONCE // max(1, m))
    starts = [0, *range(min(step, _FIRST), n, step)] if n else []
    yield from map(slice, starts, [*starts[1:], n])


def _where(true: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows and columns of what is true: `numpy.nonzero`, but forty times faster where that is little."""
    import numpy as np

    rows, columns = np.divmod(np.flatnonzero(true), true.shape[1])
    return rows, columns


def _keep_best(nearest: Lists, scores: npt.NDArray[np.float32], start: int) -> None:
    """Keep the best of what was kept and of a block's (m, b) scores, in no order within a list."""
    import numpy as np

    width = nearest.positions.shape[1]
    if start == 0:
        some = np.argpartition(-scores, min(width, scores.shape[1]) - 1, axis=1)[:, :width]
        nearest.positions[:, : some.shape[1]] = some
        nearest.scores[:, : some.shape[1]] = np.take_along_axis(scores, some, axis=1)
        return
    lists, columns = _where(scores > nearest.scores.min(axis=1)[:, None])
    touched, places = np.unique(lists, return_inverse=True)
    own = np.repeat(np.arange(len(touched)), width)
    together = _Entries(
        np.concatenate([own, places]),
        np.concatenate([nearest.positions[touched].ravel(), columns + start]),
        np.concatenate([nearest.scores[touched].ravel(), scores[lists, columns]]),
    )
    order = _order(together)
    best = order[_places(together.lists[order]) < width].reshape(len(touched), width)
    nearest.positions[touched], nearest.scores[touched] = together.positions[best], together.scores[best]


def _order(entries: _Entries) -> npt.NDArray[np.int64]:
    """The order by list, then highest score: as one integer each, which sorts three times faster than two keys."""
    import numpy as np

    bits = entries.scores.view(np.int32).astype(np.int64)
    ascending = np.where(bits < 0, -(1 << 31) - bits, bits)  # floats of one sign are ordered as their bits are
    return np.argsort((entries.lists << 33) - ascending)


def _places(lists: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The place, from 0, of each entry in its list; entries are ordered by list."""
    import numpy as np

    return np.arange(len(lists)) - np.searchsorted(lists, lists)


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


def _merge_some(merged: Lists, changed: npt.NDArray[np.int64], came: _Entries) -> None:
    """Sort the entries of the lists `changed` together with those that came, and keep the best k of each."""
    import numpy as np

    k = merged.positions.shape[1]
    first, last = np.searchsorted(came.lists, [changed[0], changed[-1] + 1]) if len(changed) else (0, 0)
    stayed = merged.positions[changed] >= 0
    entries = _Entries(
        np.concatenate([np.nonzero(stayed)[0], np.searchsorted(changed, came.lists[first:last])]),
        np.concatenate([merged.positions[changed][stayed], came.positions[first:last]]),
        np.concatenate([merged.scores[changed][stayed], came.scores[first:last]]),
    )
    ordered = _sorted(entries, len(merged.positions).bit_length())
    place = _places(ordered.lists)
    kept = place < k
    best = empty_lists(len(changed), k)
    best.positions[ordered.lists[kept], place[kept]] = ordered.positions[kept]
    best.scores[ordered.lists[kept], place[kept]] = ordered.scores[kept]
    merged.positions[changed], merged.scores[changed] = best


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
