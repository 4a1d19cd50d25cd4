"""Vectors of papers, gathered from the shards in which they lie."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from recsys.errors import IndexDamaged
from recsys.store.built import Built, EmbeddedPapers, Shard
from recsys.vectors import read_shard, read_stored, unit_rows

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_ROWS_AT_ONCE = 128
"""Rows made float32 together: memory that stays in the cache and is used again; fresh memory costs more than the sums.
"""


def vectors_of(folder: Path, built: Built, digest: str, papers: EmbeddedPapers) -> npt.NDArray[np.float32]:
    """The vectors of some papers, in their order: (m, dim) float32 unit rows.

    Raises:
        IndexDamaged: a shard is absent, damaged, or not of the texts that it is said to be of.
    """
    import numpy as np

    shards = built.shards(digest)
    embeddings = np.empty((len(papers), shards[0].dim if shards else 1), dtype=np.float32)
    if not np.isin(papers.shards, [shard.shard for shard in shards]).all():
        raise IndexDamaged(f"{folder} has papers whose vectors lie in no known shard", "recsys doctor --repair")
    by_shard = np.argsort(papers.shards, kind="stable")
    bounds = np.searchsorted(papers.shards[by_shard], [[shard.shard, shard.shard + 1] for shard in shards]).tolist()

    def place(shard: Shard, mine: npt.NDArray[np.int64]) -> None:
        stored = read_stored(folder / "vectors", shard.sha256, rows=shard.rows, dim=shard.dim)
        for start in range(0, len(mine), _ROWS_AT_ONCE):
            some = mine[start : start + _ROWS_AT_ONCE]
            embeddings[some] = unit_rows(stored[papers.positions[some]])

    spans = zip(shards, bounds, strict=True)
    wanted = [(shard, by_shard[first:last]) for shard, (first, last) in spans if first < last]
    with ThreadPoolExecutor() as threads:  # what they do is done without the interpreter's lock
        placed = [threads.submit(place, *one) for one in wanted]
        built.check_shards(digest, [shard for shard, _ in wanted])
        for one in placed:
            one.result()
    return embeddings


def read_checked(folder: Path, built: Built, shard: Shard) -> npt.NDArray[np.float32]:
    """A shard's vectors, after checking that they are what was written and belong to the texts that they name."""
    built.check_shard(shard)
    return read_shard(folder / "vectors", shard.sha256, rows=shard.rows, dim=shard.dim)
