"""`recsys doctor`: each thing that can be wrong is named, with its command; `--repair` mends it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import recsys
from recsys.store.built import StoredList, pack_neighbors
from recsys.store.connection import transaction, writing
from recsys.store.corpus import Corpus, Fold
from tests.flow.commands import run
from tests.flow.test_crash_points import PAPERS, build, put


@pytest.fixture
def index(tmp_path: Path) -> Path:
    put(tmp_path / "index", PAPERS)
    build(tmp_path / "index")
    return tmp_path / "index"


def codes(folder: Path, *, deep: bool = True) -> set[str]:
    return {finding.code for finding in recsys.examine(folder, deep=deep).findings if finding.wrong}


def execute(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "library.sqlite", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def relist(folder: Path, row: int, neighbors: list[tuple[int, float]]) -> None:
    """Put a list of our own making in place of a stored one, checksum and all."""
    from recsys.store.built import Built

    with writing(folder) as connection, transaction(connection):
        built = Built(connection)
        text_hash = built.listed_text(row) or b""
        packed = pack_neighbors([other for other, _ in neighbors], [score for _, score in neighbors])
        built.put_lists([StoredList(row, packed, text_hash, searchable=True)])


def stored(folder: Path, row: int) -> list[tuple[int, float]]:
    from recsys.store.built import Built
    from recsys.store.connection import reading

    with reading(folder) as connection:
        found = Built(connection).neighbors(row)
        return found.pairs() if found else []


def refold(folder: Path, fold: Fold) -> None:
    with writing(folder) as connection, transaction(connection):
        Corpus(connection).replace_folds([fold])


WRONGS: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing indexed": (lambda folder: execute(folder, "DELETE FROM builds"), "not-built"),
    "papers changed": (lambda folder: put(folder, PAPERS[:1]), "stale"),
    "a new paper": (
        lambda folder: recsys.ingest([_record(folder, "2402.90001", "New words entirely.")], folder),
        "vector-missing",
    ),
    "a lost vector file": (lambda folder: next((folder / "vectors").iterdir()).unlink(), "shard-damaged"),
    "vectors of other texts": (
        lambda folder: execute(folder, "UPDATE embeddings SET position = 29 - position"),
        "shard-misfiled",
    ),
    "a lost shard": (lambda folder: execute(folder, "DELETE FROM shards"), "vectors-lost"),
    "a record": (lambda folder: execute(folder, "UPDATE papers SET title = 'Rot' WHERE row = 3"), "record-damaged"),
    "an id": (lambda folder: execute(folder, "UPDATE papers SET paper_id = 'ARXIV:X' WHERE row = 3"), "id-odd"),
    "a list's bytes": (lambda folder: execute(folder, "UPDATE related SET neighbors = x'00'"), "list-damaged"),
    "a missing list": (lambda folder: execute(folder, "DELETE FROM related WHERE row = 4"), "list-missing"),
    "itself": (lambda folder: relist(folder, 2, [(2, 1.0), *stored(folder, 2)[1:]]), "list-itself"),
    "twice": (lambda folder: relist(folder, 2, [stored(folder, 2)[0], *stored(folder, 2)[:-1]]), "list-twice"),
    "too short": (lambda folder: relist(folder, 2, stored(folder, 2)[:3]), "list-short"),
    "out of order": (lambda folder: relist(folder, 2, stored(folder, 2)[::-1]), "list-order"),
    "scores": (lambda folder: relist(folder, 2, [(r, s / 2) for r, s in stored(folder, 2)]), "list-scores"),
    "removed": (lambda folder: recsys.remove([PAPERS[5].paper_id], folder), "list-folded"),
    "a fold": (lambda folder: execute(folder, "INSERT INTO works VALUES (1, 2, 'duplicate', 0)"), "works-damaged"),
    "another fold": (lambda folder: refold(folder, Fold(1, 2, "duplicate")), "works-differ"),
    "a fold into nothing": (lambda folder: refold(folder, Fold(1, 999, "duplicate")), "works-dangling"),
    "the build": (lambda folder: execute(folder, "UPDATE builds SET k = 7"), "build-damaged"),
    "two encoders": (
        lambda folder: execute(folder, "INSERT INTO shards VALUES (9, 'aa', 'other', 1, 1, x'')"),
        "fingerprint-mix",
    ),
    "another encoder": (
        lambda folder: recsys.embed(folder, encoder="hashing", max_length=9, replace_vectors=True),
        "fingerprint-mix",
    ),
    "the schema": (lambda folder: execute(folder, "CREATE TABLE more (a)"), "unreadable"),
}


def _record(folder: Path, paper_id: str, abstract: str) -> Path:
    path = folder.parent / "more.jsonl"
    path.write_text(json.dumps({"id": paper_id, "title": "T", "abstract": abstract}) + "\n")
    return path


def test_a_sound_index_is_said_to_be_so(index: Path) -> None:
    result = run("doctor", "--deep", "--index", index)
    assert result.exit_code == 0, result.stdout
    assert "nothing is wrong" in result.stdout
    assert "hubness" in result.stdout
    body = json.loads(run("doctor", "--json", "--index", index).stdout)
    assert (body["schema_version"], body["healthy"]) == (1, True)
    assert {"code", "wrong", "message", "repair", "papers"} == set(body["findings"][0])


@pytest.mark.parametrize("name", WRONGS)
def test_what_is_wrong_is_named(name: str, index: Path) -> None:
    damage, code = WRONGS[name]
    damage(index)
    assert code in codes(index), recsys.examine(index, deep=True)
    result = run("doctor", "--deep", "--json", "--index", index)
    assert result.exit_code == 4
    (finding, *_) = [found for found in json.loads(result.stdout)["findings"] if found["code"] == code]
    assert finding["repair"]
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "name",
    [
        "papers changed",
        "a lost vector file",
        "a record",
        "too short",
        "scores",
        "a list's bytes",
        "removed",
        "a lost shard",
    ],
)
def test_repair_mends(name: str, index: Path) -> None:
    WRONGS[name][0](index)
    result = run("doctor", "--repair", "--deep", "--index", index)
    assert result.exit_code == 0, result.stdout + result.stderr
    assert "nothing is wrong" in result.stdout


def test_files_that_nothing_refers_to_are_a_note(index: Path) -> None:
    (index / "vectors" / f"{0:064x}.npy").write_bytes(b"left")
    (index / "vectors" / ".tmp-1").write_bytes(b"left")
    examined = recsys.examine(index)
    assert examined.healthy
    assert "2 files in vectors/ are referenced by nothing" in str(examined)
    put(index, PAPERS[:1])
    build(index)
    assert "unreferenced" not in str(recsys.examine(index))


def test_texts_that_were_cut_are_noted(tmp_path: Path) -> None:
    long = "word " * 190
    put(tmp_path, [*PAPERS, PAPERS[0].__class__("2404.90001", 1, "Cut", f"{long}and so")])
    recsys.embed(tmp_path, encoder="hashing", max_length=40)
    recsys.index(tmp_path)
    found = {finding.code: finding for finding in recsys.examine(tmp_path, deep=True).findings}
    assert found["abstract-cut"].papers == found["text-long"].papers == ("2404.90001",)
    assert not found["text-long"].wrong


def test_recall_of_an_approximate_build_is_told(index: Path) -> None:
    recsys.index(index, kind="hnsw")
    assert "recall@20 of hnsw lists is 1.000" in str(recsys.examine(index, deep=True))


def test_recall_of_an_approximate_build_is_measured_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recsys.search.ivf import IvfSearch

    monkeypatch.setattr(IvfSearch, "tune", lambda index: None)  # one cell of many is searched: much is missed
    texts = [f"{'abcdefghij'[n % 10]}{n % 7} study of matter {n * n % 101} and of {n * 7 % 53}" for n in range(1500)]
    put(tmp_path, [PAPERS[0].__class__(f"2404.{n:05}", 1, f"Title {n}", text) for n, text in enumerate(texts)])
    recsys.embed(tmp_path, encoder="hashing")
    report = recsys.index(tmp_path, kind="ivf")
    assert 0.05 < report.recall < 0.99
    assert f"ivf search, recall@20 {report.recall:.3f}" in str(report)
    with recsys.open(tmp_path) as library:
        assert library.info().recall == report.recall
    assert f"recall@20 of ivf lists is {report.recall:.3f}" in str(recsys.examine(tmp_path))
    assert recsys.index(tmp_path, kind="flat").recall == 1


def test_no_index_is_no_finding(tmp_path: Path) -> None:
    assert run("doctor", "--index", tmp_path / "absent").exit_code == 4
