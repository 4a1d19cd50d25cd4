"""The contract of a search kind: unit vectors in, nearest neighbours out.

One contract test holds every kind to brute-force NumPy *values*.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Neighbors(NamedTuple):
    """What a search found.

    Attributes:
        ids: (n_queries, k) int64; -1 only where an approximate kind found fewer than k, always at a row's end.
        scores: (n_queries, k) float32 cosines, highest first, ties by lower id; -inf beside an id of -1.
    """

    ids: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]


class SearchIndex(Protocol):
    """Vectors ready to be searched by inner product (cosine, as rows are unit).

    Attributes:
        kind: its name in the registry.
        exact: whether it finds the true nearest.
        size: number of vectors.
        dim: vector length.
    """

    kind: ClassVar[str]
    exact: ClassVar[bool]

    @property
    def size(self) -> int:
        """Number of vectors."""
        ...

    @property
    def dim(self) -> int:
        """Vector length."""
        ...

    @classmethod
    def build(cls, embeddings: npt.NDArray[np.float32], ids: npt.NDArray[np.int64]) -> Self:
        """Index the rows of `embeddings` under `ids`.

        Args:
            embeddings: (n, dim) float32 unit rows, n >= 0.
            ids: (n,) int64, distinct, not negative.

        Raises:
            ValueError: a shape or dtype is wrong, an id repeats or is negative, or a row is not finite or not
                of norm 1 within 1e-3 (the message names the first such id).
        """
        ...

    def search(self, queries: npt.NDArray[np.float32], k: int) -> Neighbors:
        """The k nearest of each query; k is lowered to `size` where it is larger.

        Args:
            queries: (n_queries, dim) float32, finite.
            k: at least 1.

        Raises:
            ValueError: wrong dimension, wrong dtype, a query that is not finite, or k < 1.
        """
        ...

    def save(self, stream: BinaryIO) -> None:
        """Write what plain FAISS opens as a file."""
        ...

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote. The caller has checked the file's hash.

        Raises:
            IndexDamaged: not such a file, or not of this kind.
        """
        ...
