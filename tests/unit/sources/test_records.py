from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from recsys.paper import Paper
from recsys.sources.authors import names
from recsys.sources.base import Reject
from recsys.sources.records import categories, iso_date, normalise, paper_or_reject

GOOD = {"id": "2401.90001v3", "title": "T", "abstract": "A."}


def made(**fields: object) -> Paper | Reject:
    return paper_or_reject(normalise({**GOOD, **fields}), "jsonl", 30, 7, "raw")


@pytest.mark.parametrize(
    ("fields", "paper_id", "version"),
    [
        ({}, "2401.90001", 3),
        ({"version": "v2"}, "2401.90001", 2),
        ({"version": 4}, "2401.90001", 4),
        ({"version": 4.0}, "2401.90001", 4),
        ({"version": 4.5}, "2401.90001", 3),
        ({"version": float("inf")}, "2401.90001", 3),
        ({"version": ""}, "2401.90001", 3),
        ({"version": "v0"}, "2401.90001", 3),
        ({"version": [1]}, "2401.90001", 3),
        ({"id": "https://arxiv.org/abs/math.GT/0309136"}, "math/0309136", 0),
    ],
)
def test_id_and_version(fields: dict[str, object], paper_id: str, version: int) -> None:
    paper = made(**fields)
    assert isinstance(paper, Paper)
    assert (paper.paper_id, paper.version) == (paper_id, version)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"id": None}, "no id"),
        ({"id": ""}, "no id"),
        ({"id": 1501.0001}, "the id is a float, not text"),
        ({"id": ["2401.90001"]}, "the id is a list"),
        ({"id": "1501.0001"}, "1501.00010"),
        ({"id": "nonsense"}, "is not an arXiv id"),
        ({"title": None}, "no title"),
        ({"title": " \n "}, "no title"),
        ({"title": ["T"]}, "the title is a list, not text"),
        ({"abstract": {"a": 1}}, "the abstract is a dict, not text"),
    ],
)
def test_rejects_say_why(fields: dict[str, object], reason: str) -> None:
    found = made(**fields)
    assert isinstance(found, Reject)
    assert reason in found.reason
    assert (found.line, found.excerpt) == (7, "raw")


@pytest.mark.parametrize("title", ["0", 0, 1984, "False"])
def test_odd_titles_are_titles(title: object) -> None:
    paper = made(title=title)
    assert isinstance(paper, Paper)
    assert paper.title == str(title)


@pytest.mark.parametrize(
    "record",
    [
        {"arxiv_id": "2401.90001", "name": "T", "summary": "A."},
        {"ID": "2401.90001", "Title": "T", "Abstract": "A."},
        {"paper-id": "2401.90001", "TITLE": "T", "abstract": "A."},
        {"entry_id": "http://arxiv.org/abs/2401.90001", "title": "T", "description": "A."},
        {"arXiv ID": "2401.90001", "dc:title": "T", "Abstract": "A."},
        {"arxivId": "2401.90001", "Title": "T", "summary": "A.", "x" * 1000: "B."},
        {"_id": "5f3a", "id": "2401.90001", "title": "T", "abstract": "A."},
    ],
)
def test_key_names_are_forgiving(record: dict[str, object]) -> None:
    paper = paper_or_reject(normalise(record), "jsonl", 30, 1)
    assert isinstance(paper, Paper)
    assert (paper.paper_id, paper.title, paper.abstract) == ("2401.90001", "T", "A.")


@pytest.mark.parametrize("odd", [None, 5, True, [], {}, [[]], [None], {"a": []}, "\x00", "\ud800", [1, {"name": 2}]])
@pytest.mark.parametrize(
    "field", ["authors", "categories", "published", "updated", "comments", "doi", "journal_ref", "version"]
)
def test_side_fields_of_any_type_cost_no_record(field: str, odd: object) -> None:
    assert isinstance(made(**{field: odd}), Paper)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["A. Root", "B. Löf"], ("A. Root", "B. Löf")),
        (["R\\'ev\\'esz", " padded  name "], ("R\\'ev\\'esz", "padded name")),
        ([["Root", "A.", "Jr."], ["Löf", "", ""]], ("A. Root Jr.", "Löf")),
        ([{"name": "A. Root"}, {"keyname": "Löf", "forenames": "B."}, {}], ("A. Root", "B. Löf")),
        ("A. Root, B. Löf and C. Neri", ("A. Root", "B. Löf", "C. Neri")),
        ("A. Root, and B. Löf & C. Neri", ("A. Root", "B. Löf", "C. Neri")),
        ("C. Neri (Dresdner (London, UK), X), A. Root ((1) Inst One", ("C. Neri", "A. Root")),
        ("Martin Luther King, Jr., A. Root III", ("Martin Luther King, Jr.", "A. Root III")),
        ("A. Root, et al.", ("A. Root",)),
        ("Anderson Sand", ("Anderson Sand",)),
        ("", ()),
        (None, ()),
        (7, ()),
        (["", None, 3], ()),
    ],
)
def test_names(value: object, expected: tuple[str, ...]) -> None:
    assert names(value) == expected


def test_long_author_lists_are_capped() -> None:
    assert len(names(["N"] * 9000)) == 5000
    assert len(names("A. B, " * 100_000)) == 5000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-01-05", "2024-01-05"),
        ("2024-1-5", "2024-01-05"),
        ("2024-01", "2024-01"),
        ("2024", "2024"),
        ("2024-01-05T10:00:00Z", "2024-01-05"),
        ("2024/01/05", "2024-01-05"),
        (date(2024, 1, 5), "2024-01-05"),
        (datetime(2024, 1, 5, 10, tzinfo=UTC), "2024-01-05"),
        ("Fri, 5 Jan 2024 10:00:00 GMT", "2024-01-05"),
        ("Mon, 2 Apr 2007 19:18:42 GMT", "2007-04-02"),
        ("2024-02-31", ""),
        ("1899-01-01", ""),
        ("9999-01-01", ""),
        ("20240105", ""),
        ("yesterday", ""),
        ("Fri, 99 Jan 2024", ""),
        (20240105, ""),
        (None, ""),
    ],
)
def test_dates(value: object, expected: str) -> None:
    assert iso_date(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("cs.LG stat.ML", ("cs.LG", "stat.ML")),
        ("cs.lg, STAT.ML; cs.LG", ("cs.LG", "stat.ML")),
        (["cs.IT math.IT", "math.IT"], ("cs.IT",)),
        (["cs.SY", "68T05; 81Q50", "I.2.6"], ("eess.SY",)),
        (["astro-ph"], ("astro-ph",)),
        ([3, None], ()),
        ({"a": 1}, ()),
        ("x " * 1_000_000 + "cs.LG", ()),
        (["cs.LG", *["x" * 1_000_000] * 60], ("cs.LG",)),
    ],
)
def test_categories(value: object, expected: tuple[str, ...]) -> None:
    assert categories(value) == expected
