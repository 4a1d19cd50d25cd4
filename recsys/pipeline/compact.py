"""Compact: many small shards, and those mostly of texts that no paper has any more, written together anew."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from recsys.store.built import Built, Shard
from recsys.store.connection import transaction
from recsys.vectors import read_stored, sweep, write_stored

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SHARD_ROWS = 1024
"""Texts a shard: the most work that an interruption can lose."""

_SMALL = SHARD_ROWS // 2
_SMALL_ALLOWED = 32
"""Small shards, one a nightly update, that are let be."""


def compact(connection: sqlite3.Connection, folder: Path, digest: str) -> int:
    """Write the vectors of wasteful shards into as few as hold them, bit for bit; returns how many were replaced.

    A shard is wasteful that has few rows in use. Nothing is done while there are few of these. Call under the writer's
    lock.

    Raises:
        IndexDamaged: one of the shards is damaged.
    """
    import numpy as np

    built = Built(connection)
    in_use = built.use_counts(digest)
    wasteful = [shard for shard in built.shards(digest) if in_use.get(shard.shard, 0) < _SMALL]
    if len(wasteful) <= _SMALL_ALLOWED:
        return 0
    kept = [_used(folder, built, shard) for shard in wasteful]
    texts = [text_hash for hashes, _ in kept for text_hash in hashes]
    stored = np.concatenate([rows for _, rows in kept])
    written = [
        (write_stored(folder / "vectors", stored[start : start + SHARD_ROWS]), texts[start : start + SHARD_ROWS])
        for start in range(0, len(texts), SHARD_ROWS)
    ]
    with transaction(connection):
        built.drop_shards(wasteful)
        for sha256, hashes in written:
            built.add_shard(digest, sha256, stored.shape[1], hashes)
    sweep(folder / "vectors", built.shard_files())
    return len(wasteful)


def _used(folder: Path, built: Built, shard: Shard) -> tuple[list[bytes], npt.NDArray[np.float16]]:
    """The text hashes and stored rows of the vectors that some paper's text has."""
    built.check_shard(shard)
    used = built.used(shard)
    stored = read_stored(folder / "vectors", shard.sha256, rows=shard.rows, dim=shard.dim)
    return [text_hash for _, text_hash in used], stored[[position for position, _ in used]]
