"""Neighbour lists brought up to date: exactly what a computation from scratch would give, for a fraction of its work.

A list holds the best of the papers there were. What is not in it is worse than its last entry, its *floor*. So of the
papers that came, those above the floor enter, those below need not be looked at, and what is above the floor is exact.
Members that went leave the list shorter; where it becomes too short, it is computed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from recsys.neighbors import DECIMALS, Lists, empty_lists
from recsys.search.rescore import NEAR, true_scores

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_SCORES_AT_ONCE = 1 << 24
"""Scores held together: 64 MB."""

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


def merge(
    embeddings: npt.NDArray[np.float32], lists: Lists, floors: Floors, fresh: npt.NDArray[np.int64]
) -> tuple[Lists, npt.NDArray[np.int64]]:
    """Lists without what went and with what came.

    Args:
        embeddings: (n, dim) float32 unit rows of the papers there are now.
        lists: (n, k) as stored, at today's positions; a member that went, or whose vector changed, is -1.
        floors: of those lists.
        fresh: (m,) int64 positions of the papers that came or whose vector changed; their own lists are left alone.

    Returns:
        The lists, and the (c,) positions of those that differ from what was given, in order.
    """
    import numpy as np

    came = _entering(embeddings, floors, fresh)
    holes = (lists.positions[:, :-1] < 0) & (lists.positions[:, 1:] >= 0)
    changed = np.union1d(came.lists, np.flatnonzero(holes.any(axis=1)))
    merged = Lists(lists.positions.copy(), lists.scores.copy())
    step = 1 << (63 - _SCORE_BITS - len(embeddings).bit_length())
    for start in range(0, len(changed), step):
        _merge_some(merged, changed[start : start + step], came)
    return merged, changed


class _Entries(NamedTuple):
    """Entries of lists, flat: each (m,)."""

    lists: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]


def _entering(embeddings: npt.NDArray[np.float32], floors: Floors, fresh: npt.NDArray[np.int64]) -> _Entries:
    """Where the fresh papers enter the lists of the others, ordered by list."""
    import numpy as np

    step = max(1, _SCORES_AT_ONCE // max(1, len(fresh)))
    newcomers = np.ascontiguousarray(embeddings[fresh].T)
    closed = np.where(np.isin(np.arange(len(embeddings)), fresh), np.float32(np.inf), floors.scores - np.float32(NEAR))
    found = [_Entries(fresh[:0], fresh[:0], floors.scores[:0])]
    for start in range(0, len(embeddings) if len(fresh) else 0, step):
        block = slice(start, start + step)
        lists, columns = np.nonzero(embeddings[block] @ newcomers >= closed[block, None])
        found.append(_above(embeddings, floors, lists + start, fresh[columns]))
    return _Entries(*map(np.concatenate, zip(*found, strict=True)))


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
    place = np.arange(len(ordered.lists)) - np.searchsorted(ordered.lists, ordered.lists)
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
