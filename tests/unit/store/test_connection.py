from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from recsys.errors import IndexBusy, IndexDamaged, IndexMissing, IndexUnusable, RecsysError
from recsys.store.connection import FORMAT_VERSION, database, reading, snapshot, transaction, writing


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
        pragmas = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")}
        assert pragmas == {"journal_mode": "wal", "synchronous": 2}
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT_VERSION,)
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


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
    script = (
        "import sys; from pathlib import Path; from recsys.store.connection import writing\n"
        f"with writing(Path({str(folder)!r})):\n    print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(IndexBusy, match="recsys .process .* is writing"), writing(folder):
            pass
        holder.kill()
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


@pytest.mark.skipif(os.name == "nt", reason="folders have no write bit there")
def test_a_read_only_folder_is_readable(folder: Path) -> None:
    with writing(folder) as connection, transaction(connection):
        connection.execute("INSERT INTO meta (key, value) VALUES ('a', '1')")
    folder.chmod(0o555)
    try:
        with reading(folder) as connection:
            assert connection.execute("SELECT key, value FROM meta WHERE key = 'a'").fetchall() == [("a", "1")]
    finally:
        folder.chmod(0o755)


def test_a_full_disk_is_no_damage(folder: Path) -> None:
    with pytest.raises(RecsysError, match="full") as caught, writing(folder) as connection:
        connection.execute("PRAGMA max_page_count = 40")
        with transaction(connection):
            connection.execute("INSERT INTO meta (key, value) VALUES ('big', ?)", ("x" * 1_000_000,))
    assert type(caught.value) is RecsysError
    assert "free space" in caught.value.hint
    with reading(folder) as connection:
        assert connection.execute("SELECT count(*) FROM meta WHERE key IN ('a', 'big')").fetchone() == (0,)
