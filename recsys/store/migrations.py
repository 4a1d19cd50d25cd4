"""Numbered steps from each earlier format to the next. Each runs inside one transaction, on the writer's connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from recsys.store.checksums import checksum, digest_of_texts
from recsys.store.keys import speaks_of_a_copy, start_key
from recsys.store.schema import FORMAT_VERSION


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring an index of an earlier format up to this one; call inside a transaction."""
    for step in range(version, FORMAT_VERSION):
        _STEPS[step](connection)
    connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")


_TO_2 = """
ALTER TABLE papers ADD COLUMN start_key INTEGER NOT NULL DEFAULT 0;
ALTER TABLE papers ADD COLUMN telling INTEGER NOT NULL DEFAULT 0;
ALTER TABLE papers ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
CREATE INDEX papers_start_key ON papers (start_key);
CREATE INDEX papers_telling ON papers (row) WHERE telling = 1;
ALTER TABLE shards ADD COLUMN texts BLOB NOT NULL DEFAULT x'';
ALTER TABLE builds ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE related ADD COLUMN text_hash BLOB NOT NULL DEFAULT x'';
ALTER TABLE related ADD COLUMN searchable INTEGER NOT NULL DEFAULT 1;
ALTER TABLE related ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
CREATE TABLE records (paper_id TEXT NOT NULL, versioned INTEGER NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (paper_id, versioned)) WITHOUT ROWID;
CREATE TABLE works (row INTEGER PRIMARY KEY, work INTEGER NOT NULL, reason TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE INDEX works_work ON works (work);
INSERT INTO meta (key, value) SELECT 'next_row', coalesce(max(row), 0) + 1 FROM papers;
INSERT INTO meta (key, value) SELECT 'build_fingerprint', value FROM meta WHERE key = 'fingerprint';
UPDATE papers SET start_key = start_key(abstract), telling = speaks_of_a_copy(comments);
UPDATE papers SET checksum = checksum(row, paper_id, version, title, abstract, authors, categories, published, updated,
    comments, doi, journal_ref, withdrawn, source, rank, text_hash, title_key, start_key, telling);
UPDATE builds SET checksum = checksum(created, fingerprint, kind, search_file, papers, k, revision);
UPDATE related SET text_hash = coalesce((SELECT text_hash FROM papers WHERE papers.row = related.row), x'')
    WHERE (SELECT max(revision) FROM builds) = CAST((SELECT value FROM meta WHERE key = 'revision') AS INTEGER);
UPDATE related SET checksum = checksum_of_list(row, neighbors, text_hash, searchable);
UPDATE meta SET checksum = checksum(key, value);
"""
"""Rows get checksums, lists name the text they were made of, papers fold into works. The lists of a corpus that changed
since its build name no text, so that the next update makes them anew."""


def _to_2(connection: sqlite3.Connection) -> None:
    connection.create_function("checksum", -1, lambda *fields: checksum(fields), deterministic=True)
    connection.create_function("start_key", 1, start_key, deterministic=True)
    connection.create_function("speaks_of_a_copy", 1, speaks_of_a_copy, deterministic=True)
    for statement in _TO_2.split(";"):
        connection.execute(statement)  # `executescript` would commit the open transaction
    for (shard,) in connection.execute("SELECT shard FROM shards").fetchall():
        query = "SELECT text_hash FROM embeddings WHERE shard = ? ORDER BY position, text_hash"
        texts = digest_of_texts(text_hash for (text_hash,) in connection.execute(query, (shard,)))
        connection.execute("UPDATE shards SET texts = ? WHERE shard = ?", (texts, shard))


_TO_3 = (
    """CREATE TABLE cards (row INTEGER PRIMARY KEY, paper_id TEXT NOT NULL, before BLOB NOT NULL, after BLOB NOT NULL,
       text_hash BLOB NOT NULL, checksum INTEGER NOT NULL)""",
    "CREATE TRIGGER papers_change AFTER UPDATE ON papers BEGIN DELETE FROM cards WHERE row = old.row; END",
    "CREATE TRIGGER papers_remove AFTER DELETE ON papers BEGIN DELETE FROM cards WHERE row = old.row; END",
    "ALTER TABLE builds ADD COLUMN recall REAL NOT NULL DEFAULT 1",
    "UPDATE builds SET checksum = checksum(created, fingerprint, kind, search_file, papers, k, revision, recall)",
)
"""Cards are stored, and how well an approximate search did."""


def _to_3(connection: sqlite3.Connection) -> None:
    connection.create_function("checksum", -1, lambda *fields: checksum(fields), deterministic=True)
    for statement in _TO_3:
        connection.execute(statement)


_TO_4 = (
    "CREATE INDEX papers_recommendable ON papers (text_hash, paper_id) WHERE withdrawn = 0 AND abstract <> ''",
    "CREATE INDEX papers_left_out ON papers (withdrawn) WHERE NOT (withdrawn = 0 AND abstract <> '')",
    "CREATE INDEX cards_row ON cards (row)",
)
"""Papers that take part in lists, those that do not, and the cards there are, are found without reading any text."""


def _to_4(connection: sqlite3.Connection) -> None:
    for statement in _TO_4:
        connection.execute(statement)


_STEPS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _to_2, 2: _to_3, 3: _to_4}
