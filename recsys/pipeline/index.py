"""Index: the related list of every paper, precomputed, published in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from recsys import registry
from recsys.encoders.base import Fingerprint
from recsys.errors import IndexStale, RecsysError
from recsys.files import publish, sweep
from recsys.neighbors import all_neighbors, default_kind
from recsys.pipeline.progress import Progress, Silent
from recsys.search.base import SearchIndex
from recsys.store.built import Build, Built, Embedded, pack_neighbors
from recsys.store.corpus import Corpus
from recsys.store.schema import transaction, writing
from recsys.vectors import read_shard

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

K = 40
"""Neighbours kept of each paper: twice what is shown, so that a list survives the loss of some."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What was built.

    Attributes:
        papers: papers that have a list now.
        pending: papers that would have one if they had a vector.
        kind: the search kind.
        k: neighbours kept of each.
    """

    papers: int
    pending: int
    kind: str
    k: int

    def __str__(self) -> str:
        more = f"; {self.pending:,} papers have no vector yet: recsys update" if self.pending else ""
        return f"lists of {self.papers:,} papers, {self.k} neighbours each, {self.kind} search{more}"


def index(index: str | Path, *, kind: str = "auto", k: int = K, progress: Progress | None = None) -> IndexReport:
    """Compute the k nearest of every embedded paper and publish them; readers see the old build until the end.

    All vectors are held in memory as float32, once here and once in the search index: 2 x n x dim x 4 bytes.

    Args:
        index: the index folder.
        kind: a name of `registry.SEARCH`, or `auto` (exact up to 200,000 papers).
        k: neighbours kept of each, at least 1.
        progress: told how many lists are done.

    Raises:
        IndexMissing: nothing was ingested there.
        IndexStale: nothing was embedded there.
        IndexDamaged: a vector file is absent or damaged.
        IndexBusy: another process is writing.
    """
    if kind != "auto" and kind not in registry.SEARCH:
        raise RecsysError(f"no search kind {kind!r}", f"use one of: auto, {', '.join(registry.SEARCH)}")
    import numpy as np

    folder = Path(index)
    with writing(folder) as connection:
        built, corpus = Built(connection), Corpus(connection)
        digest = _digest(built, folder)
        papers = list(built.embedded(digest))
        embeddings = gather(folder, built, digest, papers)
        kind = default_kind(len(papers)) if kind == "auto" else kind
        rows = np.array([paper.row for paper in papers], dtype=np.int64)
        searcher: SearchIndex = registry.load(registry.SEARCH, kind).build(embeddings, rows)
        lists = _lists(rows, embeddings, searcher, k, progress or Silent())
        with transaction(connection):
            built.replace_lists(lists)
            name = "" if searcher.exact else publish(folder / "search", ".faiss", searcher.save)
            built.add_build(_build(digest, kind, name, len(papers), k, corpus.revision))
        sweep(folder / "search", {name}, ".faiss")
        pending = corpus.counts()["recommendable"] - len(papers) - len(built.quarantined(digest))
    return IndexReport(len(papers), pending, kind, k)


def _digest(built: Built, folder: Path) -> str:
    stored = built.fingerprint()
    if stored is None:
        raise IndexStale(f"no vectors at {folder}", f"recsys update --index {folder}")
    return Fingerprint.from_json(stored).digest


def gather(folder: Path, built: Built, digest: str, papers: Sequence[Embedded]) -> npt.NDArray[np.float32]:
    """The papers' vectors as one (n, dim) float32 matrix of unit rows, in their order."""
    import numpy as np

    shards = built.shards(digest)
    embeddings = np.empty((len(papers), shards[0].dim if shards else 1), dtype=np.float32)
    of_paper = np.array([paper.shard for paper in papers], dtype=np.int64)
    positions = np.array([paper.position for paper in papers], dtype=np.int64)
    for shard in shards:
        mine = np.flatnonzero(of_paper == shard.shard)
        if len(mine):
            vectors = read_shard(folder / "vectors", shard.sha256, rows=shard.rows, dim=shard.dim)
            embeddings[mine] = vectors[positions[mine]]
    return embeddings


def _lists(
    rows: npt.NDArray[np.int64],
    embeddings: npt.NDArray[np.float32],
    searcher: SearchIndex,
    k: int,
    progress: Progress,
) -> Iterator[tuple[int, bytes]]:
    """(row, packed neighbours) of every paper, in paper-id order."""
    progress.start("listing", len(rows))
    for start, positions, scores in all_neighbors(embeddings, k, searcher, ids=rows):
        for row, nearest, values in zip(rows[start:].tolist(), positions, scores, strict=False):
            found = nearest >= 0
            yield row, pack_neighbors(rows[nearest[found]].tolist(), values[found].tolist())
        progress.advance(len(positions))


def _build(digest: str, kind: str, search_file: str, papers: int, k: int, revision: int) -> Build:
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return Build(created, digest, kind, search_file, papers, k, revision)
