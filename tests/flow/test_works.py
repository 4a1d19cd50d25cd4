"""Works as they are shown: folded lines, banners, `--no-fold`, removal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import recsys
from tests.flow.commands import run
from tests.flow.test_crash_points import PAPERS, build, put

OLD = PAPERS[0]
NEW = replace(OLD, paper_id="2405.90001", version=2, title="Another title", comments=f"Supersedes arXiv:{OLD.paper_id}")
TWIN = replace(PAPERS[1], paper_id="2405.90002", authors=("A. Root",))
GONE = replace(PAPERS[2], paper_id="2405.90003", withdrawn=True, comments=f"Duplicate of arXiv:{PAPERS[2].paper_id}")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("works") / "index"
    put(folder, [*PAPERS, NEW, TWIN, GONE])
    build(folder)
    return folder


def test_copies_are_one_line_that_says_so(index: Path) -> None:
    with recsys.open(index) as library:
        assert library.info().folded == 2
        for shown in library.lists(30):
            ids = {card.id for card in shown}
            assert not ids & {OLD.paper_id, TWIN.paper_id, GONE.paper_id}
            assert len(ids) == 29
    result = run("related", PAPERS[7].paper_id, "-k", 30, "--index", index)
    assert f"folds {OLD.paper_id} (superseded)" in result.stdout
    assert f"folds {TWIN.paper_id} (same text)" in result.stdout
    body = json.loads(run("related", PAPERS[7].paper_id, "-k", 30, "--json", "--index", index).stdout)
    folds = {item["id"]: item["folds"] for item in body["related"] if item["folds"]}
    assert folds[NEW.paper_id] == [{"id": OLD.paper_id, "reason": "superseded"}]


@pytest.mark.parametrize(
    ("asked", "shown", "why"),
    [
        (OLD.paper_id, NEW.paper_id, "is shown as another paper (superseded)"),
        (GONE.paper_id, PAPERS[2].paper_id, "was withdrawn (duplicate)"),
    ],
)
def test_a_folded_paper_answers_with_its_successors_list(index: Path, asked: str, shown: str, why: str) -> None:
    result = run("related", asked, "--json", "--index", index)
    assert result.exit_code == 0
    body = json.loads(result.stdout)
    assert body["query"]["id"] == shown
    assert why in body["note"]
    assert why in result.stderr
    by_id = json.loads(run("search", asked, "--json", "--index", index).stdout)
    assert by_id["related"][0]["id"] == shown


@pytest.mark.parametrize("kind", ["flat", "ivf"])
def test_no_fold_shows_all(index: Path, kind: str) -> None:
    recsys.index(index, kind=kind)
    shown = json.loads(run("related", OLD.paper_id, "-k", 40, "--no-fold", "--json", "--index", index).stdout)
    assert shown["query"]["id"] == OLD.paper_id
    ids = [item["id"] for item in shown["related"]]
    assert {NEW.paper_id, TWIN.paper_id} < set(ids)
    assert GONE.paper_id not in ids
    assert len(ids) == len(set(ids)) == 31
    found = json.loads(run("search", "trees beside oak2", "-k", 40, "--no-fold", "--json", "--index", index).stdout)
    assert len(found["related"]) == 32


def test_a_removed_paper_leaves_every_list_at_once(tmp_path: Path) -> None:
    put(tmp_path, PAPERS)
    build(tmp_path)
    gone = PAPERS[3].paper_id
    result = run("remove", f"https://arxiv.org/abs/{gone}v1", "2405.99999", "--index", tmp_path)
    assert result.stdout == "removed 1 papers; not there: 2405.99999\n"
    with recsys.open(tmp_path) as library:
        assert all(gone not in {card.id for card in shown} for shown in library.lists(29))
    assert run("related", gone, "--index", tmp_path).exit_code == 3
    build(tmp_path)
    put(tmp_path, [PAPERS[3], replace(PAPERS[3], paper_id="2405.90009", title="Other", abstract="New words oak77.")])
    build(tmp_path)
    assert recsys.examine(tmp_path, deep=True).healthy
    assert run("remove", "nonsense", "--index", tmp_path).exit_code == 3
