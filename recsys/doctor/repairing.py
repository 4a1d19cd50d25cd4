"""Mend what the doctor found: save a damaged database, encode damaged vectors again, make wrong lists anew."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

from recsys.doctor.examination import Examination, examine
from recsys.doctor.salvage import salvage
from recsys.errors import IndexDamaged, RecsysError
from recsys.pipeline.index import K
from recsys.pipeline.progress import Progress
from recsys.pipeline.update import update
from recsys.store.built import Build, Built
from recsys.store.connection import reading
from recsys.store.lock import writer_lock

_log = logging.getLogger(__name__)

_OF_THE_DATABASE = {"unreadable", "database-damaged", "record-damaged", "record-misfiled", "id-odd", "vectors-lost"}
"""Findings after which nothing in the SQLite file is trusted unread."""


def repair(
    index: str | Path, *, deep: bool = False, wait: bool = False, progress: Progress | None = None
) -> Examination:
    """Mend an index, and examine it again.

    A damaged database is replaced by one with all that can be read of it; the damaged file is kept under another name.
    Vectors whose files are damaged are made again, and so are all lists if anything at all is wrong.

    Args:
        index: the index folder.
        deep: see `examine`; done before and after.
        wait: whether to wait for another writer instead of refusing.
        progress: told how far the work is.

    Returns:
        What is still found afterwards.

    Raises:
        IndexMissing: no index there.
        IndexDamaged: nothing can be saved.
        IndexBusy: another process is writing.
        EncoderUnavailable: vectors must be made again, and the encoder cannot be loaded.
    """
    folder = Path(index)
    before = examine(folder, deep=deep)
    if before.healthy:
        return before
    build = _build(folder)
    if {finding.code for finding in before.findings if finding.wrong} & _OF_THE_DATABASE:
        _save(folder, wait)
    _require_encoder(folder)
    kind, k = (build.kind, build.k) if build else ("auto", K)
    update(folder, kind=kind, k=k, rebuild=True, wait=wait, progress=progress)
    return examine(folder, deep=deep)


def _build(folder: Path) -> Build | None:
    """The published build, so that the new one is of its kind; None where that cannot be read."""
    with suppress(RecsysError), reading(folder) as connection:
        return Built(connection).build()
    return None


def _require_encoder(folder: Path) -> None:
    """Refuse to encode everything by another encoder than the one that is no longer known."""
    with reading(folder) as connection:
        built = Built(connection)
        if built.shard_files() and built.fingerprint() is None:
            raise IndexDamaged(
                f"which encoder made the vectors of {folder} cannot be read",
                f"recsys update --encoder NAME --index {folder}",
            )


def _save(folder: Path, wait: bool) -> None:
    with writer_lock(folder, wait=wait):
        saved = salvage(folder)
    _log.warning(
        "saved %s papers and %s vectors of the damaged database, which is kept as %s",
        f"{saved.rows['papers']:,}",
        f"{saved.rows['embeddings']:,}",
        saved.damaged,
    )
    if saved.lost_papers:
        _log.warning("%s papers were lost: ingest their source again", f"{saved.lost_papers:,}")
