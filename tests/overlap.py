"""How much of what should be found was found."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def share_found(found: npt.NDArray[np.int64], exact: npt.NDArray[np.int64]) -> float:
    """The mean share of each row of `exact` that the same row of `found` holds; both (n, k), -1 for none."""
    hits = (found[:, :, None] == exact[:, None, :]).any(axis=1) & (exact >= 0)
    return float((hits.sum(axis=1) / np.maximum((exact >= 0).sum(axis=1), 1)).mean()) if len(exact) else 1.0
