from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from recsys.errors import IndexBusy, IndexDamaged, IndexMissing, IndexUnusable, RecsysError
from recsys.store import connection as connecting
from recsys.store.connection import FORMAT_VERSION, database, reading, snapshot, transaction, writing
from recsys.store.filesystem import network_kind
from tests.locks import holder

SETTINGS = {
    "journal_mode": "wal",
    "synchronous": 2,
    "busy_timeout": 5000,
    "trusted_schema": 0,
    "foreign_keys": 1,
    "cell_size_check": 1,
    "user_version": FORMAT_VERSION,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with writing(tmp_path / "an index", create=True):
        pass
    return tmp_path / "an index"


def test_nothing_there(tmp_path: Path) -> None:
    for opening in (reading, writing):
        with pytest.raises(IndexMissing, match="no index at") as caught, opening(tmp_path / "absent"):
            pass
        assert "recsys ingest" in caught.value.hint
    assert not (tmp_path / "absent").exists()


def test_settings(folder: Path) -> None:
    with writing(folder) as connection:
        found = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in SETTINGS}
    assert found == SETTINGS
    with reading(folder) as connection:
        safe = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("busy_timeout", "trusted_schema")}
    assert safe == {"busy_timeout": 5000, "trusted_schema": 0}


def test_reader_cannot_write(folder: Path) -> None:
    with reading(folder) as connection, pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM papers")


def test_a_failed_transaction_leaves_nothing(folder: Path) -> None:
    with writing(folder) as connection:
        with pytest.raises(KeyboardInterrupt), transaction(connection):
            connection.execute("INSERT INTO meta (key, value) VALUES ('a', '1')")
            raise KeyboardInterrupt
        assert connection.execute("SELECT count(*) FROM meta WHERE key IN ('a', 'big')").fetchone() == (0,)
        with transaction(connection):
            connection.execute("INSERT INTO meta (key, value) VALUES ('a', '1')")
    with reading(folder) as connection:
        assert connection.execute("SELECT key, value FROM meta WHERE key = 'a'").fetchall() == [("a", "1")]


def test_a_snapshot_does_not_move(folder: Path) -> None:
    with reading(folder) as reader, writing(folder) as writer:
        with snapshot(reader):
            assert reader.execute("SELECT count(*) FROM meta WHERE key IN ('a', 'big')").fetchone() == (0,)
            with transaction(writer):
                writer.execute("INSERT INTO meta (key, value) VALUES ('a', '1')")
            assert reader.execute("SELECT count(*) FROM meta WHERE key IN ('a', 'big')").fetchone() == (0,)
        assert reader.execute("SELECT count(*) FROM meta WHERE key IN ('a', 'big')").fetchone() == (1,)


def test_one_writer_at_a_time(folder: Path) -> None:
    with holder(folder) as process:
        with pytest.raises(IndexBusy) as caught, writing(folder):
            pass
        assert caught.value.message.startswith(f"recsys (process {process.pid} on ")
        assert caught.value.message.endswith(f"is writing to {folder}")
        assert "--wait" in caught.value.hint
        process.kill()
    with writing(folder):
        pass


def test_another_format_is_refused(folder: Path) -> None:
    with sqlite3.connect(database(folder)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(IndexUnusable, match="format 99"), reading(folder):
        pass


def test_garbage_is_refused(tmp_path: Path) -> None:
    database(tmp_path).write_bytes(b"no database at all " * 100)
    for opening in (reading, writing):
        with pytest.raises(IndexDamaged, match="not a database"), opening(tmp_path):
            pass


READ = """
import os, sys
from pathlib import Path
from recsys.errors import RecsysError
from recsys.store.connection import reading
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
try:
    with reading(Path(sys.argv[1])) as connection:
        print(*connection.execute("SELECT value FROM meta WHERE key = 'a'").fetchone())
except RecsysError as error:
    print(f"{type(error).__name__}: {error.message} [{error.hint}]")
"""


@pytest.fixture
def read_only() -> Iterator[Path]:
    """Where others may only read: `tmp_path` lies in a folder that they may not even enter."""
    if os.name == "nt":
        pytest.skip("folders have no write bit there")
    folder = Path(tempfile.mkdtemp(prefix="recsys-"))
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def read_as_another(folder: Path) -> str:
    """What a reader without the right to write says; root, whom no mode binds, becomes nobody first."""
    folder.chmod(0o555)
    done = subprocess.run([sys.executable, "-c", READ, folder], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def test_a_read_only_folder_is_readable(folder: Path, read_only: Path) -> None:
    with writing(folder) as connection, transaction(connection):
        connection.execute("INSERT INTO meta (key, value) VALUES ('a', 'settled')")
    shutil.copy(database(folder), read_only)
    assert read_as_another(read_only) == "settled\n"
    assert [path.name for path in read_only.iterdir()] == ["library.sqlite"]


@pytest.mark.parametrize("helpers", [("-wal",), ("-wal", "-shm")])
def test_changes_in_a_log_are_read_or_the_folder_is_refused(
    folder: Path, read_only: Path, helpers: tuple[str, ...]
) -> None:
    """An index copied while it was written to: without its log it would answer from an older state, or a mix."""
    with writing(folder) as connection:
        with transaction(connection):
            connection.execute("INSERT INTO meta (key, value) VALUES ('a', 'in the log')")
        for suffix in ("", *helpers):
            shutil.copy(f"{database(folder)}{suffix}", read_only)
    said = read_as_another(read_only)
    if "-shm" in helpers:
        assert said == "in the log\n"
        return
    assert said.startswith(f"RecsysError: {database(read_only)} has unfinished business in library.sqlite-wal")
    assert said.endswith("[copy the whole folder to a writable disk and read it there]\n")
    assert len(said.splitlines()) == 1
    read_only.chmod(0o755)
    with reading(read_only) as connection:
        assert connection.execute("SELECT value FROM meta WHERE key = 'a'").fetchone() == ("in the log",)


def test_an_empty_log_is_settled(folder: Path, read_only: Path) -> None:
    with writing(folder) as connection, transaction(connection):
        connection.execute("INSERT INTO meta (key, value) VALUES ('a', 'settled')")
    shutil.copy(database(folder), read_only)
    (read_only / "library.sqlite-wal").touch()
    assert read_as_another(read_only) == "settled\n"


def mount(monkeypatch: pytest.MonkeyPatch, **kinds: Path) -> None:
    """Pretend that file systems of these kinds are mounted, and nothing else."""
    parts = [SimpleNamespace(mountpoint=str(place.resolve()), fstype=kind) for kind, place in kinds.items()]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: parts)


def test_no_shared_memory_on_a_network_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    mount(monkeypatch, ext4=Path(folder.anchor), nfs4=folder.parent)
    with caplog.at_level(logging.WARNING, "recsys"), writing(folder) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        with transaction(connection):
            connection.execute("INSERT INTO meta (key, value) VALUES ('a', '1')")
    assert f"{folder} is on a network disk (nfs4)" in caplog.text
    assert not list(folder.glob("*-wal")) + list(folder.glob("*-shm"))
    with reading(folder) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.execute("SELECT value FROM meta WHERE key = 'a'").fetchone() == ("1",)
    monkeypatch.undo()
    caplog.clear()
    with writing(folder) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert not caplog.text


def test_the_nearest_mount_says_what_disk_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "inner"
    mount(monkeypatch, NFS4=tmp_path, xfs=inner)
    assert network_kind(tmp_path / "not yet there") == "nfs4"
    assert network_kind(inner / "index") == ""
    mount(monkeypatch)
    assert network_kind(tmp_path) == ""


def test_a_full_disk_is_no_damage(folder: Path) -> None:
    with pytest.raises(RecsysError, match="full") as caught, writing(folder) as connection:
        connection.execute("PRAGMA max_page_count = 40")
        with transaction(connection):
            connection.execute("INSERT INTO meta (key, value) VALUES ('big', ?)", ("x" * 1_000_000,))
    assert type(caught.value) is RecsysError
    assert "free space" in caught.value.hint
    with reading(folder) as connection:
        assert connection.execute("SELECT count(*) FROM meta WHERE key IN ('a', 'big')").fetchone() == (0,)


def test_a_read_only_disk_is_read_without_helper_files(folder: Path) -> None:
    """SQLite may not make its helper files there: stood for by an opener that says so, as root may write anywhere."""
    uri = database(folder).as_uri()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(connecting, "_connect", _refusing)
        with reading(folder) as connection:
            assert connection.execute("SELECT count(*) FROM papers").fetchone() == (0,)
        for name in ("library.sqlite-wal", "library.sqlite-journal"):
            (folder / name).write_bytes(b"unfinished")
            with (
                pytest.raises(RecsysError, match="unfinished business") as caught,
                reading(folder),
            ):
                pass
            assert "writable disk" in caught.value.hint
            (folder / name).unlink()
    assert uri.startswith("file:")


def _refusing(target: str, **options: bool) -> sqlite3.Connection:
    """Opens as SQLite does on a read-only disk: not at all, but for a file that is said not to change."""
    if "immutable" in target:
        return sqlite3.connect(target, isolation_level=None, **options)
    opened = sqlite3.connect(":memory:", isolation_level=None)
    return _Unreadable(opened)  # type: ignore[return-value]


class _Unreadable:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self.close = connection.close

    def execute(self, statement: str) -> None:
        error = sqlite3.OperationalError("unable to open database file")
        error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
        raise error


def test_a_locked_database_is_not_taken_for_a_read_only_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(self: _Unreadable, statement: str) -> None:
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error

    monkeypatch.setattr(_Unreadable, "execute", locked)
    monkeypatch.setattr(connecting, "_connect", _refusing)
    with pytest.raises(RecsysError, match="locked"), reading(folder):
        pass


def test_the_writers_settings(folder: Path) -> None:
    with writing(folder) as connection:
        found = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("synchronous", "busy_timeout", "trusted_schema", "foreign_keys", "cell_size_check")
        }
    assert found == {
        "synchronous": 2,
        "busy_timeout": 5000,
        "trusted_schema": 0,
        "foreign_keys": 1,
        "cell_size_check": 1,
    }
