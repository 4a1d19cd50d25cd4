"""Approximate search by clusters: only the cells nearest to a query are looked at."""

from __future__ import annotations

from math import isqrt
from typing import Any, ClassVar

from recsys.search.faiss_index import FaissSearch

_POINTS_PER_CELL = 39
"""FAISS warns below this many training points a cell (`ClusteringParameters.min_points_per_centroid`)."""


class IvfSearch(FaissSearch):
    """FAISS `IVFn,Flat` with about 4 sqrt(n) cells, an eighth of which (at least 16) are probed."""

    kind: ClassVar[str] = "ivf"
    exact: ClassVar[bool] = False
    index_class: ClassVar[str] = "IndexIVFFlat"

    @classmethod
    def factory(cls, n: int) -> str:
        """`IVFn,Flat`."""
        return f"IVF{max(1, min(4 * isqrt(n), n // _POINTS_PER_CELL))},Flat"

    @classmethod
    def tune(cls, index: Any) -> None:  # noqa: ANN401 - faiss has no types
        """Set the cells to probe; the seed of the clustering is FAISS's own constant."""
        index.cp.min_points_per_centroid = 1  # FAISS writes its warning to stderr; `factory` has seen to the number
        index.nprobe = min(index.nlist, max(16, index.nlist // 8))
