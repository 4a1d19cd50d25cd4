"""Ingest: files of arXiv metadata into the corpus of an index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recsys import registry
from recsys.errors import RecsysError, UnknownName, UnreadableInput
from recsys.paper import Paper
from recsys.pipeline.progress import Progress, Silent
from recsys.sources.base import Reject, Source, peek
from recsys.sources.detection import detect
from recsys.sources.opening import expand, open_stream
from recsys.store.connection import transaction, writing
from recsys.store.corpus import Changes, Corpus, RejectedRecord
from recsys.text.terminal import readable

_BATCH = 5000
"""Records a transaction: what a kill can cost, and what is held in memory."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of the records read: `read` = `stored` + `updated` + `unchanged` + `rejected`.

    Attributes:
        stored: papers that were not there before.
        updated: papers replaced by a newer record.
        unchanged: records that brought nothing newer.
        rejected: records refused; `Library.rejects` says why.
        unreadable: one line a file that could not be read to its end.
    """

    stored: int = 0
    updated: int = 0
    unchanged: int = 0
    rejected: int = 0
    unreadable: tuple[str, ...] = field(default=())

    @property
    def read(self) -> int:
        """Records read."""
        return self.stored + self.updated + self.unchanged + self.rejected

    def __str__(self) -> str:
        return (
            f"read {self.read:,} = stored {self.stored:,} + updated {self.updated:,}"
            f" + unchanged {self.unchanged:,} + rejected {self.rejected:,}"
        )


def ingest(
    paths: Iterable[str | Path],
    index: str | Path,
    *,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    wait: bool = False,
    progress: Progress | None = None,
) -> IngestReport:
    """Read files into the corpus; what a good record says is kept whatever its neighbours hold.

    Args:
        paths: files, folders, globs, or `-` for stdin; compressed or not.
        index: the index folder; made where it does not exist.
        format: a name of `registry.SOURCES`, or `auto` to look at each file's content.
        columns: for tables, field name -> column name.
        wait: whether to wait for another writer instead of refusing.
        progress: told how many records were read.

    Raises:
        UnreadableInput: a path does not exist; nothing was ingested.
        RecsysError: `format` is unknown.
        IndexBusy: another process is writing.
    """
    if format != "auto" and format not in registry.SOURCES:
        raise UnknownName(f"no format {format!r}", f"use one of: auto, {', '.join(registry.SOURCES)}")
    inputs = expand([str(path) for path in paths])
    progress = progress or Silent()
    progress.start("ingesting", None)
    total = IngestReport()
    with writing(Path(index), create=True, wait=wait) as connection:
        for path in inputs:
            for part in _ingest_file(connection, path, format, dict(columns or {})):
                total = _sum(total, part)
                progress.advance(part.read)
    return total


def _sum(total: IngestReport, part: IngestReport) -> IngestReport:
    return IngestReport(
        total.stored + part.stored,
        total.updated + part.updated,
        total.unchanged + part.unchanged,
        total.rejected + part.rejected,
        total.unreadable + part.unreadable,
    )


def _ingest_file(
    connection: sqlite3.Connection, path: str, name: str, columns: dict[str, str]
) -> Iterator[IngestReport]:
    """Ingest one input, a report a batch; a file that ends in damage keeps what came before it."""
    try:
        with open_stream(path) as (stream, filename):
            source = _source(name, peek(stream), filename, path)
            for number, batch in enumerate(_batches(source.read(stream, columns))):
                yield _store_batch(connection, batch, readable(path), first=number == 0)
    except RecsysError as error:
        where = "" if path in error.message else f"{path}: "
        hint = f" [{error.hint}]" if error.hint else ""
        yield IngestReport(unreadable=(f"{where}{error.message}{hint}",))


def _source(name: str, head: bytes, filename: str, path: str) -> Source:
    found = detect(head, filename) if name == "auto" else name
    if found is None:
        raise UnreadableInput(f"{path}: no reader recognises this content")
    source: Source = registry.load(registry.SOURCES, found)()
    return source


def _batches(records: Iterator[Paper | Reject]) -> Iterator[list[Paper | Reject]]:
    """Group records; what was read before an error is yielded before the error is raised."""
    batch: list[Paper | Reject] = []
    try:
        for record in records:
            batch.append(record)
            if len(batch) == _BATCH:
                yield batch
                batch = []
    except RecsysError:
        yield batch
        raise
    yield batch


def _store_batch(
    connection: sqlite3.Connection, batch: Sequence[Paper | Reject], path: str, *, first: bool
) -> IngestReport:
    corpus = Corpus(connection)
    papers = [record for record in batch if isinstance(record, Paper)]
    rejects = [record for record in batch if isinstance(record, Reject)]
    with transaction(connection):
        if first:
            corpus.forget_rejects(path)
        changes: Changes = corpus.upsert(papers)
        corpus.add_rejects(RejectedRecord(path, r.line, r.reason, r.excerpt) for r in rejects)
        if changes.stored or changes.updated:
            corpus.bump_revision()
    return IngestReport(changes.stored, changes.updated, changes.unchanged, len(rejects))
