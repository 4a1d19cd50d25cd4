"""What the FAISS kinds share: building by factory string, ordered answers, guarded files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import faiss
import numpy as np
import numpy.typing as npt

from recsys.errors import IndexDamaged
from recsys.search.base import Neighbors
from recsys.search.checks import check_queries, check_rows

_MARGIN = 16
_LOOP_LIMIT = 1 << 24


class FaissSearch:
    """A FAISS inner-product index that knows its vectors by explicit ids."""

    kind: ClassVar[str]
    exact: ClassVar[bool]
    index_class: ClassVar[str]

    def __init__(self, index: Any) -> None:  # noqa: ANN401 - faiss has no types
        self._index = index

    @property
    def size(self) -> int:
        """Number of vectors."""
        return int(self._index.ntotal)

    @property
    def dim(self) -> int:
        """Vector length."""
        return int(self._index.d)

    @classmethod
    def factory(cls, n: int) -> str:
        """The FAISS factory string for n vectors."""
        raise NotImplementedError

    @classmethod
    def tune(cls, index: Any) -> None:  # noqa: ANN401 - faiss has no types
        """Set the inner index's build and search parameters."""
        raise NotImplementedError

    @classmethod
    def build(cls, embeddings: npt.NDArray[np.float32], ids: npt.NDArray[np.int64]) -> Self:
        """See `SearchIndex.build`."""
        check_rows(embeddings, ids)
        factory = f"IDMap2,{cls.factory(len(ids))}"
        index: Any = faiss.index_factory(embeddings.shape[1], factory, faiss.METRIC_INNER_PRODUCT)
        cls.tune(faiss.downcast_index(index.index))
        if len(ids):
            rows = np.ascontiguousarray(embeddings)
            index.train(rows)
            index.add_with_ids(rows, ids)
        return cls(index)

    def search(self, queries: npt.NDArray[np.float32], k: int) -> Neighbors:
        """See `SearchIndex.search`."""
        check_queries(queries, self.dim, k)
        k = min(k, self.size)
        if not k or not len(queries):
            return Neighbors(np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32))
        wide = min(k + _MARGIN, self.size) if self.exact else k
        scores, ids = self._index.search(np.ascontiguousarray(queries), wide)
        while self.exact and wide < self.size and (scores[:, k - 1] == scores[:, -1]).any():
            wide = min(4 * wide, self.size)
            scores, ids = self._index.search(np.ascontiguousarray(queries), wide)
        return _ordered(ids, scores, k)

    def save(self, path: Path) -> None:
        """See `SearchIndex.save`."""
        faiss.write_index(self._index, str(path))

    @classmethod
    def load(cls, path: Path) -> Self:
        """See `SearchIndex.load`."""
        faiss.set_deserialization_vector_byte_limit(max(path.stat().st_size, 1))
        faiss.set_deserialization_loop_limit(_LOOP_LIMIT)
        try:
            index: Any = faiss.read_index(str(path))
            inner = type(faiss.downcast_index(index.index)).__name__
        except (RuntimeError, AttributeError, MemoryError) as error:
            raise IndexDamaged(f"{path} is not a search file", "recsys index") from error
        if inner != cls.index_class or index.metric_type != faiss.METRIC_INNER_PRODUCT:
            raise IndexDamaged(f"{path} holds a {inner}, not a {cls.index_class} of inner products", "recsys index")
        loaded = cls(index)
        cls.tune(faiss.downcast_index(index.index))
        return loaded


def _ordered(ids: npt.NDArray[np.int64], scores: npt.NDArray[np.float32], k: int) -> Neighbors:
    """The best k of each row by score, ties by id; what was not found (-1) goes last."""
    scores = np.where(ids < 0, -np.inf, scores).astype(np.float32)
    last = np.where(ids < 0, np.iinfo(np.int64).max, ids)
    order = np.lexsort((last, -scores), axis=1)[:, :k]
    return Neighbors(np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1))
