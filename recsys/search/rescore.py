"""Scores again, in float64, of what a float32 search found.

A float32 score depends, in its last bits, on the BLAS, the block and the place in the block that computed it: equal
vectors need not get equal scores. In float64 those differences are below anything that is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NEAR = 2e-6
"""Two float32 scores closer than this may change places when they are computed again."""

MARGIN = 16
"""Candidates beyond the k-th to begin with, so that a near-tie with it is seen."""

_ROWS_AT_ONCE = 1 << 10
"""Rows gathered together, few enough to stay in the cache: twice as fast as many."""


def true_scores(
    queries: npt.NDArray[np.float32],
    candidates: npt.NDArray[np.int64],
    rows: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.float32]],
) -> npt.NDArray[np.float64]:
    """The inner product of each query with each of its candidates.

    Args:
        queries: (b, dim) float32.
        candidates: (b, c) int64, all known to `rows`.
        rows: gives the (n, dim) vectors of (n,) candidates.

    Returns:
        (b, c) float64.
    """
    import numpy as np

    scores = np.empty(candidates.shape, dtype=np.float64)
    step = max(1, _ROWS_AT_ONCE // max(1, candidates.shape[1]))
    for start in range(0, len(queries), step):
        some, own = candidates[start : start + step], queries[start : start + step]
        vectors = rows(some.ravel()).reshape(*some.shape, queries.shape[1])
        scores[start : start + step] = np.matmul(vectors.astype(np.float64), own.astype(np.float64)[:, :, None])[
            :, :, 0
        ]
    return scores
