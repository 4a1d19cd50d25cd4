"""What the FAISS kinds share: building by factory string, ordered answers, guarded files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import faiss
import numpy as np
import numpy.typing as npt

from recsys.errors import IndexDamaged
from recsys.search.base import Neighbors
from recsys.search.checks import check_queries, check_rows
from recsys.search.rescore import MARGIN, NEAR, true_scores

_LOOP_LIMIT = 1 << 24
_NONE = np.iinfo(np.int64).max


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
    def effort(cls, k: int) -> Any:  # noqa: ANN401 - faiss has no types; a kind may depend on k
        """FAISS search parameters for lists of k; None for those that `tune` set."""
        return None

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
        queries = np.ascontiguousarray(queries)
        if self.exact:
            return self._search_exactly(queries, k)
        scores, ids = self._index.search(queries, k, params=self.effort(k))
        return _ordered(ids, scores, k)

    def _search_exactly(self, queries: npt.NDArray[np.float32], k: int) -> Neighbors:
        """Widen the search of those queries whose k-th score may be shared by vectors beyond the candidates."""
        best = Neighbors(np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32))
        unsure = np.arange(len(queries))
        width = min(k + MARGIN, self.size)
        while len(unsure):
            scores, ids = self._index.search(queries[unsure], width)
            best.ids[unsure], best.scores[unsure] = _ordered(ids, self._settled(queries[unsure], ids, scores), k)
            beyond = (scores[:, k - 1] - scores[:, -1] <= NEAR) & (width < self.size)
            unsure = unsure[beyond]
            width = min(4 * width, self.size)
        return best

    def _settled(
        self, queries: npt.NDArray[np.float32], ids: npt.NDArray[np.int64], scores: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """The scores, computed again for the queries of which two are so near that rounding may have swapped them."""
        near = (np.diff(scores, axis=1) >= -NEAR).any(axis=1)
        if near.any():
            scores[near] = true_scores(queries[near], ids[near], self._index.reconstruct_batch)
        return scores

    def save(self, stream: BinaryIO) -> None:
        """See `SearchIndex.save`."""
        # FAISS's own file writer only prints a warning when the disk is full at close; Python's stream raises.
        faiss.write_index(self._index, faiss.PyCallbackIOWriter(stream.write))  # type: ignore[attr-defined, unused-ignore]

    @classmethod
    def load(cls, path: Path) -> Self:
        """See `SearchIndex.load`."""
        try:
            with _limits(path.stat().st_size):
                index: Any = faiss.read_index(str(path))
        except (OSError, RuntimeError, MemoryError) as error:
            raise IndexDamaged(f"{path} is not a search file", "recsys index") from error
        inner = faiss.downcast_index(index.index) if type(index) is faiss.IndexIDMap2 else index
        found = f"{type(index).__name__} of {type(inner).__name__}"
        inner_product = index.metric_type == inner.metric_type == faiss.METRIC_INNER_PRODUCT
        if found != f"IndexIDMap2 of {cls.index_class}" or not inner_product:
            wanted = f"IndexIDMap2 of {cls.index_class} by inner product"
            raise IndexDamaged(f"{path} holds {found}, metric {inner.metric_type}, not {wanted}", "recsys index")
        cls.tune(inner)
        return cls(index)


@contextmanager
def _limits(file_size: int) -> Iterator[None]:
    """Let FAISS allocate no more than the file can hold; its limits are the process's, so they are put back."""
    vector_bytes, loops = faiss.get_deserialization_vector_byte_limit(), faiss.get_deserialization_loop_limit()
    faiss.set_deserialization_vector_byte_limit(max(file_size, 1))
    faiss.set_deserialization_loop_limit(_LOOP_LIMIT)
    try:
        yield
    finally:
        faiss.set_deserialization_vector_byte_limit(vector_bytes)
        faiss.set_deserialization_loop_limit(loops)


def _ordered(ids: npt.NDArray[np.int64], scores: npt.NDArray[np.float32], k: int) -> Neighbors:
    """The best k of each row by score, ties by id; what was not found (-1) goes last."""
    scores = np.where(ids < 0, -np.inf, scores).astype(np.float32)
    last = np.where(ids < 0, _NONE, ids)
    order = np.lexsort((last, -scores), axis=1)[:, :k]
    return Neighbors(np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1))
