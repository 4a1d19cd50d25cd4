"""Save what can be read of a damaged SQLite file into a new one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from recsys.errors import IndexDamaged
from recsys.store.checksums import checksum
from recsys.store.connection import create_tables, database
from recsys.store.corpus import COLUMNS, is_whole
from recsys.store.meta import Meta

_STEP = 256
"""Rows read together; where that fails, they are read one by one."""

_BY_ROW = {"papers": "row", "rejects": "reject", "shards": "shard"}
_WITHOUT_ROW = {
    "embeddings": "fingerprint, text_hash",
    "quarantine": "fingerprint, text_hash",
    "meta": "key",
    "records": "paper_id, versioned",
}
_COLUMNS = {
    "papers": COLUMNS,
    "rejects": "reject, file, line, reason, excerpt",
    "shards": "shard, sha256, fingerprint, rows, dim, texts",
    "embeddings": "fingerprint, text_hash, shard, position",
    "quarantine": "fingerprint, text_hash",
    "meta": "key, value, checksum",
    "records": "paper_id, versioned, record",
}


@dataclass(frozen=True, slots=True)
class Salvage:
    """What was saved: rows of each table; the `damaged` file is kept under another name."""

    rows: dict[str, int]
    lost_papers: int
    damaged: str


def salvage(folder: Path) -> Salvage:
    """Put a new database in the place of a damaged one, with all that can be read of it but lists and works.

    Call under the writer's lock.

    Raises:
        IndexDamaged: nothing in it can be read.
    """
    path = database(folder)
    new = path.with_name("library.sqlite.new")
    new.unlink(missing_ok=True)
    with (
        closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as old,
        closing(sqlite3.connect(new, isolation_level=None)) as target,
    ):
        target.execute("PRAGMA synchronous = FULL")
        create_tables(target)
        kept, lost = _copy(old, target)
        target.execute("COMMIT")
    if not kept["papers"]:
        new.unlink()
        raise IndexDamaged(f"nothing can be read in {path}", "move the folder away and ingest again")
    damaged = _swap(path, new)
    return Salvage(kept, lost, str(damaged))


def _swap(path: Path, new: Path) -> Path:
    """The damaged file, with its log, under a name of its own; the new one in its place."""
    number = sum(1 for _ in path.parent.glob("library.sqlite.damaged-*")) + 1
    damaged = path.with_name(f"library.sqlite.damaged-{number}")
    for suffix in ("-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            os.replace(f"{path}{suffix}", f"{damaged}{suffix}")
    try:
        os.link(path, damaged)
    except OSError:  # no hard links here: for a moment there is no database at all
        os.replace(path, damaged)
    os.replace(new, path)
    return damaged


def _copy(old: sqlite3.Connection, target: sqlite3.Connection) -> tuple[dict[str, int], int]:
    """Copy row by row; returns how many of each table, and how many papers were there but damaged."""
    kept = {}
    lost = 0
    for table, key in _BY_ROW.items():
        kept[table] = 0
        for row in _by_row(old, table, key):
            if table == "papers" and not is_whole(row):
                lost += 1
                continue
            kept[table] += _insert(target, table, row)
    for table, order in _WITHOUT_ROW.items():
        kept[table] = sum(_insert(target, table, row) for row in _from_both_ends(old, table, order))
    (highest,) = target.execute("SELECT coalesce(max(row), 0) FROM papers").fetchone()
    _mend_meta(target, highest + 1)
    target.execute("DELETE FROM embeddings WHERE shard NOT IN (SELECT shard FROM shards)")
    return kept, lost


def _mend_meta(target: sqlite3.Connection, least: int) -> None:
    """Drop values that are damaged; put the next free row at least where it must be."""
    for key, value, stored in target.execute("SELECT key, value, checksum FROM meta").fetchall():
        if checksum((key, value)) != stored:
            target.execute("DELETE FROM meta WHERE key = ?", (key,))
    meta = Meta(target)
    meta.set("next_row", str(max(int(meta.get("next_row") or 0), least)))
    made_by = meta.get("fingerprint") or meta.get("build_fingerprint")
    if made_by:
        meta.set("fingerprint", made_by)


def _insert(target: sqlite3.Connection, table: str, row: tuple[object, ...]) -> int:
    """1 where the row could be stored, 0 where it breaks a rule of its table."""
    try:
        marks = ", ".join("?" * len(row))
        added = target.execute(f"INSERT OR IGNORE INTO {table} ({_COLUMNS[table]}) VALUES ({marks})", row)
    except sqlite3.Error:
        return 0
    return added.rowcount


def _by_row(old: sqlite3.Connection, table: str, key: str) -> Iterator[tuple[object, ...]]:
    """Rows in order of their number, around those that cannot be read."""
    for start in range(0, _highest(old, table, key) + 1, _STEP):
        query = f"SELECT {_COLUMNS[table]} FROM {table} WHERE {key} BETWEEN ? AND ?"
        try:
            yield from old.execute(query, (start, start + _STEP - 1)).fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError, OverflowError):
            for number in range(start, start + _STEP):
                with suppress(sqlite3.DatabaseError, UnicodeDecodeError, OverflowError):
                    yield from old.execute(query, (number, number)).fetchall()


def _highest(old: sqlite3.Connection, table: str, key: str) -> int:
    for query in (f"SELECT max({key}) FROM {table}", "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'next_row'"):
        with suppress(sqlite3.DatabaseError, TypeError):
            return min(int(old.execute(query).fetchone()[0]), 1 << 26)
    return 0


def _from_both_ends(old: sqlite3.Connection, table: str, order: str) -> Iterator[tuple[object, ...]]:
    """Rows from the first to where reading breaks, and from the last back to there."""
    backwards = ", ".join(f"{column} DESC" for column in order.split(", "))
    for direction in (order, backwards):
        try:
            yield from old.execute(f"SELECT {_COLUMNS[table]} FROM {table} ORDER BY {direction}")
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            continue
        return
