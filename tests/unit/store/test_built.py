from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recsys.paper import Paper
from recsys.store.built import Build, Built, Embedded, Shard, pack_neighbors, unpack_neighbors
from recsys.store.corpus import Corpus
from recsys.store.schema import transaction, writing

LONG = Paper("2401.90002", 1, "Long", "A long abstract of a paper.")
SHORT = Paper("2401.90001", 1, "Short", "Text.")
TWIN = replace(SHORT, paper_id="2401.90003")
GONE = Paper("2401.90004", 1, "Gone", "Withdrawn.", withdrawn=True)
EMPTY = Paper("2401.90005", 1, "No abstract", "")
BUILD = Build("2026-12-01T00:00:00+00:00", "f", "flat", "", 3, 40, 7)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with writing(tmp_path / "index", create=True) as opened:
        opened.execute("PRAGMA foreign_keys = ON")
        with transaction(opened):
            Corpus(opened).upsert([LONG, SHORT, TWIN, GONE, EMPTY])
        yield opened


def row(connection: sqlite3.Connection, paper: Paper) -> int:
    found = Corpus(connection).row(paper.paper_id)
    assert found is not None
    return found


def test_neighbors_survive_packing() -> None:
    blob = pack_neighbors([7, 4_000_000_000], [0.5, -0.25])
    assert blob == struct.pack("<IIff", 7, 4_000_000_000, 0.5, -0.25)
    assert unpack_neighbors(blob) == [(7, 0.5), (4_000_000_000, -0.25)]
    assert unpack_neighbors(b"") == []


def test_pending_is_one_row_a_text_longest_first(connection: sqlite3.Connection) -> None:
    built = Built(connection)
    assert built.pending("f") == [row(connection, LONG), row(connection, SHORT)]
    with transaction(connection):
        built.add_shard("f", "aa", 4, [LONG.text_hash])
        built.add_quarantine("f", [SHORT.text_hash])
    assert built.pending("f") == []
    assert built.pending("another") == [row(connection, LONG), row(connection, SHORT)]
    assert built.quarantined("f") == ["2401.90001", "2401.90003"]


def test_vectors_are_found_by_text(connection: sqlite3.Connection) -> None:
    built = Built(connection)
    with transaction(connection):
        built.add_shard("f", "aa", 4, [LONG.text_hash, SHORT.text_hash])
    (shard,) = built.shards("f")
    assert shard == Shard(shard.shard, "aa", 2, 4)
    assert built.shards("g") == []
    assert built.shard_files() == {"aa"}
    assert built.vector_count("f") == 2
    assert built.vector_place("f", SHORT.text_hash) == ("aa", 2, 4, 1)
    assert built.vector_place("f", GONE.text_hash) is None
    assert list(built.embedded("f")) == [
        Embedded(row(connection, SHORT), SHORT.paper_id, shard.shard, 1),
        Embedded(row(connection, LONG), LONG.paper_id, shard.shard, 0),
        Embedded(row(connection, TWIN), TWIN.paper_id, shard.shard, 1),
    ]
    twins = [(row(connection, SHORT), SHORT.paper_id), (row(connection, TWIN), TWIN.paper_id)]
    assert built.rows_of(shard.shard, 1) == twins


def test_same_shard_again_is_the_same_shard(connection: sqlite3.Connection) -> None:
    built = Built(connection)
    for _ in range(2):
        with transaction(connection):
            built.add_shard("f", "aa", 4, [LONG.text_hash])
    assert len(built.shards("f")) == 1


def test_lists_are_replaced_whole(connection: sqlite3.Connection) -> None:
    built = Built(connection)
    with transaction(connection):
        built.replace_lists([(row(connection, LONG), pack_neighbors([1], [0.5])), (99, b"")])
    with transaction(connection):
        built.replace_lists([(row(connection, SHORT), pack_neighbors([2], [0.25]))])
    assert built.neighbors(row(connection, LONG)) is None
    assert built.neighbors(row(connection, SHORT)) == [(2, 0.25)]
    assert list(built.listed()) == [(row(connection, SHORT), SHORT.paper_id)]


def test_the_last_build_counts(connection: sqlite3.Connection) -> None:
    built = Built(connection)
    assert built.build() is None
    with transaction(connection):
        built.add_build(BUILD)
        built.add_build(replace(BUILD, papers=4))
    assert built.build() == replace(BUILD, papers=4)


def test_forgetting_vectors_forgets_what_stands_on_them(connection: sqlite3.Connection) -> None:
    built = Built(connection)
    with transaction(connection):
        built.set_fingerprint("{}")
        built.add_shard("f", "aa", 4, [LONG.text_hash])
        built.add_quarantine("f", [SHORT.text_hash])
        built.replace_lists([(row(connection, LONG), b"")])
        built.add_build(BUILD)
    assert built.fingerprint() == "{}"
    with transaction(connection):
        built.forget_vectors()
    assert (built.shards("f"), built.build(), built.neighbors(row(connection, LONG))) == ([], None, None)
    assert built.pending("f") == [row(connection, LONG), row(connection, SHORT)]
