"""Open an index folder's `library.sqlite`: schema, connection settings, the writer's lock."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from recsys.errors import IndexBusy, IndexDamaged, IndexMissing, RecsysError

FORMAT_VERSION = 1
"""Version of the schema below, kept in `PRAGMA user_version`."""

SCHEMA = """
CREATE TABLE papers (
    row INTEGER PRIMARY KEY,
    paper_id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    title TEXT NOT NULL,
    abstract TEXT NOT NULL,
    authors TEXT NOT NULL,           -- JSON array
    categories TEXT NOT NULL,        -- separated by spaces, primary first
    published TEXT NOT NULL,
    updated TEXT NOT NULL,
    comments TEXT NOT NULL,
    doi TEXT NOT NULL,
    journal_ref TEXT NOT NULL,
    withdrawn INTEGER NOT NULL,
    source TEXT NOT NULL,
    rank INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    title_key INTEGER NOT NULL      -- hash of the title's letters and digits
);
CREATE INDEX papers_title_key ON papers (title_key);
CREATE INDEX papers_text_hash ON papers (text_hash);
CREATE TABLE rejects (
    reject INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    line INTEGER NOT NULL,
    reason TEXT NOT NULL,
    excerpt TEXT NOT NULL,
    UNIQUE (file, line, reason, excerpt)
);
CREATE TABLE shards (
    shard INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL,
    fingerprint TEXT NOT NULL,       -- digest
    rows INTEGER NOT NULL,
    dim INTEGER NOT NULL,
    UNIQUE (sha256, fingerprint)
);
CREATE TABLE embeddings (
    fingerprint TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    shard INTEGER NOT NULL REFERENCES shards,
    position INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, text_hash)
) WITHOUT ROWID;
CREATE INDEX embeddings_place ON embeddings (shard, position);
CREATE TABLE quarantine (
    fingerprint TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    PRIMARY KEY (fingerprint, text_hash)
) WITHOUT ROWID;
CREATE TABLE builds (
    build INTEGER PRIMARY KEY,
    created TEXT NOT NULL,           -- UTC, ISO 8601
    fingerprint TEXT NOT NULL,       -- digest
    kind TEXT NOT NULL,
    search_file TEXT NOT NULL,       -- sha256, or empty where the kind needs no file
    papers INTEGER NOT NULL,
    k INTEGER NOT NULL,
    revision INTEGER NOT NULL
);
CREATE TABLE related (
    row INTEGER PRIMARY KEY,
    neighbors BLOB NOT NULL          -- k rows as uint32, then k scores as float32; little endian, best first
);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

_SETTINGS = """
PRAGMA busy_timeout = 5000;
PRAGMA foreign_keys = ON;
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
"""
_WRITER_SETTINGS = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA cache_size = -65536;          -- 64 MiB: the indexes on hashes are written at random places
PRAGMA wal_autocheckpoint = 16384;   -- 64 MiB: a bulk ingest spends a quarter less time than at the default 4 MiB
"""


def database(folder: Path) -> Path:
    """The index's one SQLite file."""
    return folder / "library.sqlite"


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != FORMAT_VERSION:
        raise IndexDamaged(
            f"{path} has format {version}; this recsys reads format {FORMAT_VERSION}",
            "ingest into a new folder with --index",
        )


def _connect(target: str, **options: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(target, isolation_level=None, **options)
    connection.executescript(_SETTINGS)
    return connection


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection; one whole build is seen for as long as a transaction lasts.

    Raises:
        IndexMissing: no index in that folder.
        IndexDamaged: the file there is not a readable index.
        RecsysError: the machine refused to read it.
    """
    path = database(folder)
    if not path.is_file():
        raise IndexMissing(f"no index at {folder}", f"recsys ingest FILE... --index {folder}")
    try:
        with closing(_open_read_only(path)) as connection:
            _check_format(connection, path)
            yield connection
    except sqlite3.DatabaseError as error:
        raise _explained(error, path) from error


def _explained(error: sqlite3.DatabaseError, path: Path) -> RecsysError:
    """Damage if SQLite says so; else what the machine refused: space, permission, input or output."""
    if isinstance(error, sqlite3.OperationalError):
        return RecsysError(f"{path}: {error}", "check free space and permissions, then run the same command again")
    return IndexDamaged(f"{path}: {error}", "restore it, or ingest again into a new folder")


def _open_read_only(path: Path) -> sqlite3.Connection:
    """Open for reading; on media where SQLite may not make its WAL files, as an unchanging file."""
    uri = path.resolve().as_uri()
    connection = _connect(f"{uri}?mode=ro", uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        connection = _connect(f"{uri}?mode=ro&immutable=1", uri=True)
    return connection


@contextmanager
def writing(folder: Path, *, create: bool = False) -> Iterator[sqlite3.Connection]:
    """The one read-write connection, held under the folder's lock; the schema is made where `create` allows it.

    Raises:
        IndexBusy: another process is writing.
        IndexMissing: no index in that folder and not `create`.
        IndexDamaged: the file there is not a readable index.
    """
    from filelock import FileLock, Timeout

    path = database(folder)
    if not create and not path.is_file():
        raise IndexMissing(f"no index at {folder}", f"recsys ingest FILE... --index {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / "writer.lock", timeout=0), closing(_open_for_writing(path)) as connection:
            yield connection
    except Timeout:
        raise IndexBusy(f"another process is writing to {folder}", "wait for it to end") from None
    except sqlite3.DatabaseError as error:
        raise _explained(error, path) from error


def _open_for_writing(path: Path) -> sqlite3.Connection:
    connection = _connect(str(path))
    connection.executescript(_WRITER_SETTINGS)
    if not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
        connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {FORMAT_VERSION}; COMMIT;")
    _check_format(connection, path)
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One atomic change: committed as a whole at the end, rolled back as a whole on any exception."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """One consistent view: everything read inside is of the same build; inside another, it is that one's view."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
