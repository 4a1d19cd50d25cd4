"""Approximate search by a navigable graph."""

from __future__ import annotations

from typing import Any, ClassVar

from recsys.search.faiss_index import FaissSearch


class HnswSearch(FaissSearch):
    """FAISS `HNSW32`, built with efConstruction 200 and searched with efSearch 128."""

    kind: ClassVar[str] = "hnsw"
    exact: ClassVar[bool] = False
    index_class: ClassVar[str] = "IndexHNSWFlat"

    @classmethod
    def factory(cls, n: int) -> str:
        """`HNSW32`."""
        return "HNSW32"

    @classmethod
    def tune(cls, index: Any) -> None:  # noqa: ANN401 - faiss has no types
        """Set the beam widths."""
        index.hnsw.efConstruction = 200
        index.hnsw.efSearch = 128
