"""What lists are made of: the papers that take part, and their vectors as one matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from recsys.gathering import vectors_of
from recsys.store.built import Built, Embedded
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
    papers: list[Embedded]

    @classmethod
    def gather(cls, folder: Path, built: Built, corpus: Corpus, digest: str) -> Listable:
        """Find the works of the corpus, and the papers that stand for them and have a vector."""
        folds = find_folds(corpus)
        folded = {fold.row for fold in folds}
        papers = [paper for paper in built.embedded(digest) if paper.row not in folded]
        return cls(folder, built, digest, folds, papers)

    @cached_property
    def rows(self) -> npt.NDArray[np.int64]:
        """(n,) int64: each paper's row in the store."""
        import numpy as np

        return np.array([paper.row for paper in self.papers], dtype=np.int64)

    @cached_property
    def embeddings(self) -> npt.NDArray[np.float32]:
        """(n, dim) float32 unit rows; n x dim x 4 bytes.

        Raises:
            IndexDamaged: a shard is absent, damaged, or not of the texts that it is said to be of.
        """
        return vectors_of(self.folder, self.built, self.digest, self.papers)
