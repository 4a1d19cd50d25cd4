from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recsys.paper import Paper
from recsys.store.connection import transaction, writing
from recsys.store.corpus import RECOMMENDABLE, Changes, Corpus, RejectedRecord
from recsys.store.keys import title_letters
from recsys.store.newest import joined, newness

PAPER = Paper(
    "2401.90001",
    1,
    "On Trees",
    "We plant trees.",
    ("A. Root", "B. Löf"),
    ("cs.DS", "math.CO"),
    "2024-01-05",
    "2024-01-06",
    "3 pages",
    "10.1000/x",
    "J. Trees 1",
    False,
    "jsonl",
    30,
)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with writing(tmp_path / "index", create=True) as opened:
        yield opened


def ingest(connection: sqlite3.Connection, *papers: Paper) -> Changes:
    with transaction(connection):
        return Corpus(connection).upsert(papers)


def test_every_field_comes_back(connection: sqlite3.Connection) -> None:
    assert ingest(connection, PAPER) == Changes(stored=1)
    found = Corpus(connection).paper("2401.90001")
    assert found == PAPER
    assert found is not None
    assert (found.source, found.rank) == ("jsonl", 30)


def test_same_record_twice_changes_nothing(connection: sqlite3.Connection) -> None:
    ingest(connection, PAPER)
    before = list(connection.iterdump())
    assert ingest(connection, PAPER, PAPER) == Changes(unchanged=2)
    assert list(connection.iterdump()) == before


def test_newer_version_replaces_and_keeps_the_row(connection: sqlite3.Connection) -> None:
    ingest(connection, PAPER)
    row = Corpus(connection).row(PAPER.paper_id)
    newer = replace(PAPER, version=2, title="On Tall Trees", abstract="Shorter.")
    assert ingest(connection, newer) == Changes(updated=1)
    assert Corpus(connection).paper(PAPER.paper_id) == newer
    assert Corpus(connection).row(PAPER.paper_id) == row
    assert ingest(connection, PAPER) == Changes(unchanged=1)


@pytest.mark.parametrize(
    ("loses", "wins"),
    [
        (PAPER, replace(PAPER, version=2)),
        (replace(PAPER, version=0, updated=PAPER.updated, abstract="Of an unknown version."), PAPER),
        (PAPER, replace(PAPER, version=0, updated="2026-01-01", withdrawn=True)),
        (PAPER, replace(PAPER, withdrawn=True)),
        (replace(PAPER, withdrawn=True), replace(PAPER, rank=60)),
        (replace(PAPER, updated="2026-01-01"), replace(PAPER, rank=60)),
        (replace(PAPER, abstract="A very much longer abstract."), replace(PAPER, updated="2026-01-01")),
        (replace(PAPER, categories=(), abstract="A very much longer abstract."), PAPER),
        (PAPER, replace(PAPER, abstract="A very much longer abstract.")),
        (PAPER, replace(PAPER, title="On trees")),
    ],
    ids=["version", "known-version", "later", "withdrawn", "authority", "source", "update", "fields", "length", "text"],
)
def test_the_newer_record_wins_in_either_order(tmp_path: Path, loses: Paper, wins: Paper) -> None:
    for order in ((loses, wins), (wins, loses)):
        for together in (True, False):
            with writing(tmp_path / f"{order[0] == wins}{together}", create=True) as connection:
                for batch in [order] if together else [order[:1], order[1:]]:
                    ingest(connection, *batch)
                assert Corpus(connection).paper(PAPER.paper_id) == wins


VARIANTS = st.builds(
    replace,
    st.just(PAPER),
    paper_id=st.sampled_from(["2401.90001", "2401.90002"]),
    version=st.integers(0, 2),
    title=st.sampled_from(["On Trees", "On trees", "0"]),
    abstract=st.sampled_from(["", "a", "b", "long"]),
    withdrawn=st.booleans(),
    updated=st.sampled_from(["", "2024", "2025"]),
    rank=st.sampled_from([10, 30]),
    source=st.sampled_from(["csv", "jsonl"]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(records=st.lists(VARIANTS, min_size=1, max_size=5), data=st.data())
def test_order_and_split_do_not_matter(
    tmp_path_factory: pytest.TempPathFactory, records: list[Paper], data: st.DataObject
) -> None:
    order = data.draw(st.sampled_from(list(permutations(records))))
    cut = data.draw(st.integers(0, len(order)))
    found = []
    for batches in ([records], [order[:cut], order[cut:]]):
        with writing(tmp_path_factory.mktemp("index"), create=True) as connection:
            changes = [ingest(connection, *batch) for batch in batches]
            assert sum(c.stored + c.updated + c.unchanged for c in changes) == len(records)
            ids = sorted({paper.paper_id for paper in records})
            found.append([Corpus(connection).paper(paper_id) for paper_id in ids])
    assert found[0] == found[1]
    best = [joined(*(_best(records, paper_id, versioned) for versioned in (True, False))) for paper_id in ids]
    assert found[0] == best
    assert [paper.source for paper in best] == [paper.source for paper in found[0] if paper]


def _best(records: list[Paper], paper_id: str, versioned: bool) -> Paper | None:
    those = (paper for paper in records if paper.paper_id == paper_id and bool(paper.version) is versioned)
    return max(those, key=newness, default=None)


def test_a_nightly_record_without_version_replaces_an_older_one_with_it(connection: sqlite3.Connection) -> None:
    tonight = replace(PAPER, version=0, abstract="Changed tonight.", updated="2026-11-30", authors=(), comments="")
    assert ingest(connection, PAPER) == Changes(stored=1)
    assert ingest(connection, tonight) == Changes(updated=1)
    found = Corpus(connection).paper(PAPER.paper_id)
    assert found == replace(PAPER, version=0, abstract="Changed tonight.", updated="2026-11-30")
    assert ingest(connection, PAPER, tonight) == Changes(unchanged=2)
    later = replace(PAPER, version=2, updated="2026-12-01", abstract="Version two.")
    assert ingest(connection, later) == Changes(updated=1)
    assert Corpus(connection).paper(PAPER.paper_id) == later


def test_lookups(connection: sqlite3.Connection) -> None:
    other = replace(PAPER, paper_id="math/0301901", title="on  TREES!", abstract="", withdrawn=True)
    ingest(connection, PAPER, other)
    corpus = Corpus(connection)
    assert [paper.paper_id for paper in corpus.with_title("On trees")] == ["2401.90001", "math/0301901"]
    assert corpus.with_title("?!") == []
    assert corpus.paper("2401.90009") is None
    assert corpus.row("2401.90009") is None
    assert corpus.paper_at(99) is None
    row = corpus.row("math/0301901")
    assert row is not None
    assert corpus.paper_at(row) == other


def test_counts_follow_the_rule_of_the_record(connection: sqlite3.Connection) -> None:
    papers = [
        PAPER,
        replace(PAPER, paper_id="a", withdrawn=True),
        replace(PAPER, paper_id="b", abstract=""),
        replace(PAPER, paper_id="c", abstract="", withdrawn=True),
    ]
    ingest(connection, *papers)
    expected = {"papers": 4, "withdrawn": 2, "without_abstract": 1, "recommendable": 1, "listable": 1, "rejects": 0}
    assert Corpus(connection).counts() == expected
    chosen = connection.execute(f"SELECT paper_id FROM papers WHERE {RECOMMENDABLE}").fetchall()
    assert chosen == [(paper.paper_id,) for paper in papers if paper.recommendable]


def test_more_papers_than_one_lookup(connection: sqlite3.Connection) -> None:
    many = [replace(PAPER, paper_id=f"2401.{n:05}") for n in range(1, 1203)]
    assert ingest(connection, *many) == Changes(stored=1202)
    assert ingest(connection, *many) == Changes(unchanged=1202)


def test_rejects_are_kept_once_and_in_order(connection: sqlite3.Connection) -> None:
    records = [
        RejectedRecord("b", 2, "no id", "{}"),
        RejectedRecord("b", 1, "no id", "x"),
        RejectedRecord("a", 9, "r", ""),
    ]
    for _ in range(2):
        with transaction(connection):
            Corpus(connection).add_rejects(records)
    assert list(Corpus(connection).rejects()) == [records[2], records[1], records[0]]
    assert Corpus(connection).counts()["rejects"] == 3


def test_revision_grows(connection: sqlite3.Connection) -> None:
    corpus = Corpus(connection)
    assert corpus.revision == 0
    with transaction(connection):
        corpus.bump_revision()
    assert corpus.revision == 1


@pytest.mark.parametrize(
    ("title", "key"),
    [("On  Trees!", "ontrees"), ("$\\alpha$-Trees", "alphatrees"), ("Über_x", "überx"), ("...", "")],
)
def test_title_letters(title: str, key: str) -> None:
    assert title_letters(title) == key
