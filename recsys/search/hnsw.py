"""Approximate search by a navigable graph."""

from __future__ import annotations

from typing import Any, ClassVar

import faiss

from recsys.search.faiss_index import FaissSearch

_BEAM = 128
"""efSearch at least; never less than twice what is wanted."""


class HnswSearch(FaissSearch):
    """FAISS `HNSW32`, built with efConstruction 200 and searched with efSearch 128 or 2k."""

    kind: ClassVar[str] = "hnsw"
    exact: ClassVar[bool] = False
    index_class: ClassVar[str] = "IndexHNSWFlat"

    @classmethod
    def factory(cls, n: int) -> str:
        """`HNSW32`."""
        return "HNSW32"

    @classmethod
    def tune(cls, index: Any) -> None:  # noqa: ANN401 - faiss has no types
        """Set the beam of building, and that of searching for those who open the file with plain FAISS."""
        index.hnsw.efConstruction = 200
        index.hnsw.efSearch = _BEAM

    @classmethod
    def effort(cls, k: int) -> Any:  # noqa: ANN401 - faiss has no types
        """A beam of twice the list, or more."""
        return faiss.SearchParametersHNSW(efSearch=max(_BEAM, 2 * k))  # type: ignore[attr-defined, unused-ignore]
