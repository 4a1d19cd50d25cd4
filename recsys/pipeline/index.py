"""Index: the related list of every paper, precomputed, published in one transaction."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from recsys import registry
from recsys.allpairs.exact import exact_lists, tiles_of
from recsys.encoders.base import Fingerprint
from recsys.errors import IndexDamaged, IndexStale, UnknownName
from recsys.files import publish, require_space, sweep, verified
from recsys.neighbors import Block, Lists, all_neighbors, default_kind, empty_lists
from recsys.pipeline.listable import Listable
from recsys.pipeline.packing import pack
from recsys.pipeline.progress import Progress, Silent
from recsys.pipeline.refresh import Difference, Refreshed
from recsys.recall import DEPTH, evenly, recall
from recsys.store.built import Build, Built, StoredList, unpack_neighbors
from recsys.store.cards import StoredCards
from recsys.store.connection import transaction, writing
from recsys.store.corpus import Corpus

if TYPE_CHECKING:
    from recsys.search.base import SearchIndex

_log = logging.getLogger(__name__)

K = 40
"""Neighbours kept of each paper: twice what is shown, so that a list survives the loss of some."""

_STALE_FILE = 0.1
"""Share of papers that a search file may lack before it is built again; until then those are searched one by one."""

_LIST_OVERHEAD = 64
"""Bytes of a stored list beside its neighbours."""

_CARD = 1000
"""Bytes of a stored card, with room to spare."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What was built.

    Attributes:
        papers: papers that have a list now.
        pending: papers that would have one if they had a vector.
        kind: the search kind.
        k: neighbours kept of each.
        folded: papers that are shown as part of another.
        computed: lists computed from scratch: all of them, or those of new and changed papers and those that lost
            too many members.
        repaired: other lists that changed, by a paper that entered or left.
        recall: share of the true 20 nearest that the lists hold, measured on 1,000 papers; 1 where the search is exact.
    """

    papers: int
    pending: int
    kind: str
    k: int
    folded: int
    computed: int
    repaired: int
    recall: float

    def __str__(self) -> str:
        more = f"; {self.pending:,} papers have no vector yet: recsys update" if self.pending else ""
        fold = f", {self.folded:,} folded into others" if self.folded else ""
        found = f", recall@{DEPTH} {self.recall:.3f}" if self.recall < 1 else ""
        work = f" ({self.computed:,} computed, {self.repaired:,} repaired)"
        return f"lists of {self.papers:,} papers, {self.k} neighbours each, {self.kind} search{found}{work}{fold}{more}"


def index(
    index: str | Path,
    *,
    kind: str = "auto",
    k: int = K,
    incremental: bool = False,
    device: str = "auto",
    wait: bool = False,
    progress: Progress | None = None,
) -> IndexReport:
    """Compute the k nearest of every embedded paper and publish them; readers see the old build until the end.

    All vectors are held in memory as float32: n x dim x 4 bytes; once more where a search file is made.

    Args:
        index: the index folder.
        kind: one of `registry.KINDS`, or `auto` (exact up to 300,000 papers; when `incremental`, as it was).
        k: neighbours kept of each, at least 1.
        incremental: bring the stored lists up to date instead of computing all from scratch, where they allow it and
            few papers changed. While lists are exact, both give the same.
        device: that compares all papers where lists are exact: `auto`, `cpu`, or one that torch knows.
        wait: whether to wait for another writer instead of refusing.
        progress: told how many lists are done.

    Raises:
        IndexMissing: nothing was ingested there.
        IndexStale: nothing was embedded there.
        IndexDamaged: a vector file is absent or damaged.
        IndexBusy: another process is writing.
        EncoderUnavailable: no such device here.
    """
    if kind != "auto" and kind not in registry.KINDS:
        raise UnknownName(f"no search kind {kind!r}", f"use one of: auto, {', '.join(registry.KINDS)}")
    folder = Path(index)
    with writing(folder, wait=wait) as connection:
        work = _Work(connection, folder, k, device, progress or Silent())
        return (work.refreshed(kind) if incremental else None) or work.build(kind)


class _Work:
    """One build in the making, under the writer's lock."""

    def __init__(self, connection: sqlite3.Connection, folder: Path, k: int, device: str, progress: Progress) -> None:
        self._connection = connection
        self._folder = folder
        self._k = k
        self._device = device
        self._progress = progress
        self._built = Built(connection)
        self._corpus = Corpus(connection)
        self._cards = StoredCards(connection)
        self._listable = Listable.gather(folder, self._built, self._corpus, self._digest())

    def _digest(self) -> str:
        stored = self._built.fingerprint()
        if stored is None:
            raise IndexStale(f"no vectors at {self._folder}", f"recsys update --index {self._folder}")
        return Fingerprint.from_json(stored).digest

    def refreshed(self, kind: str) -> IndexReport | None:
        """Publish the stored lists, brought up to date; None where they must or may as well be made anew."""
        try:
            return self._refresh(kind)
        except IndexDamaged as error:  # where vectors are damaged, a build says so again
            _log.warning("%s: making every list anew", error.message)
            return None

    def _refresh(self, kind: str) -> IndexReport | None:
        build = self._built.build()
        difference = Difference.find(self._listable) if build and self._fits(build, kind) else None
        if build is None or difference is None or not difference.is_small:
            return None
        refreshed = self._repair(difference) if len(difference.fresh) or difference.gone else None
        with transaction(self._connection):
            self._built.drop_lists(difference.gone)
            self._built.put_lists(refreshed.lists() if refreshed else ())
            self._publish(build.kind, self._search_file(build))
        self._sweep()
        counts = (refreshed.computed, refreshed.repaired) if refreshed else (0, 0)
        return self._report(build.kind, *counts)

    def _fits(self, build: Build, kind: str) -> bool:
        """Whether the build is such a one as is asked for."""
        same = (build.fingerprint, build.k) == (self._listable.digest, self._k)
        return same and kind in ("auto", build.kind)

    def _repair(self, difference: Difference) -> Refreshed:
        self._progress.start("refreshing", len(difference.fresh))
        refreshed = Refreshed(difference, self._k)
        self._progress.advance(len(difference.fresh))
        return refreshed

    def _search_file(self, build: Build) -> str:
        """The build's search file, built again where it is damaged or lacks too many of the listed papers."""
        if not build.search_file:
            return ""
        if len(self._built.unsearchable(build.fingerprint)) <= _STALE_FILE * len(self._listable.papers):
            try:
                verified(self._folder / "search", build.search_file, ".faiss", "")
                return build.search_file
            except IndexDamaged as error:
                _log.warning("%s: making it anew", error.message)
        searcher = self._searcher(build.kind)
        self._built.mark_searchable()
        return publish(self._folder / "search", ".faiss", searcher.save)

    def build(self, kind: str) -> IndexReport:
        """Compute and publish every list."""
        listable, n = self._listable, len(self._listable.papers)
        kind = default_kind(n) if kind == "auto" else kind
        searched = kind not in registry.LISTS
        size = n * (8 * self._k + _LIST_OVERHEAD + _CARD)
        require_space(self._folder, size + (4 * listable.embeddings.size if searched else 0), "the index")
        searcher = self._searcher(kind) if searched else None
        with transaction(self._connection):
            self._cards.drop()
            self._built.replace_lists(self._all_lists(kind, searcher))
            self._publish(kind, publish(self._folder / "search", ".faiss", searcher.save) if searcher else "")
        self._sweep()
        return self._report(kind, n, 0)

    def _searcher(self, kind: str) -> SearchIndex:
        search: type[SearchIndex] = registry.load(registry.SEARCH, kind)
        return search.build(self._listable.embeddings, self._listable.rows)

    def _all_lists(self, kind: str, searcher: SearchIndex | None) -> Iterator[StoredList]:
        listable = self._listable
        for block in self._blocks(kind, searcher):
            own = slice(block.start, block.start + len(block.positions))
            packed = pack(Lists(block.positions, block.scores), listable.rows)
            hashes = listable.papers.text_hashes[own].tolist()
            yield from map(StoredList, listable.rows[own].tolist(), packed, hashes, repeat(True))
            self._progress.advance(len(block.positions))

    def _blocks(self, kind: str, searcher: SearchIndex | None) -> Iterator[Block]:
        """The lists: found by a search, or made all at once."""
        embeddings, rows = self._listable.embeddings, self._listable.rows
        if searcher is not None:
            blocks = all_neighbors(embeddings, self._k, searcher, ids=rows)
        elif kind == registry.EXACT:
            self._progress.start("comparing", tiles_of(len(rows)))
            blocks = exact_lists(embeddings, self._k, device=self._device, done=lambda tile: self._progress.advance(1))
        else:
            self._progress.start("comparing", None)
            blocks = registry.load(registry.LISTS, kind)(embeddings, self._k)
        for place, block in enumerate(blocks):
            if place == 0:
                self._progress.start("listing", len(rows))
            yield block

    def _publish(self, kind: str, search_file: str) -> None:
        """Note the build and its works; what an earlier encoder left is dropped. Call inside the transaction."""
        created = datetime.now(UTC).isoformat(timespec="seconds")
        n, revision = len(self._listable.papers), self._corpus.revision
        self._corpus.replace_folds(self._listable.folds)
        recall = 1.0 if kind == registry.EXACT else self._recall()
        self._built.add_build(Build(created, self._listable.digest, kind, search_file, n, self._k, revision, recall))
        self._built.keep_only(self._listable.digest)
        self._cards.fill()

    def _recall(self) -> float:
        """That of the lists as they are stored now."""
        own = evenly(len(self._listable.papers))
        rows = self._listable.rows[own].tolist()
        stored = {one.row: unpack_neighbors(one.neighbors) for one in self._built.stored_lists(rows)}
        scores = empty_lists(len(own), self._k).scores
        for place, row in enumerate(rows):
            found = stored[row].scores
            scores[place, : len(found)] = found
        return recall(self._listable.embeddings, own, scores)

    def _sweep(self) -> None:
        build = self._built.build()
        sweep(self._folder / "search", {build.search_file} if build else set(), ".faiss")
        sweep(self._folder / "vectors", self._built.shard_files(), ".npy")

    def _report(self, kind: str, computed: int, repaired: int) -> IndexReport:
        digest, papers = self._listable.digest, len(self._listable.papers)
        folds = self._listable.folds
        pending = self._corpus.counts()["listable"] - papers - len(self._built.quarantined(digest))
        build = self._built.build()
        recall = build.recall if build else 1.0
        return IndexReport(papers, pending, kind, self._k, len(folds), computed, repaired, recall)
