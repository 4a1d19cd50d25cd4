from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from recsys.cards import Card, RelatedList, SearchResults, card, long_date
from recsys.paper import Paper

PAPER = Paper("math/0301901", 2, "On <b>trees</b>", "We plant trees.", (), ("math.CO", "cs.DS"), "2003-01-06")


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
    assert card(PAPER, 3, 0.12345678) == Card(
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
    unknown = card(replace(PAPER, version=0, categories=(), published=""), 1, 1.0)
    assert (unknown.version, unknown.subject, unknown.url) == (None, "", "https://arxiv.org/abs/math/0301901")
    assert unknown.caption == "1.000 · math/0301901 · On <b>trees</b>"


def test_a_list_is_a_sequence_that_prints_and_tabulates() -> None:
    cards = (card(PAPER, 1, 0.5), card(replace(PAPER, paper_id="2401.90001", version=0), 2, 0.25))
    shown = RelatedList(cards, "", "2401.90002", None, "Query")
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
    assert "note" not in shown.to_dict()
    assert RelatedList((), "found now", "2401.90002", None, "Query").to_dict()["note"] == "found now"
    assert SearchResults((), "", "a text").to_pandas().empty
