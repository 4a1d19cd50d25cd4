from __future__ import annotations

import gzip
import json
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from recsys.taxonomy import ALIASES, ARCHIVES, CATEGORIES, canonical, group, name, normalize

CLASSES = {
    "astro-ph": 6,
    "cond-mat": 9,
    "cs": 40,
    "econ": 3,
    "eess": 4,
    "math": 32,
    "nlin": 5,
    "physics": 22,
    "q-bio": 10,
    "q-fin": 9,
    "stat": 6,
}
SINGLE = {"gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math-ph", "nucl-ex", "nucl-th", "quant-ph"}
GROUPS = {"physics", "math", "q-bio", "cs", "q-fin", "stat", "eess", "econ"}


def test_all_categories_are_there() -> None:
    assert Counter(each.partition(".")[0] for each in CATEGORIES if "." in each) == CLASSES
    assert {each for each in CATEGORIES if "." not in each} == SINGLE
    assert len(CATEGORIES) == 155


def test_all_archives_are_there() -> None:
    active = {archive for archive, entry in ARCHIVES.items() if not entry.now}
    assert active == CLASSES.keys() | SINGLE
    assert len(ARCHIVES) == 20 + 18
    assert {entry.group for entry in ARCHIVES.values()} == GROUPS


@pytest.mark.parametrize(
    ("category", "human"),
    [
        ("cs.LG", "Machine Learning"),
        ("stat.ML", "Machine Learning"),
        ("cs.CE", "Computational Engineering, Finance, and Science"),
        ("astro-ph.CO", "Cosmology and Nongalactic Astrophysics"),
        ("astro-ph", "Astrophysics"),
        ("hep-ex", "High Energy Physics - Experiment"),
        ("cond-mat.mes-hall", "Mesoscale and Nanoscale Physics"),
        ("physics.data-an", "Data Analysis, Statistics and Probability"),
        ("math.KT", "K-Theory and Homology"),
        ("adap-org", "Adaptation, Noise, and Self-Organizing Systems"),
        ("eess", "Electrical Engineering and Systems Science"),
        ("stat.TH", "Statistics Theory"),
        ("CS.lg", "Machine Learning"),
        ("68T05", "68T05"),
        ("", ""),
    ],
)
def test_human_names(category: str, human: str) -> None:
    assert name(category) == human


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("cs.NA", "math.NA"),
        ("CS.na", "math.NA"),
        ("math.MP", "math-ph"),
        ("stat.th", "math.ST"),
        ("math.IT", "cs.IT"),
        ("q-fin.EC", "econ.GN"),
        ("cs.SY", "eess.SY"),
        ("alg-geom", "math.AG"),
        ("CMP-LG", "cs.CL"),
        ("supr-con", "cond-mat.supr-con"),
        ("astro-ph", "astro-ph"),
        ("Cond-Mat", "cond-mat"),
        ("q-bio", "q-bio"),
        ("COND-MAT.MTRL-SCI", "cond-mat.mtrl-sci"),
        ("hep-th", "hep-th"),
        ("I.2.6", None),
        ("68T05; 81Q50", None),
        ("cs.XX", None),
        ("cs.", None),
        ("", None),
    ],
)
def test_the_stored_spelling(given: str, stored: str | None) -> None:
    assert canonical(given) == stored


@pytest.mark.parametrize("category", [*CATEGORIES, *ARCHIVES])
def test_a_stored_spelling_stands_for_itself_in_any_case(category: str) -> None:
    stored = canonical(category)
    assert stored in CATEGORIES or stored in ARCHIVES
    assert stored not in ALIASES
    assert canonical(stored or "") == canonical(category.upper()) == canonical(category.lower()) == stored
    assert name(category.swapcase()) == name(category) != category
    if category not in ALIASES and not (category in ARCHIVES and ARCHIVES[category].now):
        assert stored == category


def test_aliases_and_successors_are_active_categories() -> None:
    successors = [entry.now for entry in ARCHIVES.values() if entry.now]
    assert len(ALIASES) == 6
    assert ALIASES.keys() <= CATEGORIES.keys()
    assert {*ALIASES.values(), *successors} <= CATEGORIES.keys() - ALIASES.keys()


def test_normalize_keeps_the_primary_first_and_each_subject_once() -> None:
    assert normalize(["cs.LG", "stat.ML", "I.2.6", "CS.lg", "stat.TH", "math.ST"]) == ("cs.LG", "stat.ML", "math.ST")
    assert normalize(iter(["math.IT", "cs.IT"])) == ("cs.IT",)
    assert normalize(["68T05"]) == normalize([]) == ()


@pytest.mark.parametrize(
    ("category", "public"),
    [
        ("cs.LG", "cs"),
        ("hep-th", "physics"),
        ("nlin.CD", "physics"),
        ("alg-geom", "math"),
        ("math.MP", "physics"),
        ("CS.SY", "eess"),
        ("q-bio", "q-bio"),
        ("I.2.6", ""),
    ],
)
def test_groups(category: str, public: str) -> None:
    assert group(category) == public


def test_the_tables_cannot_be_changed() -> None:
    for table in (ARCHIVES, CATEGORIES, ALIASES):
        with pytest.raises(TypeError):
            table["x"] = "y"  # type: ignore[index]


def test_every_category_of_real_papers_is_known(shared: Path) -> None:
    with gzip.open(shared / "arxiv" / "papers-1of3.jsonl.gz", "rt", encoding="utf-8") as lines:
        tokens = {token for line in islice(lines, 20_000) for token in json.loads(line).get("categories", [])}
    assert len(tokens) > 100
    assert {token for token in tokens if canonical(token) is None} == set()
