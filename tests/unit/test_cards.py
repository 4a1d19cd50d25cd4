from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from recsys.cards import Card, Cards, Folded, RelatedList, SearchResults, long_date, print_card
from recsys.paper import Paper

PAPER = Paper("math/0301901", 2, "On <b>trees</b>", "We plant trees.", (), ("math.CO", "cs.DS"), "2003-01-06")

ASKED = print_card(Paper("2401.90002", 0, "Query", "We ask."))


@pytest.mark.parametrize(
    ("iso", "shown"),
    [
        ("2026-10-16", "Fri 16 Oct 2026"),
        ("2024-02-29", "Thu 29 Feb 2024"),
        ("2026-01-01", "Thu 1 Jan 2026"),
        ("2026-10", "Oct 2026"),
        ("2026", "2026"),
        ("", ""),
    ],
)
def test_long_date(iso: str, shown: str) -> None:
    assert long_date(iso) == shown


def test_a_card_shows_its_paper() -> None:
    assert print_card(PAPER).card(3, 0.123457) == Card(
        3,
        "math/0301901",
        2,
        "On <b>trees</b>",
        "We plant trees.",
        0.123457,
        "2003-01-06",
        "Combinatorics",
        ("math.CO", "cs.DS"),
        "https://arxiv.org/abs/math/0301901v2",
    )
    unknown = print_card(replace(PAPER, version=0, categories=(), published="")).card(1, 1.0)
    assert (unknown.version, unknown.subject, unknown.url) == (None, "", "https://arxiv.org/abs/math/0301901")
    assert unknown.caption == "1.000 · math/0301901 · On <b>trees</b>"


def test_a_list_is_a_sequence_that_prints_and_tabulates() -> None:
    other = replace(PAPER, paper_id="2401.90001", version=0)
    cards = Cards([print_card(PAPER), print_card(other)], [0.5, 0.25])
    shown = RelatedList(cards, "", ASKED)
    assert len(shown) == 2
    assert list(shown) == [shown[0], shown[1]]
    assert str(shown).splitlines()[0] == "Related papers: Query"
    assert "0.500 · math/0301901v2" in str(shown)
    table = shown.to_pandas()
    assert isinstance(table, pd.DataFrame)
    assert table.id.tolist() == ["math/0301901", "2401.90001"]
    assert list(table.columns) == list(Card.__slots__)
    assert "&lt;b&gt;trees&lt;/b&gt;" in shown._repr_html_()
    assert "<b>trees" not in shown._repr_html_()
    assert shown.to_dict()["query"] == {"id": "2401.90002", "version": None, "title": "Query"}
    assert (shown.query_id, shown.query_version, shown.query_title) == ("2401.90002", None, "Query")
    assert "note" not in shown.to_dict()
    assert RelatedList(Cards([], []), "found now", ASKED).to_dict()["note"] == "found now"
    assert SearchResults(Cards([], []), "", "a text").to_pandas().empty


def test_cards_are_a_sequence() -> None:
    printed = [print_card(replace(PAPER, paper_id=f"2401.9000{number}")) for number in range(4)]
    cards = Cards(printed, [0.4, 0.3, 0.2, 0.1])
    assert [(card.rank, card.id) for card in cards] == [(n + 1, f"2401.9000{n}") for n in range(4)]
    assert (cards[-1], list(cards[1:3])) == (cards[3], [cards[1], cards[2]])
    assert cards == Cards(list(printed), [0.4, 0.3, 0.2, 0.1])
    assert hash(cards) == hash(Cards(tuple(printed), (0.4, 0.3, 0.2, 0.1)))
    assert cards != Cards(printed, [0.4, 0.3, 0.2, 0.0])
    assert cards != tuple(cards)
    assert repr(cards) == repr(tuple(cards))
    with pytest.raises(IndexError):
        cards[4]


@pytest.mark.parametrize("note", ["", 'with "quotes"'])
@pytest.mark.parametrize("score", [1.0, -0.25, 1e-06, 0.0, 0.1234567])
def test_json_is_that_of_the_fields_to_the_byte(score: float, note: str) -> None:
    odd = replace(PAPER, title='A "quote", a \\ and é \x7f', abstract="Tab\tand\nline \u2028 $a$ " * 20)
    folding = print_card(odd).folding([Folded("2401.90001", "duplicate")])
    assert folding.folding([]) == print_card(odd)
    shown = RelatedList(Cards([folding, print_card(PAPER)], [score, score]), note, print_card(odd))
    printed = json.loads(shown.to_json())
    assert printed == json.loads(json.dumps(shown.to_dict()))
    plain = json.dumps(shown.to_dict(), ensure_ascii=False, separators=(",", ":"))
    assert shown.to_json().decode() == plain.replace(f'"score":{round(score, 6)!r},', f'"score":{score:.6f},')
