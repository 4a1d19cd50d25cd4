"""Refresh: the lists of the last build brought up to date, for the papers that came, changed and went since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from recsys import registry
from recsys.incremental import Floors, merge
from recsys.neighbors import Lists, empty_lists, neighbors_of
from recsys.pipeline.listable import Listable
from recsys.pipeline.packing import pack, unpack
from recsys.store.built import StoredList

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

REFILL_BELOW = 30
"""Length at which a list that lost members is computed again: what is shown and half as much to spare."""

_WORTH_WHILE = 0.25
"""Share of papers that may have changed for a refresh to be less work than a build from scratch."""


@dataclass(frozen=True)
class Difference:
    """The papers of a build and those there are now.

    Attributes:
        stored: the build's lists, by row.
        stays: (s,) bool: which of them are of a paper that is listed now with the same vector.
        fresh: (m,) int64 positions of the papers that came or whose vector changed.
    """

    listable: Listable
    stored: list[StoredList]
    stays: npt.NDArray[np.bool_]
    fresh: npt.NDArray[np.int64]

    @classmethod
    def find(cls, listable: Listable) -> Difference:
        """Compare what is stored with what there is.

        Raises:
            IndexDamaged: a stored list is damaged.
        """
        import numpy as np

        stored = list(listable.built.stored_lists())
        now = {paper.row: paper.text_hash for paper in listable.papers}
        before = {one.row: one.text_hash for one in stored}
        stays = np.array([now.get(one.row) == one.text_hash for one in stored], dtype=bool)
        came = [paper.text_hash != before.get(paper.row) for paper in listable.papers]
        return cls(listable, stored, stays, np.flatnonzero(np.array(came, dtype=bool)))

    @property
    def gone(self) -> list[int]:
        """Rows whose list must go: their paper is listed no more."""
        listed = set(self.listable.rows.tolist())
        return [one.row for one in self.stored if one.row not in listed]

    @property
    def is_small(self) -> bool:
        """Whether a refresh is worth while."""
        return len(self.fresh) + int((~self.stays).sum()) <= _WORTH_WHILE * len(self.listable.papers)

    @cached_property
    def positions(self) -> npt.NDArray[np.int64]:
        """Row -> position of the papers that stayed; -1 for every other row."""
        import numpy as np

        highest = max([one.row for one in self.stored] + self.listable.rows.tolist(), default=0)
        of_row = np.full(highest + 2, -1, dtype=np.int64)  # the last place answers for row -1
        of_row[self.listable.rows] = np.arange(len(self.listable.rows))
        of_row[[one.row for one, stays in zip(self.stored, self.stays, strict=True) if not stays]] = -1
        return of_row


class Refreshed:
    """Lists brought up to date.

    Attributes:
        lists: (n, k) of every position.
        changed: (c,) positions of the lists that are not as they were stored, those of the fresh papers among them.
        refilled: how many were computed again, having become too short.
    """

    def __init__(self, difference: Difference, k: int) -> None:
        import numpy as np

        listable, fresh = difference.listable, difference.fresh
        before, floors, lost = _as_stored(difference, k)
        self.lists, entered, unsure = merge(listable.embeddings, before, floors, fresh)
        enough = min(REFILL_BELOW, k, len(listable.papers) - 1)
        short = np.flatnonzero((self.lists.positions[:, enough - 1] < 0) & lost) if enough > 0 else fresh[:0]
        short = np.setdiff1d(short, fresh)
        self._compute(listable, np.union1d(short, unsure), k)
        self.refilled = len(short)
        self.changed = np.union1d(entered, np.flatnonzero(lost))

    def _compute(self, listable: Listable, own: npt.NDArray[np.int64], k: int) -> None:
        import numpy as np

        if len(own):
            positions = np.arange(len(listable.papers))
            searcher = registry.load(registry.SEARCH, "flat").build(listable.embeddings, positions)
            found = neighbors_of(listable.embeddings, own, k, searcher)
            self.lists.positions[own], self.lists.scores[own] = found


def _as_stored(difference: Difference, k: int) -> tuple[Lists, Floors, npt.NDArray[np.bool_]]:
    """The stored lists at today's positions, their floors, and (n,) which of them lost a member."""
    import numpy as np

    of_row, n = difference.positions, len(difference.listable.papers)
    kept = [one for one, stays in zip(difference.stored, difference.stays, strict=True) if stays]
    rows, scores = unpack([one.neighbors for one in kept], k)
    own = of_row[[one.row for one in kept]]
    lists = empty_lists(n, k)
    members = of_row[rows]
    lists.positions[own], lists.scores[own] = members, np.where(members < 0, -np.inf, scores)
    lost = np.zeros(n, dtype=bool)
    lost[own] = ((members < 0) & (rows >= 0)).any(axis=1)
    lengths = (rows >= 0).sum(axis=1)
    ends = np.maximum(lengths - 1, 0)[:, None]
    whole = lengths >= len(difference.stored) - 1
    floors = Floors(np.full(n, -np.inf, dtype=np.float32), np.full(n, -1, dtype=np.int64))
    floors.scores[own] = np.where(whole, -np.inf, np.take_along_axis(scores, ends, axis=1)[:, 0])
    floors.positions[own] = np.take_along_axis(members, ends, axis=1)[:, 0]
    return lists, floors, lost


def refreshed_lists(difference: Difference, refreshed: Refreshed) -> Iterator[StoredList]:
    """The changed lists, to be stored."""
    listable, changed = difference.listable, refreshed.changed
    of_file = {one.row for one in difference.stored if one.searchable}
    fresh = set(difference.fresh.tolist())
    some = Lists(refreshed.lists.positions[changed], refreshed.lists.scores[changed])
    for position, packed in zip(changed.tolist(), pack(some, listable.rows), strict=True):
        paper = listable.papers[position]
        searchable = position not in fresh and paper.row in of_file
        yield StoredList(paper.row, packed, paper.text_hash, searchable)
