"""Stored cards: what they show is what their papers show, whatever happened to either."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import recsys
from recsys.cards import Folded, PrintedCard, print_card
from recsys.paper import Paper
from recsys.store import cards
from recsys.store.cards import StoredCards
from recsys.store.connection import database, transaction, writing
from recsys.store.corpus import Corpus, Fold

PAPERS = [Paper(f"2401.9000{n}", 1, f"Title {n}", f"Abstract {n}.", (), ("math.CO",)) for n in range(1, 6)]


def shown(connection: sqlite3.Connection, rows: list[int]) -> list[PrintedCard | None]:
    return StoredCards(connection).at(rows)


def stored(connection: sqlite3.Connection) -> list[int]:
    return [row for row, _ in StoredCards(connection).stored()]


def test_a_card_goes_when_its_paper_changes(tmp_path: Path) -> None:
    with writing(tmp_path, create=True) as connection:
        corpus = Corpus(connection)
        with transaction(connection):
            corpus.upsert(
                [*PAPERS, Paper("2401.90008", 1, "Empty", ""), Paper("2401.90009", 1, "W", "A", withdrawn=True)]
            )
            corpus.replace_folds([Fold(5, 1, "duplicate")])
            StoredCards(connection).fill()
        assert stored(connection) == [1, 2, 3, 4]
        assert shown(connection, [2, 6, 7, 99]) == [print_card(PAPERS[1]), None, None, None]
        newer = replace(PAPERS[1], version=2, title="Another")
        with transaction(connection):
            corpus.upsert([newer, replace(PAPERS[2], version=2, withdrawn=True)])
            corpus.remove([PAPERS[3].paper_id])
        assert stored(connection) == [1]
        assert shown(connection, [2, 3, 4]) == [print_card(newer), None, None]
        with transaction(connection):
            StoredCards(connection).fill()
        assert stored(connection) == [1, 2]
        assert shown(connection, [2, 3, 4]) == [print_card(newer), None, None]
        (folding,) = shown(connection, [1])
        assert folding is not None
        assert folding == print_card(PAPERS[0]).folding([Folded("2401.90005", "duplicate")])


def test_what_is_remembered_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "_REMEMBERED", 3)
    with writing(tmp_path, create=True) as connection:
        with transaction(connection):
            Corpus(connection).upsert(PAPERS)
        of_all = StoredCards(connection)
        for rows in ([1, 2], [2, 3], [1, 2, 4], [5, 4, 3, 2, 1], [1]):
            assert of_all.at(rows) == [print_card(PAPERS[row - 1]) for row in rows]


def test_a_damaged_card_is_made_again_and_found_by_the_doctor(fresh_index: Path) -> None:
    with recsys.open(fresh_index) as library:
        before = list(library.lists())
    with closing(sqlite3.connect(database(fresh_index))) as connection:
        connection.execute("UPDATE cards SET before = CAST(replace(before, 'a', 'b') AS BLOB) WHERE row = 7")
        connection.execute("DELETE FROM cards WHERE row = 8")
        connection.commit()
    with recsys.open(fresh_index) as library:
        assert list(library.lists()) == before
    found = recsys.examine(fresh_index, deep=True)
    assert [finding.code for finding in found.findings if finding.wrong] == ["card-wrong"]
    assert recsys.repair(fresh_index, deep=True).healthy
