from __future__ import annotations

import csv
import gzip
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from recsys.paper import Paper
from recsys.sources.jsonl import JsonlSource
from recsys.store.connection import transaction, writing
from recsys.store.corpus import Corpus
from recsys.works import find_folds, same_work

LABELS = Path(__file__).parents[1] / "labels" / "work_pairs.tsv"
"""Pairs judged by reading both records: are they one work?"""

TEXT = " ".join(
    ["We plant many trees beside a river and look at how they grow over the years in sun, rain, snow and wind."] * 3
)
ONE = Paper("2401.90001", 1, "On Trees", TEXT, ("A. Root", "Beatrix Löf"), published="2024-01-05")
OTHER = replace(ONE, paper_id="2402.90002", published="2024-02-05")


def folds(folder: Path, *papers: Paper) -> dict[str, tuple[str, str]]:
    """Folded id -> (the id that is shown, why)."""
    with writing(folder / "index", create=True) as connection:
        corpus = Corpus(connection)
        with transaction(connection):
            corpus.upsert(papers)
        ids = {corpus.row(paper.paper_id): paper.paper_id for paper in papers}
        return {ids[fold.row]: (ids[fold.work], fold.reason) for fold in find_folds(corpus)}


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (OTHER, "same text"),
        (replace(OTHER, title="On trees", abstract=TEXT.replace("many", "a few")), "nearly the same text"),
        (replace(OTHER, title="Growth: On Trees", abstract=TEXT), "nearly the same text"),
        (replace(OTHER, abstract="Another.", comments="Superseded by arXiv:2401.90001v2"), "superseded"),
        (replace(OTHER, abstract="Another.", comments="duplicate submission of 2401.90001"), "duplicate"),
        (
            replace(OTHER, abstract="Another.", comments="It was merged into a new paper (arXiv:2401.90001)"),
            "merged",
        ),
        (
            replace(
                OTHER, abstract="A", comments="We sent the same article with another title: Trees (arXiv:2401.90001)"
            ),
            "duplicate",
        ),
        (replace(OTHER, abstract="Another.", comments="replaced by https://arxiv.org/abs/2401.90001"), "replaced"),
    ],
)
def test_copies_are_folded(other: Paper, reason: str, tmp_path: Path) -> None:
    assert folds(tmp_path, ONE, other) == {other.paper_id: (ONE.paper_id, reason)}


@pytest.mark.parametrize(
    "other",
    [
        replace(OTHER, title="On Trees II"),
        replace(OTHER, title="A comment on On Trees"),
        replace(OTHER, title="On Fish and Birds of the Sea"),
        replace(OTHER, title="On trees", authors=("C. Other",)),
        replace(OTHER, abstract="Short text."),
        replace(OTHER, abstract="A", comments="A part of section 2 is superseded by arXiv:2401.90001"),
        replace(OTHER, abstract="A", comments="v1 is superseded by v3 and arXiv:2401.90001"),
        replace(OTHER, abstract="A", comments="does not duplicate arXiv:2401.90001"),
        replace(OTHER, abstract="A", comments="arXiv admin note: text overlap with arXiv:2401.90001"),
        replace(OTHER, abstract="A", comments="Superseded by arXiv:2409.99999"),
    ],
)
def test_others_are_not(other: Paper, tmp_path: Path) -> None:
    other = replace(other, title="On trees!") if other.title == "On Trees" else other
    assert folds(tmp_path, ONE, other) == {}


def test_records_without_text_are_never_folded_on_it(tmp_path: Path) -> None:
    assert folds(tmp_path, replace(ONE, abstract=""), replace(OTHER, abstract="")) == {}
    assert not same_work(replace(ONE, abstract="A."), replace(OTHER, abstract="B."))


def test_the_successor_is_shown_and_a_chain_is_one_work(tmp_path: Path) -> None:
    newer = replace(ONE, paper_id="2403.90003", title="Trees", abstract="New.", comments="supersedes arXiv:2401.90001")
    newest = replace(newer, paper_id="2404.90004", comments="This supersedes 2403.90003")
    found = folds(tmp_path, ONE, newer, newest, replace(OTHER, abstract="Elsewhere."))
    assert found == {ONE.paper_id: (newest.paper_id, "superseded"), newer.paper_id: (newest.paper_id, "superseded")}


def test_a_withdrawn_copy_gives_way(tmp_path: Path) -> None:
    withdrawn = replace(ONE, withdrawn=True)
    assert folds(tmp_path, withdrawn, OTHER) == {ONE.paper_id: (OTHER.paper_id, "same text")}


def test_a_thousand_papers_of_one_title_cost_no_million_comparisons(tmp_path: Path) -> None:
    many = [replace(ONE, paper_id=f"2405.9{n:04}", abstract=f"{TEXT} {n} {n * n}") for n in range(3000)]
    assert len(folds(tmp_path, *many)) > 2900


def test_labelled_pairs(shared: Path, tmp_path: Path) -> None:
    """Precision and recall of the rules on pairs that were judged by reading them."""
    with LABELS.open(newline="") as stream:
        labels = {(row["one"], row["other"]): row["same"] == "1" for row in csv.DictReader(stream, delimiter="\t")}
    assert len(labels) >= 450
    wanted = {paper_id for pair in labels for paper_id in pair}
    papers = []
    for part in sorted((shared / "arxiv").glob("*.jsonl.gz")):
        with gzip.open(part) as stream:
            read = JsonlSource().read(io.BufferedReader(stream))  # type: ignore[arg-type]
            papers += [paper for paper in read if isinstance(paper, Paper) and paper.paper_id in wanted]
    found = folds(tmp_path, *papers)
    work = {paper.paper_id: found.get(paper.paper_id, (paper.paper_id, ""))[0] for paper in papers}
    folded = {pair for pair in labels if work[pair[0]] == work[pair[1]]}
    right = sum(labels[pair] for pair in folded)
    precision, recall = right / len(folded), right / sum(labels.values())
    wrong = sorted(pair for pair in labels if labels[pair] is not (pair in folded))
    assert precision >= 0.99, (precision, recall, wrong)
    assert recall >= 0.70, (precision, recall, wrong)


def test_versions_of_one_paper_are_one_record(shared: Path, tmp_path: Path) -> None:
    """Whatever changed between them: the newest is kept, under its one id."""
    with gzip.open(shared / "eval" / "version_pairs.jsonl.gz", "rt") as stream:
        pairs = [json.loads(line) for line in stream]
    versions = [
        Paper(pair["id"], pair[key]["v"] + 1, pair[key]["title"], pair[key]["abstract"])
        for pair in pairs
        for key in ("b", "a")
    ]
    newest = {paper.paper_id: paper for paper in sorted(versions, key=lambda paper: paper.version)}
    with writing(tmp_path / "index", create=True) as connection:
        corpus = Corpus(connection)
        with transaction(connection):
            corpus.upsert(versions)
        assert corpus.counts()["papers"] == len(newest)
        kept = {paper.paper_id: paper.version for paper in corpus.papers(newest)}
        assert kept == {paper_id: paper.version for paper_id, paper in newest.items()}
    assert len(pairs) == 1000
