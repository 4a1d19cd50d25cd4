"""Blocks of papers compared, each pair once for both, by threads: what a row finds goes to its block's best."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from recsys.allpairs.best import Best
from recsys.allpairs.products import Product
from recsys.allpairs.tiles import Tile

if TYPE_CHECKING:
    pass


def compare(
    product: Product,
    blocks: Sequence[slice],
    tiles: Iterable[Tile],
    width: int,
    threads: int,
    done: Callable[[Tile], None] = lambda tile: None,
) -> list[Best]:
    """The `width` best of each row, over the tiles given.

    Args:
        product: multiplies the blocks.
        blocks: slices of the rows, each at most `MOST_ROWS` long.
        tiles: pairs of blocks, each once; a block's first is best one that holds near papers.
        width: others kept of each row.
        threads: tiles compared at a time.
        done: told of each tile when it is done, one at a time.
    """
    best = [Best(block.stop - block.start, width) for block in blocks]
    queue = _Queue(tiles, done)

    def work() -> None:
        for tile in queue:
            _compare(product, blocks, tile, best)

    with multipliers(threads) as pool:
        working = [pool.submit(work) for _ in range(threads)]
        try:
            for one in working:
                one.result()
        finally:
            queue.close()
    return best


@contextmanager
def multipliers(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Threads of which each multiplies matrices by itself: what NumPy does between products then runs side by side."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"), ThreadPoolExecutor(threads) as pool:
        yield pool


def cpus() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Queue:
    """Tiles handed out to threads one by one, until there are no more or it was closed."""

    def __init__(self, tiles: Iterable[Tile], done: Callable[[Tile], None]) -> None:
        self._tiles = iter(tiles)
        self._done = done
        self._lock = Lock()

    def __iter__(self) -> Iterator[Tile]:
        while (tile := self._next()) is not None:
            yield tile
            with self._lock:
                self._done(tile)

    def _next(self) -> Tile | None:
        with self._lock:
            return next(self._tiles, None)

    def close(self) -> None:
        with self._lock:
            self._tiles = iter(())


def _compare(product: Product, blocks: Sequence[slice], tile: Tile, best: Sequence[Best]) -> None:
    import numpy as np

    rows, columns = blocks[tile.rows], blocks[tile.columns]
    scores = product(rows, columns)
    if tile.rows == tile.columns:
        np.fill_diagonal(scores, -np.inf)
    best[tile.rows].add_rows(scores, columns.start)
    if tile.rows != tile.columns:
        best[tile.columns].add_columns(scores, rows.start)
