"""Blocks of papers compared, each pair once for both, by threads: what a row finds goes to its block's best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING

from recsys.allpairs.best import LOWEST, Best, Entries
from recsys.allpairs.products import Product
from recsys.allpairs.tiles import Tile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


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
    from threadpoolctl import threadpool_limits

    best = [Best(block.stop - block.start, width) for block in blocks]
    queue = _Queue(tiles, done)

    def work() -> None:
        for tile in queue:
            _compare(product, blocks, tile, best, width)

    with threadpool_limits(1, "blas"), ThreadPoolExecutor(threads) as pool:
        workers = [pool.submit(work) for _ in range(threads)]
        try:
            for worker in workers:
                worker.result()
        finally:
            queue.close()
    return best


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


def _compare(product: Product, blocks: Sequence[slice], tile: Tile, best: Sequence[Best], width: int) -> None:
    import numpy as np

    rows, columns = blocks[tile.rows], blocks[tile.columns]
    scores = product(rows, columns)
    if tile.rows == tile.columns:
        np.fill_diagonal(scores, -np.inf)
    _add(best[tile.rows], scores, columns.start, width)
    if tile.rows != tile.columns:
        _add_columns(best[tile.columns], scores, rows.start)


def _add(best: Best, scores: npt.NDArray[np.float32], start: int, width: int) -> None:
    """Let the (r, c) scores of a block's rows compete."""
    if best.floors.max() == LOWEST:
        best.raise_floors(_rough_floors(scores, width))
    rows, columns = _where(scores >= best.floors[:, None])
    best.add(Entries(rows, columns + start, scores[rows, columns]))


def _add_columns(best: Best, scores: npt.NDArray[np.float32], start: int) -> None:
    """Let the (c, r) scores of a block's rows compete."""
    others, rows = _where(scores >= best.floors)
    best.add(Entries(rows, others + start, scores[others, rows]))


def _rough_floors(scores: npt.NDArray[np.float32], width: int) -> npt.NDArray[np.float32]:
    """Floors without sorting: of `width` groups of columns, the worst group's best; none where there are too few."""
    import numpy as np

    size = scores.shape[1] // width
    if not size:
        return np.full(len(scores), LOWEST, dtype=np.float32)
    groups = scores[:, : size * width].reshape(len(scores), width, size)
    floors: npt.NDArray[np.float32] = groups.max(axis=2).min(axis=1)
    return floors


def _where(true: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows and columns of what is true: `numpy.nonzero`, but forty times faster where that is little."""
    import numpy as np

    rows, columns = np.divmod(np.flatnonzero(true), true.shape[1])
    return rows, columns
