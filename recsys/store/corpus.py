"""The corpus: papers in and out of the store, and the records that were rejected."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from recsys.paper import Paper

_FIELDS = (
    "paper_id, version, title, abstract, authors, categories, published, updated, comments, doi, journal_ref,"
    " withdrawn, source, rank"
)
_UPSERT = (
    f"INSERT INTO papers ({_FIELDS}, text_hash, title_key) VALUES ({', '.join('?' * 16)})"
    " ON CONFLICT (paper_id) DO UPDATE SET "
    + ", ".join(f"{c} = excluded.{c}" for c in f"{_FIELDS}, text_hash, title_key".split(", ")[1:])
)
RECOMMENDABLE = "withdrawn = 0 AND abstract <> ''"
"""SQL: the papers that take part in lists; the same rule as `Paper.recommendable`."""

_LOOKUP = 500
_encode = json.JSONEncoder(ensure_ascii=False).encode
_NOT_KEY = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of a batch: `stored` new, `updated` by a newer record, `unchanged`."""

    stored: int = 0
    updated: int = 0
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class RejectedRecord:
    """A row of the rejects table: where the record was, why it was refused, and how it began."""

    file: str
    line: int
    reason: str
    excerpt: str


def title_letters(title: str) -> str:
    """Letters and digits of a title in lower case: equal for titles that differ in spacing, case or punctuation."""
    return _NOT_KEY.sub("", title.lower())


def _title_key(title: str) -> int:
    """64 bits (BLAKE2b) of a title's letters, to look titles up by: an index of numbers is small and quick."""
    return int.from_bytes(blake2b(title_letters(title).encode(), digest_size=8).digest(), signed=True)


def newness(paper: Paper) -> tuple[Any, ...]:
    """A total order over records of one paper: the largest is the one to keep.

    Newest version first; at the same version a withdrawal, then the more trusted source, the later update, the
    record with more fields, the longer abstract (shortened copies are about), and last the fields themselves, so
    that no two different records tie and the order of arrival never matters.
    """
    fields = (paper.title, paper.abstract, paper.authors, paper.categories, paper.published, paper.comments)
    more = (paper.doi, paper.journal_ref)
    filled = sum(map(bool, fields + more))
    order = (paper.version, paper.withdrawn, paper.rank, paper.updated, filled, len(paper.abstract))
    return (*order, *fields, *more)


def _to_row(paper: Paper) -> tuple[Any, ...]:
    return (
        paper.paper_id,
        paper.version,
        paper.title,
        paper.abstract,
        _encode(paper.authors),
        " ".join(paper.categories),
        paper.published,
        paper.updated,
        paper.comments,
        paper.doi,
        paper.journal_ref,
        int(paper.withdrawn),
        paper.source,
        paper.rank,
        paper.text_hash,
        _title_key(paper.title),
    )


def _to_paper(row: Sequence[Any]) -> Paper:
    paper_id, version, title, abstract, authors, categories, published, updated, *rest = row
    comments, doi, journal_ref, withdrawn, source, rank = rest
    return Paper(
        paper_id,
        version,
        title,
        abstract,
        tuple(json.loads(authors)),
        tuple(categories.split()),
        published,
        updated,
        comments,
        doi,
        journal_ref,
        bool(withdrawn),
        source,
        rank,
    )


class Corpus:
    """The papers of one index, over an open connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def upsert(self, papers: Sequence[Paper]) -> Changes:
        """Store each paper unless what is stored is as new (see `newness`). Call inside a transaction."""
        best = self._stored({paper.paper_id for paper in papers})
        changed: dict[str, Paper] = {}
        stored = updated = 0
        for paper in papers:
            before = best.get(paper.paper_id)
            if before is not None and newness(paper) <= newness(before):
                continue
            stored, updated = (stored + 1, updated) if before is None else (stored, updated + 1)
            best[paper.paper_id] = changed[paper.paper_id] = paper
        self._connection.executemany(_UPSERT, map(_to_row, changed.values()))
        return Changes(stored, updated, len(papers) - stored - updated)

    def _stored(self, ids: set[str]) -> dict[str, Paper]:
        return {paper.paper_id: paper for paper in self.papers(ids)}

    def papers(self, ids: Iterable[str]) -> Iterator[Paper]:
        """The stored papers among `ids`, in no order."""
        wanted = list(ids)
        for start in range(0, len(wanted), _LOOKUP):
            some = wanted[start : start + _LOOKUP]
            marks = ", ".join("?" * len(some))
            yield from map(
                _to_paper,
                self._connection.execute(f"SELECT {_FIELDS} FROM papers WHERE paper_id IN ({marks})", some),
            )

    def paper(self, paper_id: str) -> Paper | None:
        """One paper by its canonical id, or None."""
        found = self._connection.execute(f"SELECT {_FIELDS} FROM papers WHERE paper_id = ?", (paper_id,))
        row = found.fetchone()
        return _to_paper(row) if row else None

    def row(self, paper_id: str) -> int | None:
        """The row number of a paper, stable for the life of the index, or None."""
        found = self._connection.execute("SELECT row FROM papers WHERE paper_id = ?", (paper_id,)).fetchone()
        return int(found[0]) if found else None

    def paper_at(self, row: int) -> Paper | None:
        """The paper at a row, or None where it is no longer there."""
        found = self._connection.execute(f"SELECT {_FIELDS} FROM papers WHERE row = ?", (row,)).fetchone()
        return _to_paper(found) if found else None

    def with_title(self, title: str) -> list[Paper]:
        """Papers whose title has the same letters and digits, by id; at most 20."""
        letters = title_letters(title)
        query = f"SELECT {_FIELDS} FROM papers WHERE title_key = ? ORDER BY paper_id LIMIT 20"
        found = map(_to_paper, self._connection.execute(query, (_title_key(title),)) if letters else ())
        return [paper for paper in found if title_letters(paper.title) == letters]

    def counts(self) -> dict[str, int]:
        """How many papers there are: all, withdrawn, without abstract, recommendable; and rejects."""
        query = (
            "SELECT count(*), coalesce(sum(withdrawn), 0), coalesce(sum(abstract = '' AND withdrawn = 0), 0),"
            f" coalesce(sum({RECOMMENDABLE}), 0) FROM papers"
        )
        numbers = self._connection.execute(query).fetchone()
        (rejects,) = self._connection.execute("SELECT count(*) FROM rejects").fetchone()
        names = ("papers", "withdrawn", "without_abstract", "recommendable")
        return {**dict(zip(names, numbers, strict=True)), "rejects": rejects}

    def add_rejects(self, rejects: Iterable[RejectedRecord]) -> None:
        """Note refused records; the same one twice is kept once. Call inside a transaction."""
        self._connection.executemany(
            "INSERT OR IGNORE INTO rejects (file, line, reason, excerpt) VALUES (?, ?, ?, ?)",
            ((r.file, r.line, r.reason, r.excerpt) for r in rejects),
        )

    def rejects(self) -> Iterator[RejectedRecord]:
        """Every refused record, by file and line."""
        query = "SELECT file, line, reason, excerpt FROM rejects ORDER BY file, line, reject"
        return (RejectedRecord(*row) for row in self._connection.execute(query))

    @property
    def revision(self) -> int:
        """A number that grows with every ingest that changed a paper."""
        found = self._connection.execute("SELECT value FROM meta WHERE key = 'revision'").fetchone()
        return int(found[0]) if found else 0

    def bump_revision(self) -> None:
        """Mark the corpus as changed. Call inside the transaction of the change."""
        self._connection.execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('revision', ?)", (str(self.revision + 1),)
        )
