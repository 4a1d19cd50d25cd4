"""The corpus: papers in and out of the store, and the records that were rejected."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from recsys.errors import IndexDamaged
from recsys.paper import Paper, from_json, to_json
from recsys.store.checksums import checksum
from recsys.store.keys import speaks_of_a_copy, start_key, title_key, title_letters
from recsys.store.lookup import matching
from recsys.store.meta import Meta
from recsys.store.newest import joined, newness

_FIELDS = (
    "paper_id, version, title, abstract, authors, categories, published, updated, comments, doi, journal_ref,"
    " withdrawn, source, rank"
)
COLUMNS = f"row, {_FIELDS}, text_hash, title_key, start_key, telling, checksum"
"""SQL: every column of a paper; the checksum is of those before it."""

_UPSERT = (
    f"INSERT INTO papers ({COLUMNS}) VALUES ({', '.join('?' * 20)}) ON CONFLICT (paper_id) DO UPDATE SET "
    + ", ".join(f"{c} = excluded.{c}" for c in COLUMNS.split(", ")[2:])
)
_SELECT = f"SELECT {COLUMNS} FROM papers"
RECOMMENDABLE = "withdrawn = 0 AND abstract <> ''"
"""SQL: the papers that may take part in lists; the same rule as `Paper.recommendable`."""

LISTABLE = f"{RECOMMENDABLE} AND papers.row NOT IN (SELECT row FROM works)"
"""SQL: those that do: a paper that is folded into another is not listed beside it."""

_encode = json.JSONEncoder(ensure_ascii=False).encode


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


class Fold(NamedTuple):
    """A paper that is shown as part of another: its row, the other's row, and why."""

    row: int
    work: int
    reason: str


def _to_row(paper: Paper, row: int) -> tuple[Any, ...]:
    fields = (
        row,
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
        title_key(paper.title),
        start_key(paper.abstract),
        int(speaks_of_a_copy(paper.comments)),
    )
    return (*fields, checksum(fields))


def is_whole(row: Sequence[Any]) -> bool:
    """Whether a paper's columns, in the order of `COLUMNS`, have the checksum that is the last."""
    return bool(checksum(row[:-1]) == row[-1])


def _to_paper(row: Sequence[Any]) -> Paper:
    """The paper of a row of `_SELECT`.

    Raises:
        IndexDamaged: the row's checksum is not that of its fields.
    """
    if not is_whole(row):
        raise IndexDamaged(f"the record at row {row[0]} is damaged", "recsys doctor --repair")
    _, paper_id, version, title, abstract, authors, categories, published, updated, *rest = row
    comments, doi, journal_ref, withdrawn, source, rank, *_ = rest
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


def _check_fold(fold: Fold, stored: int) -> Fold:
    if checksum(fold) != stored:
        raise IndexDamaged(f"the fold of row {fold.row} is damaged", "recsys doctor --repair")
    return fold


class Corpus:
    """The papers of one index, over an open connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._meta = Meta(connection)

    def upsert(self, papers: Sequence[Paper]) -> Changes:
        """Store each paper unless what is stored is as new (see `recsys.store.newest`). Call inside a transaction."""
        rows = self.rows({paper.paper_id for paper in papers})
        shown = {paper.paper_id: paper for paper in self.papers(rows)}
        records = self._records(shown)
        changed: set[str] = set()
        stored = updated = 0
        for paper in papers:
            paper_id, of_paper = paper.paper_id, records.setdefault(paper.paper_id, {})
            before = of_paper.get(bool(paper.version))
            if before is not None and newness(paper) <= newness(before):
                continue
            of_paper[bool(paper.version)] = paper
            changed.add(paper_id)
            now = joined(of_paper.get(True), of_paper.get(False))
            stored, updated = stored + (paper_id not in shown), updated + (shown.get(paper_id, now) != now)
            shown[paper_id] = now
        self._write({paper_id: shown[paper_id] for paper_id in sorted(changed)}, rows)
        self._put_records({paper_id: records[paper_id] for paper_id in changed})
        return Changes(stored, updated, len(papers) - stored - updated)

    def _write(self, papers: dict[str, Paper], rows: dict[str, int]) -> None:
        """Store papers at their rows, new ones at rows that were never used."""
        first = int(self._meta.get("next_row") or 1)
        new = [paper_id for paper_id in papers if paper_id not in rows]
        rows = rows | {paper_id: first + place for place, paper_id in enumerate(new)}
        self._connection.executemany(_UPSERT, (_to_row(paper, rows[paper_id]) for paper_id, paper in papers.items()))
        self._meta.set("next_row", str(first + len(new)))

    def _records(self, shown: dict[str, Paper]) -> dict[str, dict[bool, Paper]]:
        """Id -> whether with a version -> the best such record, of the papers that are stored."""
        found = {paper_id: {bool(paper.version): paper} for paper_id, paper in shown.items()}
        query = "SELECT paper_id, versioned, record FROM records WHERE paper_id"
        for paper_id, versioned, record in self._select(query, shown):
            found[paper_id][bool(versioned)] = from_json(record)
        return found

    def _put_records(self, records: dict[str, dict[bool, Paper]]) -> None:
        """Keep the records of papers that came both with and without a version: what is shown is made of the two."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO records (paper_id, versioned, record) VALUES (?, ?, ?)",
            (
                (paper_id, int(versioned), to_json(paper))
                for paper_id, both in records.items()
                if len(both) == 2
                for versioned, paper in both.items()
            ),
        )

    def remove(self, paper_ids: Sequence[str]) -> list[str]:
        """Forget papers; returns the ids that were there. Their rows are never given to others.

        Call inside a transaction.
        """
        there = self.rows(paper_ids)
        for paper_id, row in there.items():
            self._connection.execute("DELETE FROM records WHERE paper_id = ?", (paper_id,))
            self._connection.execute("DELETE FROM papers WHERE row = ?", (row,))
            self._connection.execute("DELETE FROM works WHERE row = ?1 OR work = ?1", (row,))
        return [paper_id for paper_id in paper_ids if paper_id in there]

    def rows(self, ids: Iterable[str]) -> dict[str, int]:
        """Id -> row, of those that are stored."""
        return dict(self._select("SELECT paper_id, row FROM papers WHERE paper_id", ids))

    def papers(self, ids: Iterable[str]) -> Iterator[Paper]:
        """The stored papers among `ids`, in no order."""
        return map(_to_paper, self._select(f"{_SELECT} WHERE paper_id", ids))

    def papers_at(self, rows: Iterable[int]) -> dict[int, Paper]:
        """Row -> paper, of the rows that are still there."""
        return {found[0]: _to_paper(found) for found in self._select(f"{_SELECT} WHERE row", rows)}

    def papers_in_order(self, rows: Sequence[int]) -> list[Paper]:
        """The papers of the rows that are still there, in the order of `rows`."""
        found = self.papers_at(rows)
        return [found[row] for row in rows if row in found]

    def recommendable_rows(self) -> list[int]:
        """Rows of the papers that can be recommended, by paper id."""
        return [
            row
            for (row,) in self._connection.execute(f"SELECT row FROM papers WHERE {RECOMMENDABLE} ORDER BY paper_id")
        ]

    def _select(self, query: str, values: Iterable[object]) -> Iterator[tuple[Any, ...]]:
        return matching(self._connection, query, values)

    def paper(self, paper_id: str) -> Paper | None:
        """One paper by its canonical id, or None.

        Raises:
            IndexDamaged: what is found there is damaged, or another paper.
        """
        paper = next(self.papers([paper_id]), None)
        if paper is not None and paper.paper_id != paper_id:
            raise IndexDamaged(f"{paper_id} leads to the record of {paper.paper_id}", "recsys doctor --repair")
        return paper

    def row(self, paper_id: str) -> int | None:
        """The row number of a paper, stable for the life of the index, or None."""
        return self.rows([paper_id]).get(paper_id)

    def paper_at(self, row: int) -> Paper | None:
        """The paper at a row, or None where it is no longer there."""
        return self.papers_at([row]).get(row)

    def replace_folds(self, folds: Iterable[Fold]) -> None:
        """Put these in place of every fold. Call inside the transaction that replaces the lists."""
        self._connection.execute("DELETE FROM works")
        self._connection.executemany(
            "INSERT INTO works (row, work, reason, checksum) VALUES (?, ?, ?, ?)",
            ((*fold, checksum(fold)) for fold in folds),
        )

    def folds(self) -> list[Fold]:
        """Every fold, by row."""
        found = self._connection.execute("SELECT row, work, reason, checksum FROM works ORDER BY row")
        return [_check_fold(Fold(*fields), stored) for *fields, stored in found]

    def folds_at(self, rows: Iterable[int]) -> dict[int, Fold]:
        """Row -> fold, of those rows that are folded into another."""
        query = "SELECT row, work, reason, checksum FROM works WHERE row"
        return {fields[0]: _check_fold(Fold(*fields), stored) for *fields, stored in self._select(query, rows)}

    def folds_of(self, rows: Iterable[int]) -> dict[int, list[tuple[str, str]]]:
        """What is folded into each of some rows, where anything is: (paper id, reason), by id."""
        found: dict[int, list[tuple[str, str]]] = {}
        query = "SELECT work, row, paper_id, reason, works.checksum FROM works JOIN papers USING (row) WHERE work"
        for work, row, paper_id, reason, stored in self._select(query, rows):
            _check_fold(Fold(row, work, reason), stored)
            found.setdefault(work, []).append((paper_id, reason))
        return {work: sorted(copies) for work, copies in found.items()}

    def with_title(self, title: str) -> list[Paper]:
        """Papers whose title has the same letters and digits, by id; at most 20."""
        letters = title_letters(title)
        query = f"{_SELECT} WHERE title_key = ? ORDER BY paper_id LIMIT 20"
        found = map(_to_paper, self._connection.execute(query, (title_key(title),)) if letters else ())
        return [paper for paper in found if title_letters(paper.title) == letters]

    def alike(self) -> list[list[int]]:
        """Groups of rows of papers whose titles, or whose abstracts' beginnings, are the same."""
        return [*self._same("title_key"), *self._same("start_key")]

    def _same(self, key: str) -> Iterator[list[int]]:
        """Groups of rows that share a key."""
        shared = f"SELECT {key} FROM papers WHERE {key} <> 0 GROUP BY {key} HAVING count(*) > 1"
        found = self._connection.execute(f"SELECT {key}, row FROM papers WHERE {key} IN ({shared}) ORDER BY {key}, row")
        for _, group in groupby(found, key=itemgetter(0)):
            yield [row for _, row in group]

    def telling_comments(self) -> list[tuple[int, str]]:
        """(row, comments) of the papers whose comments may say that another record is the same work, by row."""
        return self._connection.execute("SELECT row, comments FROM papers WHERE telling = 1 ORDER BY row").fetchall()

    def counts(self) -> dict[str, int]:
        """How many papers there are: all, withdrawn, without abstract, recommendable, listable; and rejects."""
        papers, left_out, withdrawn, folded, rejects = self._connection.execute(f"""
            SELECT (SELECT count(*) FROM papers),
                (SELECT count(*) FROM papers WHERE NOT ({RECOMMENDABLE})),
                (SELECT coalesce(sum(withdrawn), 0) FROM papers WHERE NOT ({RECOMMENDABLE})),
                (SELECT count(*) FROM works JOIN papers USING (row) WHERE {RECOMMENDABLE}),
                (SELECT count(*) FROM rejects)""").fetchone()
        return {
            "papers": papers,
            "withdrawn": withdrawn,
            "without_abstract": left_out - withdrawn,
            "recommendable": papers - left_out,
            "listable": papers - left_out - folded,
            "rejects": rejects,
        }

    def forget_rejects(self, file: str) -> None:
        """Forget what was refused of a file that is read again. Call inside a transaction."""
        self._connection.execute("DELETE FROM rejects WHERE file = ?", (file,))

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
        return int(self._meta.get("revision") or 0)

    def bump_revision(self) -> None:
        """Mark the corpus as changed. Call inside the transaction of the change."""
        self._meta.set("revision", str(self.revision + 1))
