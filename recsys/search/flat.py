"""Exact search: every vector is looked at."""

from __future__ import annotations

from typing import Any, ClassVar

from recsys.search.faiss_index import FaissSearch


class FlatSearch(FaissSearch):
    """FAISS `Flat`: exact, n x dim x 4 bytes."""

    kind: ClassVar[str] = "flat"
    exact: ClassVar[bool] = True
    index_class: ClassVar[str] = "IndexFlatIP"

    @classmethod
    def factory(cls, n: int) -> str:
        """`Flat`."""
        return "Flat"

    @classmethod
    def tune(cls, index: Any) -> None:  # noqa: ANN401 - faiss has no types
        """Nothing to set."""
