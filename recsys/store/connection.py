"""Open an index folder's `library.sqlite`: connection settings, read-only media, transactions and snapshots."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from recsys.errors import IndexDamaged, IndexMissing, IndexStale, IndexUnusable, RecsysError
from recsys.store.checksums import checksum, checksum_of_list
from recsys.store.filesystem import network_kind
from recsys.store.meta import Meta
from recsys.store.migrations import migrate
from recsys.store.schema import FORMAT_VERSION, SCHEMA

_log = logging.getLogger(__name__)

_SETTINGS = """
PRAGMA busy_timeout = 5000;
PRAGMA foreign_keys = ON;
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
"""
_WRITER_SETTINGS = """
PRAGMA synchronous = FULL;
PRAGMA cache_size = -65536;          -- 64 MiB: the indexes on hashes are written at random places
PRAGMA wal_autocheckpoint = 16384;   -- 64 MiB: a bulk ingest spends a quarter less time than at the default 4 MiB
"""
_REFUSALS = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
"""Primary error codes of what the machine refused; any other error of our own fixed statements is damage."""

_DAMAGED = "recsys doctor --repair"


def database(folder: Path) -> Path:
    """The index's one SQLite file."""
    return folder / "library.sqlite"


def _connect(target: str, **options: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(target, isolation_level=None, **options)
    connection.executescript(_SETTINGS)
    return connection


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours.

    Raises:
        IndexDamaged: SQLite says that the file is no database, or a broken one.
        RecsysError: the machine refused: space, permission, input or output.
    """
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _REFUSALS:
            hint = "check free space and permissions, then run the same command again"
            raise RecsysError(f"{database(folder)}: {error}", hint) from error
        raise IndexDamaged(f"{database(folder)}: {error}", f"{_DAMAGED} --index {folder}") from error


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection; one whole build is seen for as long as a transaction lasts.

    Raises:
        IndexMissing: no index in that folder.
        IndexStale: an index of an earlier format.
        IndexDamaged: the file there is not a readable index.
        IndexUnusable: an index of a later format.
        RecsysError: the machine refused to read it.
    """
    _require(folder)
    with explained(folder), closing(_open_read_only(database(folder))) as connection:
        if _format(connection, folder) < FORMAT_VERSION:
            raise IndexStale(
                f"{folder} was written by an earlier recsys", f"recsys update --index {folder} brings it up to date"
            )
        _check_schema(connection, folder)
        yield connection


def _require(folder: Path) -> None:
    if not database(folder).is_file():
        raise IndexMissing(f"no index at {folder}", f"recsys ingest FILE... --index {folder}")


def _format(connection: sqlite3.Connection, folder: Path) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > FORMAT_VERSION:
        raise IndexUnusable(
            f"{folder} has format {version}; this recsys knows formats up to {FORMAT_VERSION}",
            "upgrade recsys, or ingest into a new folder with --index",
        )
    if version < 1:
        raise IndexDamaged(f"{database(folder)} is not an index of recsys", "ingest into a new folder with --index")
    return version


def _open_read_only(path: Path) -> sqlite3.Connection:
    """Open for reading; on media where SQLite may not make its helper files, as a file that does not change."""
    uri = path.resolve().as_uri()
    connection = _connect(f"{uri}?mode=ro", uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
        _require_settled(path)
        connection = _connect(f"{uri}?mode=ro&immutable=1", uri=True)
    return connection


def _require_settled(path: Path) -> None:
    """Refuse a file whose newest changes still lie in a log beside it: read without that log, it may be a mix."""
    for log in (path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-journal")):
        if log.is_file() and log.stat().st_size:
            raise RecsysError(
                f"{path} has unfinished business in {log.name}, which a read-only folder does not let SQLite settle",
                "copy the whole folder to a writable disk and read it there",
            )


@contextmanager
def writing(folder: Path, *, create: bool = False, wait: bool = False) -> Iterator[sqlite3.Connection]:
    """The one read-write connection, held under the folder's lock; an index of an earlier format is brought up first.

    Args:
        folder: the index folder.
        create: whether to make an index where there is none.
        wait: whether to wait for another writer instead of refusing.

    Raises:
        IndexBusy: another process is writing.
        IndexMissing: no index in that folder and not `create`.
        IndexDamaged: the file there is not a readable index.
        RecsysError: the machine refused to write there.
    """
    from recsys.store.lock import writer_lock  # readers take no lock

    if create:
        folder.mkdir(parents=True, exist_ok=True)
    else:
        _require(folder)
    with writer_lock(folder, wait=wait), explained(folder), closing(_open_for_writing(folder)) as connection:
        yield connection


def _open_for_writing(folder: Path) -> sqlite3.Connection:
    connection = _connect(str(database(folder)))
    try:
        _prepare(connection, folder)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, folder: Path) -> None:
    """Settings, and the tables where there are none: made and signed in one transaction, or a kill would part them."""
    connection.create_function("checksum_of_list", 4, checksum_of_list, deterministic=True)
    connection.execute(f"PRAGMA journal_mode = {_journal_mode(folder)}")
    connection.executescript(_WRITER_SETTINGS)
    if not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
        create_tables(connection)
        connection.execute("COMMIT")
    version = _format(connection, folder)
    if version < FORMAT_VERSION:
        _log.warning("bringing %s from format %d to %d", folder, version, FORMAT_VERSION)
        with transaction(connection):
            migrate(connection, version)
            _sign_schema(connection)
    _check_schema(connection, folder)


def create_tables(connection: sqlite3.Connection) -> None:
    """Begin a transaction, and make and sign the tables of an empty database in it; the caller commits."""
    connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {FORMAT_VERSION};")
    _sign_schema(connection)


def _sign_schema(connection: sqlite3.Connection) -> None:
    Meta(connection).set("schema", str(_schema_checksum(connection)))


def _schema_checksum(connection: sqlite3.Connection) -> int:
    query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name"
    return checksum([sql for (sql,) in connection.execute(query)])


def _check_schema(connection: sqlite3.Connection, folder: Path) -> None:
    """The text of the schema says how rows are read: a letter of it that rots would be obeyed."""
    if Meta(connection).get("schema") != str(_schema_checksum(connection)):
        raise IndexDamaged(f"the schema of {database(folder)} is damaged", f"{_DAMAGED} --index {folder}")


def _journal_mode(folder: Path) -> str:
    """WAL, which readers never wait for; but a rollback journal where its shared memory cannot work."""
    kind = network_kind(folder)
    if not kind:
        return "WAL"
    _log.warning("%s is on a network disk (%s): readers and the writer will wait for each other", folder, kind)
    return "DELETE"


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One atomic change: committed as a whole at the end, rolled back as a whole on any exception."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back where the disk is full
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
        with suppress(sqlite3.ProgrammingError):  # an iterator may be let go of after its library was closed
            connection.execute("ROLLBACK")
