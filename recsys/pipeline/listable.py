"""What lists are made of: the papers that take part, and their vectors as one matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from recsys.gathering import vectors_of
from recsys.store.built import Built, EmbeddedPapers
from recsys.store.corpus import Corpus, Fold
from recsys.works import find_folds

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Listable:
    """The papers that take part in lists, by paper id: a paper's place here is its position.

    Attributes:
        folder: the index folder.
        built: what was built there.
        digest: of the vectors' fingerprint.
        folds: papers that are shown as part of another, and so take no part.
        papers: those that do.
    """

    folder: Path
    built: Built
    digest: str
    folds: list[Fold]
    papers: EmbeddedPapers

    @classmethod
    def gather(cls, folder: Path, built: Built, corpus: Corpus, digest: str) -> Listable:
        """Find the works of the corpus, and the papers that stand for them and have a vector."""
        import numpy as np

        folds = find_folds(corpus)
        papers = built.embedded(digest)
        shown = np.isin(papers.rows, [fold.row for fold in folds], invert=True)
        return cls(folder, built, digest, folds, papers.take(shown))

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """(n,) int64: each paper's row in the store."""
        return self.papers.rows

    def positions_of(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """The position of each row; -1 for one that takes no part, and for -1."""
        import numpy as np

        positions: npt.NDArray[np.int64] = self._of_row[np.minimum(rows, len(self._of_row) - 1)]
        return positions

    @cached_property
    def _of_row(self) -> npt.NDArray[np.int64]:
        """Row -> position; the last place answers for row -1 and for those beyond."""
        import numpy as np

        of_row = np.full(self.rows.max(initial=0) + 2, -1, dtype=np.int64)
        of_row[self.rows] = np.arange(len(self.rows))
        return of_row

    @cached_property
    def embeddings(self) -> npt.NDArray[np.float32]:
        """(n, dim) float32 unit rows; n x dim x 4 bytes.

        Raises:
            IndexDamaged: a shard is absent, damaged, or not of the texts that it is said to be of.
        """
        return vectors_of(self.folder, self.built, self.digest, self.papers)
