"""Approximate lists of every paper by nearest-neighbour descent: neighbours of neighbours are likely neighbours.

W. Dong, M. Charikar and K. Li, "Efficient k-nearest neighbor graph construction for generic similarity measures",
WWW 2011; computed by PyNNDescent. Its time grows little faster than the number of papers, that of exact lists with the
square.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from recsys.allpairs.exact import exact_lists
from recsys.allpairs.tiles import blocks_of
from recsys.errors import MissingExtra
from recsys.neighbors import Block, canonical_order

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_FEW = 4096
"""Papers up to which exact lists cost less than a descent's start."""

_WIDER = 1.5
"""Neighbours that the descent keeps, as a multiple of k: at 1 it finds 0.97 of the nearest, at 1.5 0.99 and more."""

_BLOCK = 4096


def descent_lists(embeddings: npt.NDArray[np.float32], k: int) -> Iterator[Block]:
    """Nearly the k nearest other rows of every row, a block at a time, in order; the same at every run.

    Memory beside `embeddings`: about 60 x k bytes a row.

    Args:
        embeddings: (n, dim) float32 unit rows, contiguous.
        k: at least 1; lowered to n - 1.

    Raises:
        MissingExtra: PyNNDescent is not installed.
    """
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise MissingExtra("nearest-neighbour descent", "descent") from error
    import numpy as np

    if len(embeddings) <= _FEW:
        yield from exact_lists(embeddings, k)
        return
    kept = min(int(_WIDER * k) + 1, len(embeddings) - 1)
    candidates, _ = NNDescent(embeddings, metric="dot", n_neighbors=kept, random_state=0).neighbor_graph
    for block in blocks_of(len(embeddings), _BLOCK):
        own = np.arange(block.start, block.stop)
        yield Block(block.start, *canonical_order(embeddings, own, candidates[block].astype(np.int64), k))
