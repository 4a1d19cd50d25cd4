"""What every check looks at: an open index, seen in one snapshot."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from recsys.encoders.base import Fingerprint
from recsys.errors import IndexDamaged
from recsys.gathering import vectors_of
from recsys.store.built import Build, Built, EmbeddedPapers
from recsys.store.corpus import Corpus

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Case:
    """An index under examination.

    Attributes:
        folder: the index folder.
        connection: open for reading, in a snapshot.
        deep: whether every row and file is to be looked at.
    """

    folder: Path
    connection: sqlite3.Connection
    deep: bool

    @property
    def built(self) -> Built:
        """What was built."""
        return Built(self.connection)

    @property
    def corpus(self) -> Corpus:
        """The papers."""
        return Corpus(self.connection)

    @cached_property
    def build(self) -> Build | None:
        """The published build; None where there is none, or its record is damaged."""
        try:
            return self.built.build()
        except IndexDamaged:
            return None

    @cached_property
    def fingerprint(self) -> Fingerprint | None:
        """What vectors are made by; None before the first, or where the record is damaged."""
        try:
            stored = self.built.fingerprint()
            return Fingerprint.from_json(stored) if stored else None
        except IndexDamaged:
            return None

    @property
    def has_own_lists(self) -> bool:
        """Whether there is a build, and it is of the vectors that the index has now."""
        return bool(self.build and self.fingerprint and self.build.fingerprint == self.fingerprint.digest)

    @cached_property
    def listable(self) -> EmbeddedPapers:
        """The papers that take part in lists now and have a vector, by paper id; none where no encoder is known."""
        digest = self.fingerprint.digest if self.fingerprint else ""
        return self.built.embedded(digest, folded=False)

    @cached_property
    def matrix(self) -> npt.NDArray[np.float32] | None:
        """(n, dim) float32: the vectors of `listable`; None where some are damaged, or there is no list to check."""
        if self.fingerprint is None or not self.has_own_lists:
            return None
        try:
            return vectors_of(self.folder, self.built, self.fingerprint.digest, self.listable)
        except IndexDamaged:
            return None

    @cached_property
    def stored_lists(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Positions (n, k) and scores (n, k) of the stored lists of `listable`; -1 and -inf where there is none."""
        import numpy as np

        assert self.build is not None, "only asked for where there is a build"
        place = {row: position for position, row in enumerate(self.listable.rows.tolist())}
        positions = np.full((len(place), self.build.k), -1, dtype=np.int64)
        scores = np.full((len(place), self.build.k), -np.inf, dtype=np.float32)
        for row, position in place.items():
            for column, (other, score) in enumerate(self._list(row)):
                if other in place:
                    positions[position, column], scores[position, column] = place[other], score
        return positions, scores

    def _list(self, row: int) -> list[tuple[int, float]]:
        try:
            stored = self.built.neighbors(row)
        except IndexDamaged:
            return []
        return stored.pairs() if stored else []

    @cached_property
    def ids(self) -> dict[int, str]:
        """Row -> paper id, of every paper."""
        return dict(self.connection.execute("SELECT row, paper_id FROM papers"))

    def command(self, words: str) -> str:
        """A command of recsys on this index."""
        return f"recsys {words} --index {self.folder}"
