"""Checks of the SQLite file: its structure, and its rows against their checksums."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator

from recsys import arxiv_id
from recsys.doctor.case import Case
from recsys.doctor.findings import Finding, of_papers
from recsys.errors import IndexDamaged, InvalidArxivId
from recsys.works import find_folds

_SPARE = 2
"""Free space worth having, as a multiple of the index: a build writes beside what is there."""


def structure(case: Case) -> Iterator[Finding]:
    """SQLite's own check: `quick_check`, or `integrity_check` and foreign keys when deep."""
    pragma = "integrity_check" if case.deep else "quick_check"
    said = [line for (line,) in case.connection.execute(f"PRAGMA {pragma}(5)") if line != "ok"]
    said += [f"dangling reference in {row[0]}" for row in case.connection.execute("PRAGMA foreign_key_check")][:5]
    for line in said:
        yield Finding("database-damaged", True, line.replace("\n", " "), case.command("doctor --repair"))


def records(case: Case) -> Iterator[Finding]:
    """Every paper's record against its checksum, and what is derived from it (deep)."""
    if not case.deep:
        return
    bad, unlike = [], []
    columns = {
        row: tuple(rest) for row, *rest in case.connection.execute("SELECT row, paper_id, text_hash FROM papers")
    }
    for row, (paper_id, text_hash) in columns.items():
        try:
            paper = case.corpus.paper_at(row)
        except (IndexDamaged, sqlite3.DatabaseError, ValueError):
            bad.append(str(paper_id))
            continue
        if paper is None or paper.paper_id != paper_id or paper.text_hash != text_hash:
            unlike.append(str(paper_id))
    yield from of_papers("record-damaged", "records are not what was stored", bad, case.command("doctor --repair"))
    yield from of_papers("record-misfiled", "records disagree with their keys", unlike, case.command("doctor --repair"))


def identifiers(case: Case) -> Iterator[Finding]:
    """Ids that are no arXiv ids, or not in canonical spelling: one paper could then be there twice."""
    odd = [paper_id for paper_id in case.ids.values() if not _canonical(paper_id)]
    yield from of_papers("id-odd", "papers have an id that is not canonical", odd, case.command("doctor --repair"))


def _canonical(paper_id: str) -> bool:
    try:
        return arxiv_id.parse(paper_id).paper_id == paper_id
    except InvalidArxivId:
        return False


def works(case: Case) -> Iterator[Finding]:
    """Folds against their checksums; and, when deep, against what the papers say today."""
    try:
        stored = case.corpus.folds()
    except IndexDamaged as error:
        yield Finding("works-damaged", True, error.message, case.command("index"))
        return
    rows = case.ids
    dangling = [rows[fold.row] for fold in stored if fold.row in rows and fold.work not in rows]
    yield from of_papers("works-dangling", "papers are folded into one that is gone", dangling, case.command("update"))
    up_to_date = case.build is not None and case.build.revision == case.corpus.revision
    if case.deep and up_to_date and sorted(stored) != find_folds(case.corpus):
        yield Finding("works-differ", True, "works are not those that the papers make", case.command("index"))


def revision(case: Case) -> Iterator[Finding]:
    """Whether there is a build, and whether papers changed since."""
    try:
        build = case.built.build()
    except IndexDamaged as error:
        yield Finding("build-damaged", True, error.message, case.command("index"))
        return
    if build is None:
        yield Finding("not-built", True, "nothing was indexed yet", case.command("update"))
    elif build.revision != case.corpus.revision:
        yield Finding("stale", True, "papers changed since the lists were made", case.command("update"))


def space(case: Case) -> Iterator[Finding]:
    """Free space on the disk."""
    used = sum(path.stat().st_size for path in case.folder.rglob("*") if path.is_file())
    free = shutil.disk_usage(case.folder).free
    if free < _SPARE * used:
        yield Finding("space-low", False, f"{free / 1e6:,.0f} MB are free, the index takes {used / 1e6:,.0f} MB")
