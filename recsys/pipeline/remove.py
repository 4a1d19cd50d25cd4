"""Remove: papers out of the corpus of an index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from recsys import arxiv_id
from recsys.store.connection import transaction, writing
from recsys.store.corpus import Corpus


@dataclass(frozen=True, slots=True)
class RemoveReport:
    """What was removed.

    Attributes:
        removed: ids that were there.
        absent: ids that were not.
    """

    removed: tuple[str, ...]
    absent: tuple[str, ...]

    def __str__(self) -> str:
        absent = f"; not there: {', '.join(self.absent)}" if self.absent else ""
        return f"removed {len(self.removed):,} papers{absent}"


def remove(paper_ids: Iterable[str], index: str | Path, *, wait: bool = False) -> RemoveReport:
    """Forget papers: they leave every list at once, and the next update fills their places.

    A removed paper comes back when it is ingested again.

    Args:
        paper_ids: in any spelling.
        index: the index folder.
        wait: whether to wait for another writer instead of refusing.

    Raises:
        InvalidArxivId: one is not an arXiv id; nothing is removed.
        IndexMissing: no index in that folder.
        IndexBusy: another process is writing.
    """
    wanted = list(dict.fromkeys(arxiv_id.parse(written).paper_id for written in paper_ids))
    with writing(Path(index), wait=wait) as connection, transaction(connection):
        corpus = Corpus(connection)
        removed = corpus.remove(wanted)
        if removed:
            corpus.bump_revision()
    return RemoveReport(tuple(removed), tuple(paper_id for paper_id in wanted if paper_id not in removed))
