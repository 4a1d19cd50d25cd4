"""Refresh: the lists of the last build brought up to date, for the papers that came, changed and went since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from recsys.allpairs.incremental import Floors, compare_fresh, merge
from recsys.neighbors import Lists, empty_lists, neighbors_of
from recsys.pipeline.listable import Listable
from recsys.pipeline.packing import pack, unpack
from recsys.store.built import ListEnds, StoredList

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

REFILL_BELOW = 30
"""Length at which a list that lost members is computed again: what is shown and half as much to spare."""

_WORTH_WHILE = 0.25
"""Share of papers that may have changed for a refresh to be less work than a build from scratch."""


_LISTS_AT_ONCE = 4096
"""Stored lists looked at together."""


@dataclass(frozen=True)
class Difference:
    """The papers of a build and those there are now.

    Attributes:
        ends: where the build's lists end, by row.
        stays: (s,) bool: which of them are of a paper that is listed now with the same vector.
        came: (n,) bool: which of today's papers came or have another vector.
    """

    listable: Listable
    ends: ListEnds
    stays: npt.NDArray[np.bool_]
    came: npt.NDArray[np.bool_]

    @classmethod
    def find(cls, listable: Listable) -> Difference:
        """Compare what is stored with what there is."""
        import numpy as np

        papers, ends = listable.papers, listable.built.list_ends()
        positions = listable.positions_of(ends.rows)
        stays = positions >= 0
        stays[stays] = papers.text_hashes[positions[stays]] == ends.text_hashes[stays]
        came = np.ones(len(papers), dtype=bool)
        came[positions[stays]] = False
        return cls(listable, ends, stays, came)

    @cached_property
    def fresh(self) -> npt.NDArray[np.int64]:
        """(m,) int64 positions of the papers that came or whose vector changed."""
        return self.came.nonzero()[0]

    @property
    def gone(self) -> list[int]:
        """Rows whose list must go: their paper is listed no more."""
        rows: list[int] = self.ends.rows[self.listable.positions_of(self.ends.rows) < 0].tolist()
        return rows

    @property
    def is_small(self) -> bool:
        """Whether a refresh is worth while."""
        return len(self.fresh) + int((~self.stays).sum()) <= _WORTH_WHILE * len(self.came)

    def positions_of(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """The positions of rows whose papers stayed; -1 for every other row, and for -1."""
        import numpy as np

        positions = self.listable.positions_of(rows)
        return np.where(self.came[positions], -1, positions)


class Refreshed:
    """Lists brought up to date: those of the papers that came are at hand, the others are made as they are asked for.

    Attributes:
        computed: how many lists were computed from scratch: those of the papers that came, and those that became too
            short.
        repaired: how many others changed.
    """

    def __init__(self, difference: Difference, k: int) -> None:
        listable, fresh = difference.listable, difference.fresh
        self.computed = len(fresh)
        self.repaired = 0
        self._difference = difference
        self._own, self._entering = compare_fresh(listable.embeddings, k, _floors(difference), fresh)
        self._searchable = _searchable(difference)

    def lists(self) -> Iterator[StoredList]:
        """The lists that are not as they were stored, those of the papers that came first.

        Raises:
            IndexDamaged: a stored list that changes is damaged.
        """
        import numpy as np

        fresh = self._difference.fresh
        yield from self._packed(fresh, self._own)
        touched = np.setdiff1d(np.union1d(self._entering.lists, _lost(self._difference)), fresh)
        for start in range(0, len(touched), _LISTS_AT_ONCE):
            own = touched[start : start + _LISTS_AT_ONCE]
            stored = _stored(self._difference, self._own.positions.shape[1], own)
            lists = merge(stored, self._entering.into(own))
            self._refill(own, lists)
            yield from self._packed(own, lists)

    def _refill(self, own: npt.NDArray[np.int64], lists: Lists) -> None:
        """Compute again what became too short."""
        import numpy as np

        n, k = len(self._difference.came), lists.positions.shape[1]
        enough = min(REFILL_BELOW, k, n - 1)
        short = np.flatnonzero(lists.positions[:, enough - 1] < 0)
        if len(short):
            found = neighbors_of(self._difference.listable.embeddings, own[short], k)
            lists.positions[short], lists.scores[short] = found
        self.computed += len(short)
        self.repaired += len(own) - len(short)

    def _packed(self, own: npt.NDArray[np.int64], lists: Lists) -> Iterator[StoredList]:
        """Lists as they are stored."""
        listable = self._difference.listable
        rows, hashes = listable.rows[own].tolist(), listable.papers.text_hashes[own].tolist()
        searchable = self._searchable[own].tolist()
        return map(StoredList, rows, pack(lists, listable.rows), hashes, searchable)


def _searchable(difference: Difference) -> npt.NDArray[np.bool_]:
    """(n,) bool: which papers are in the build's search file with the vector that they have now."""
    import numpy as np

    unsearchable = np.array(sorted(difference.listable.built.unsearchable_rows()), dtype=np.int64)
    return ~(difference.came | np.isin(difference.listable.rows, unsearchable))


def _floors(difference: Difference) -> Floors:
    """The floor of every position; none where a list held every other paper of its build."""
    import numpy as np

    n, ends = len(difference.listable.papers), difference.ends
    known = difference.stays & (ends.lengths > 0)
    own = difference.positions_of(ends.rows[known])
    whole = ends.lengths[known] >= len(ends) - 1
    floors = Floors(np.full(n, -np.inf, dtype=np.float32), np.full(n, -1, dtype=np.int64))
    floors.scores[own] = np.where(whole, -np.inf, ends.scores[known])
    floors.positions[own] = difference.positions_of(ends.last[known].astype(np.int64))
    return floors


def _lost(difference: Difference) -> npt.NDArray[np.int64]:
    """Positions of the lists that stay but name a paper that does not."""
    import numpy as np

    found = [difference.fresh[:0]]
    if not difference.stays.all():
        stored = difference.listable.built.stored_lists()
        while some := list(islice(stored, _LISTS_AT_ONCE)):
            named, _ = unpack([one.neighbors for one in some])
            holed = ((named >= 0) & (difference.positions_of(named) < 0)).any(axis=1)
            found.append(_positions(difference, some)[holed])
    lost = np.sort(np.concatenate(found))
    return lost[lost >= 0]


def _stored(difference: Difference, k: int, positions: npt.NDArray[np.int64]) -> Lists:
    """The stored lists of some positions, in order, at today's positions; -1 for what went."""
    import numpy as np

    lists = empty_lists(len(positions), k)
    some = list(difference.listable.built.stored_lists(difference.listable.rows[positions].tolist()))
    rows, scores = unpack([one.neighbors for one in some], k)
    places = np.searchsorted(positions, _positions(difference, some))
    members = difference.positions_of(rows)
    lists.positions[places], lists.scores[places] = members, np.where(members < 0, -np.inf, scores)
    return lists


def _positions(difference: Difference, some: list[StoredList]) -> npt.NDArray[np.int64]:
    """The positions of the papers of some lists."""
    import numpy as np

    return difference.positions_of(np.array([one.row for one in some], dtype=np.int64))
