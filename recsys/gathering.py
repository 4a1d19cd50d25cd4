"""Vectors of papers, gathered from the shards in which they lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recsys.errors import IndexDamaged
from recsys.store.built import Built, Embedded, Shard
from recsys.vectors import read_shard

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def vectors_of(folder: Path, built: Built, digest: str, papers: Sequence[Embedded]) -> npt.NDArray[np.float32]:
    """The vectors of some papers, in their order: (m, dim) float32 unit rows.

    Raises:
        IndexDamaged: a shard is absent, damaged, or not of the texts that it is said to be of.
    """
    import numpy as np

    shards = built.shards(digest)
    embeddings = np.empty((len(papers), shards[0].dim if shards else 1), dtype=np.float32)
    of_paper = np.array([paper.shard for paper in papers], dtype=np.int64)
    positions = np.array([paper.position for paper in papers], dtype=np.int64)
    if not np.isin(of_paper, [shard.shard for shard in shards]).all():
        raise IndexDamaged(f"{folder} has papers whose vectors lie in no known shard", "recsys doctor --repair")
    by_shard = np.argsort(of_paper, kind="stable")
    for shard in shards:
        first, last = np.searchsorted(of_paper[by_shard], [shard.shard, shard.shard + 1])
        if len(mine := by_shard[first:last]):
            embeddings[mine] = read_checked(folder, built, shard)[positions[mine]]
    return embeddings


def read_checked(folder: Path, built: Built, shard: Shard) -> npt.NDArray[np.float32]:
    """A shard's vectors, after checking that they are what was written and belong to the texts that they name."""
    built.check_shard(shard)
    return read_shard(folder / "vectors", shard.sha256, rows=shard.rows, dim=shard.dim)
