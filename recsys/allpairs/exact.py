"""The exact list of every paper: found in fast arithmetic, scored again in float64, searched anew where in doubt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from recsys.allpairs.best import STEP, Best
from recsys.allpairs.comparing import compare, cpus
from recsys.allpairs.products import Product, choose_product
from recsys.allpairs.tiles import Tile, blocks_of, every_pair
from recsys.neighbors import Block, Lists, canonical_order, neighbors_of
from recsys.search.rescore import NEAR

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_BLOCK = 2048
"""Papers compared together: 16 MB of scores a thread, and vectors that stay in the cache."""

_MARGIN = 24
"""Candidates beyond the k-th: bfloat16 moves scores by up to 0.004, and 24 neighbours mostly span more."""


def exact_lists(
    embeddings: npt.NDArray[np.float32],
    k: int,
    *,
    product: Product | None = None,
    device: str = "auto",
    block: int = _BLOCK,
    done: Callable[[Tile], None] = lambda tile: None,
) -> Iterator[Block]:
    """The k nearest other rows of every row, a block at a time, in order.

    Memory beside `embeddings`: 16 x (k + 24) bytes a row, and 4 x block^2 bytes a thread.

    Args:
        embeddings: (n, dim) float32 unit rows, contiguous.
        k: at least 1; lowered to n - 1.
        product: multiplies blocks of `embeddings`; the fastest on `device` where None. No influence on the result.
        device: `auto`, `cpu`, or one that torch knows.
        block: rows compared together; no influence on the result.
        done: told of each two blocks that were compared.
    """
    n, threads = len(embeddings), cpus()
    product = product or choose_product(embeddings, threads, device)
    width, k = max(1, min(k + _MARGIN, n - 1)), min(k, n - 1)
    blocks = blocks_of(n, block)
    best = compare(product, blocks, every_pair(len(blocks)), width, threads, done)
    for here, found in zip(blocks, best, strict=True):
        yield Block(here.start, *_settled(embeddings, here, found, k, product.error, threads))


def tiles_of(n: int, block: int = _BLOCK) -> int:
    """How many times `exact_lists` calls `done` for n rows."""
    blocks = len(blocks_of(n, block))
    return blocks * (blocks + 1) // 2


def _settled(embeddings: npt.NDArray[np.float32], here: slice, best: Best, k: int, error: float, threads: int) -> Lists:
    """The lists of a block: what was kept in canonical order, and a search of those where more may belong."""
    import numpy as np

    own = np.arange(here.start, here.stop)
    candidates, scores = best.settle()
    with ThreadPoolExecutor(threads) as pool:
        parts = pool.map(lambda some: canonical_order(embeddings, own[some], candidates[some], k), _parts(own, threads))
        lists = Lists(*map(np.concatenate, zip(*parts, strict=True)))
    if k and candidates.shape[1] < len(embeddings) - 1:
        doubt = scores.min(axis=1) >= lists.scores[:, -1] - (error + STEP + NEAR)
        if doubt.any():
            lists.positions[doubt], lists.scores[doubt] = neighbors_of(embeddings, own[doubt], k)
    return lists


def _parts(own: npt.NDArray[np.int64], threads: int) -> list[slice]:
    return blocks_of(len(own), -(-len(own) // threads))
