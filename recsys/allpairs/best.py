"""The best others of each row of a block, kept while comparisons come in."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_POSITION_BITS = 31
_FREE = (1 << 63) - 1
_ONE = 1 << 29

MOST_ROWS = 1 << 16
"""Rows that a block may have."""

LOWEST = -2.0
"""No score is as low."""

STEP = 2.0**-29
"""How far a score may be off when it was kept."""


class Entries(NamedTuple):
    """Scores between rows of a block and other papers, flat: each (m,).

    Attributes:
        rows: int64, places in the block.
        positions: int64, of the other papers.
        scores: float32.
    """

    rows: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]


class Best:
    """The `width` best others of each row of a block; threads may add to it.

    Score and position of an entry are one integer, for plain integers are sorted many at a time.

    Args:
        rows: of the block, at most `MOST_ROWS`.
        width: others kept of each; what was not filled is position -1 with score -inf.

    Attributes:
        floors: (rows,) float32, `LOWEST` at first: what is below cannot enter. Never too high, not always up to date.
    """

    def __init__(self, rows: int, width: int) -> None:
        import numpy as np

        self.floors = np.full(rows, LOWEST, dtype=np.float32)
        self._kept = np.full((rows, width), _FREE, dtype=np.int64)
        self._came: list[tuple[npt.NDArray[np.uint16], npt.NDArray[np.int64]]] = []
        self._waiting = 0
        self._lock = Lock()

    def add(self, entries: Entries) -> None:
        """Let entries compete; no pair of row and position may come twice."""
        came = entries.rows.astype("u2"), _keys(entries)
        with self._lock:
            self._came.append(came)
            self._waiting += len(entries.rows)
            if self._waiting > self._kept.size:
                self._merge()

    def add_rows(self, scores: npt.NDArray[np.float32], start: int) -> None:
        """Let (rows, c) scores with the papers from position `start` on compete."""
        if self.floors.max() == LOWEST:
            self._raise_floors(_rough_floors(scores, self._kept.shape[1]))
        rows, columns = where(scores >= self.floors[:, None])
        self.add(Entries(rows, columns + start, scores[rows, columns]))

    def add_columns(self, scores: npt.NDArray[np.float32], start: int) -> None:
        """Let (c, rows) scores with the papers from position `start` on compete."""
        others, rows = where(scores >= self.floors)
        self.add(Entries(rows, others + start, scores[others, rows]))

    def _raise_floors(self, floors: npt.NDArray[np.float32]) -> None:
        """Set floors that are known to be reached by `width` others of each row, which will be added."""
        import numpy as np

        with self._lock:
            np.maximum(self.floors, floors, out=self.floors)

    def settle(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """(rows, width) positions and scores, in no order; scores are less than `STEP` off."""
        import numpy as np

        with self._lock:
            self._merge()
            free = self._kept == _FREE
            positions = np.where(free, -1, self._kept & ((1 << _POSITION_BITS) - 1))
            return positions, np.where(free, np.float32(-np.inf), _scores(self._kept))

    def _merge(self) -> None:
        import numpy as np

        if not self._came:
            return
        rows, keys = map(np.concatenate, zip(*self._came, strict=True))
        self._came, self._waiting = [], 0
        n, width = self._kept.shape
        order = np.argsort(rows, kind="stable")  # of 16 bits: a radix sort
        rows = rows[order]
        places = places_in_rows(rows, n)
        together = np.full((n, width + places.max(initial=-1) + 1), _FREE, dtype=np.int64)
        together[:, :width] = self._kept
        together[rows, width + places] = keys[order]
        together.partition(width - 1, axis=1)
        self._kept = np.ascontiguousarray(together[:, :width])
        last = self._kept[:, -1]
        floors = np.where(last == _FREE, LOWEST, _scores(last) - STEP).astype(np.float32)
        np.maximum(self.floors, floors, out=self.floors)


def where(true: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows and columns of what is true: `numpy.nonzero`, but forty times faster where that is little."""
    import numpy as np

    rows, columns = np.divmod(np.flatnonzero(true), true.shape[1])
    return rows, columns


def places_in_rows(rows: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    """The place, from 0, of each of (m,) entries in its row; they are ordered by row, of n."""
    import numpy as np

    counts = np.bincount(rows, minlength=n)
    return np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)


def _rough_floors(scores: npt.NDArray[np.float32], width: int) -> npt.NDArray[np.float32]:
    """Floors without sorting: of `width` groups of columns, the worst group's best; none where there are too few."""
    import numpy as np

    size = scores.shape[1] // width
    if not size:
        return np.full(len(scores), LOWEST, dtype=np.float32)
    groups = scores[:, : size * width].reshape(len(scores), width, size)
    floors: npt.NDArray[np.float32] = groups.max(axis=2).min(axis=1)
    return floors


def _keys(entries: Entries) -> npt.NDArray[np.int64]:
    """The best score is the smallest number, the lowest position the smaller of two equal ones."""
    import numpy as np

    below = ((2 - entries.scores.astype(np.float64)) * _ONE).astype(np.int64)
    return (below << _POSITION_BITS) | entries.positions


def _scores(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    import numpy as np

    return (2 - (keys >> _POSITION_BITS) / _ONE).astype(np.float32)
