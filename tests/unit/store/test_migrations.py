"""Indexes of every earlier format, kept under tests/formats, made by the versions that wrote them."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import recsys
from recsys.errors import IndexStale, IndexUnusable
from recsys.store import migrations
from recsys.store.connection import database, reading, writing
from recsys.store.schema import FORMAT_VERSION

FORMATS = Path(__file__).parents[2] / "formats"
KEPT = 10


@pytest.fixture(params=sorted(path.name for path in FORMATS.iterdir()))
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(FORMATS / request.param, tmp_path / "index"))


def version(folder: Path) -> int:
    with closing(sqlite3.connect(database(folder))) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def update(folder: Path) -> tuple[int, recsys.IndexReport]:
    encoded = recsys.embed(folder).encoded
    return encoded, recsys.index(folder, k=KEPT, incremental=True)


def lists(folder: Path) -> list[object]:
    with recsys.open(folder) as library:
        return [[one.query_id, [[card.id, card.score] for card in one]] for one in library.lists(KEPT)]


def test_an_old_index_is_refused_by_readers_until_a_writer_brings_it_up(
    old: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = version(old)
    with pytest.raises(IndexStale, match="earlier recsys") as caught, reading(old):
        pass
    assert caught.value.exit_code == 4
    assert "recsys update" in caught.value.hint
    assert version(old) == before
    with caplog.at_level(logging.WARNING, "recsys"):
        encoded, report = update(old)
    assert f"from format {before} to {FORMAT_VERSION}" in caplog.text
    assert (version(old), encoded, report.computed) == (FORMAT_VERSION, 0, 0)
    assert lists(old) == [json.loads(line) for line in (FORMATS / str(before) / "lists.jsonl").read_text().splitlines()]
    assert recsys.examine(old, deep=True).healthy


def test_a_migrated_schema_is_that_of_a_new_index(old: Path, tmp_path: Path) -> None:
    with writing(old) as migrated, writing(tmp_path / "new", create=True) as new:
        for connection in (migrated, new):
            connection.row_factory = None
        shapes = [
            {
                name: (kind, sorted(row[1:3] for row in connection.execute(f"PRAGMA table_info({name})")))
                for kind, name in connection.execute("SELECT type, name FROM sqlite_schema")
            }
            for connection in (migrated, new)
        ]
    assert shapes[0] == shapes[1]


def test_a_migration_that_fails_leaves_the_old_format(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, last = version(old), FORMAT_VERSION - 1
    step = migrations._STEPS[last]

    def break_off(connection: sqlite3.Connection) -> None:
        step(connection)
        raise KeyboardInterrupt

    monkeypatch.setitem(migrations._STEPS, last, break_off)
    with pytest.raises(KeyboardInterrupt), writing(old):
        pass
    assert version(old) == before
    monkeypatch.undo()
    assert update(old)[0] == 0


def test_lists_that_name_no_text_are_made_anew_where_the_corpus_changed_since(tmp_path: Path) -> None:
    old = Path(shutil.copytree(FORMATS / "1", tmp_path / "index"))
    with closing(sqlite3.connect(database(old))) as connection:
        connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'revision'")
        connection.commit()
    assert update(old)[1].computed == len(lists(old))


def test_a_format_from_the_future_is_refused(old: Path) -> None:
    with closing(sqlite3.connect(database(old))) as connection:
        connection.execute("PRAGMA user_version = 99")
    for opening in (reading, writing):
        with pytest.raises(IndexUnusable, match="format 99") as caught, opening(old):
            pass
        assert "upgrade recsys" in caught.value.hint
    assert [finding.code for finding in recsys.examine(old).findings] == ["format"]
