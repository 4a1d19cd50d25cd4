"""Input checks that every search kind shares; messages name both what came and what was wanted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recsys.vectors import finite_unit_rows


def check_rows(embeddings: npt.NDArray[np.float32], ids: npt.NDArray[np.int64]) -> None:
    """Raise ValueError unless these are unit rows under distinct, non-negative ids."""
    _check_matrix(embeddings)
    if ids.dtype != np.int64 or ids.shape != (len(embeddings),):
        raise ValueError(f"ids must be ({len(embeddings)},) int64, not {ids.shape} {ids.dtype}")
    if len(ids) and (ids.min() < 0 or len(np.unique(ids)) != len(ids)):
        raise ValueError("ids must be distinct and not negative")
    bad = ~finite_unit_rows(embeddings)
    if bad.any():
        raise ValueError(f"the vector of id {ids[bad][0]} is not finite and of norm 1")


def check_queries(queries: npt.NDArray[np.float32], dim: int, k: int) -> None:
    """Raise ValueError unless these are finite queries of the index's dimension and k is positive."""
    _check_matrix(queries)
    if queries.shape[1] != dim:
        raise ValueError(f"queries have dimension {queries.shape[1]}, the index has {dim}")
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    if not np.isfinite(queries).all():
        raise ValueError("a query is not finite")


def _check_matrix(matrix: npt.NDArray[np.float32]) -> None:
    if matrix.ndim != 2 or matrix.dtype != np.float32:
        raise ValueError(f"vectors must be (n, dim) float32, not {matrix.shape} {matrix.dtype}")
