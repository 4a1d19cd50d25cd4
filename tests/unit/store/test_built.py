from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recsys.errors import IndexDamaged
from recsys.paper import Paper
from recsys.store.built import Build, Built, Neighbors, Shard, StoredList, pack_neighbors, unpack_neighbors
from recsys.store.connection import transaction, writing
from recsys.store.corpus import Corpus

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


def stored(row: int, neighbors: bytes) -> StoredList:
    return StoredList(row, neighbors, b"text", searchable=True)


def test_neighbors_survive_packing() -> None:
    blob = pack_neighbors([7, 4_000_000_000], [0.5, -0.25])
    assert blob == struct.pack("<IIff", 7, 4_000_000_000, 0.5, -0.25)
    assert unpack_neighbors(blob).pairs() == [(7, 0.5), (4_000_000_000, -0.25)]
    assert Neighbors.of([(7, 0.5), (4_000_000_000, -0.25)]).pairs() == unpack_neighbors(blob).pairs()
    assert unpack_neighbors(b"").pairs() == []


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
    assert built.vector_place("f", SHORT.text_hash) == (shard, 1)
    assert built.vector_place("f", GONE.text_hash) is None
    papers, embedded = (SHORT, LONG, TWIN), built.embedded("f")
    assert [embedded.paper_id(place) for place in range(len(embedded))] == [paper.paper_id for paper in papers]
    assert embedded.rows.tolist() == [row(connection, paper) for paper in papers]
    assert embedded.text_hashes.tolist() == [paper.text_hash for paper in papers]
    assert embedded.shards.tolist() == [shard.shard] * 3
    assert embedded.positions.tolist() == [1, 0, 1]
    assert built.rows_of(shard.shard, 1) == []
    with transaction(connection):
        listed = (row(connection, paper) for paper in (SHORT, TWIN))
        built.put_lists(StoredList(number, b"", SHORT.text_hash, searchable=True) for number in listed)
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
        built.replace_lists([stored(row(connection, LONG), pack_neighbors([1], [0.5])), stored(99, b"")])
    with transaction(connection):
        built.replace_lists([stored(row(connection, SHORT), pack_neighbors([2], [0.25]))])
    assert built.neighbors(row(connection, LONG)) is None
    assert built.neighbors(row(connection, SHORT)) == Neighbors((2,), (0.25,))
    assert list(built.listed()) == [(row(connection, SHORT), SHORT.paper_id)]


def test_the_last_build_counts(connection: sqlite3.Connection) -> None:
    built = Built(connection)
    assert built.build() is None
    with transaction(connection):
        built.add_build(BUILD)
        built.add_build(replace(BUILD, papers=4))
    assert built.build() == replace(BUILD, papers=4, number=2)


def test_a_build_keeps_the_vectors_of_its_own_fingerprint_only(connection: sqlite3.Connection) -> None:
    built = Built(connection)
    with transaction(connection):
        built.set_fingerprint('{"new": 1}')
        built.add_shard("old", "aa", 4, [LONG.text_hash])
        built.add_shard("new", "bb", 4, [LONG.text_hash])
        built.add_quarantine("old", [SHORT.text_hash])
    assert built.build_fingerprint() is None
    with transaction(connection):
        built.keep_only("new")
    assert built.build_fingerprint() == '{"new": 1}'
    assert (built.shards("old"), built.shard_files(), built.vector_count("new")) == ([], {"bb"}, 1)
    assert not built.is_quarantined("old", SHORT.text_hash)


def test_texts_with_the_same_vectors_share_a_shard(connection: sqlite3.Connection) -> None:
    built = Built(connection)
    with transaction(connection):
        built.add_shard("f", "aa", 4, [LONG.text_hash])
        built.add_shard("f", "aa", 4, [SHORT.text_hash])
    (shard,) = built.shards("f")
    built.check_shard(shard)
    assert built.vector_place("f", LONG.text_hash) == built.vector_place("f", SHORT.text_hash) == (shard, 0)


def test_rows_that_rot_are_found(connection: sqlite3.Connection) -> None:
    built = Built(connection)
    with transaction(connection):
        built.add_shard("f", "aa", 4, [LONG.text_hash, SHORT.text_hash])
        built.replace_lists([stored(1, pack_neighbors([2], [0.5])), stored(2, pack_neighbors([1], [0.5]))])
        built.add_build(BUILD)
    (shard,) = built.shards("f")
    connection.execute("UPDATE embeddings SET position = 1 - position")
    connection.execute("UPDATE related SET row = row + 1 WHERE row = 2")
    connection.execute("UPDATE builds SET k = k + 1")
    for question in (lambda: built.check_shard(shard), lambda: built.neighbors(3), built.build):
        with pytest.raises(IndexDamaged):
            question()
    with pytest.raises(IndexDamaged):
        list(built.stored_lists())
    assert built.neighbors(1) == Neighbors((2,), (0.5,))


def test_a_forgotten_shard_leaves_lists_without_text(connection: sqlite3.Connection) -> None:
    built = Built(connection)
    with transaction(connection):
        built.add_shard("f", "aa", 4, [LONG.text_hash])
        built.replace_lists([stored(row(connection, LONG), b""), stored(row(connection, SHORT), b"")])
        assert built.forget_shard(built.shards("f")[0]) == 1
    assert built.shards("f") == []
    assert sorted(one.text_hash for one in built.stored_lists()) == [b"", b"text"]
