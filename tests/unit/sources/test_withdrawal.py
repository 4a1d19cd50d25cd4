from __future__ import annotations

import json
from pathlib import Path

import pytest

from recsys.paper import Paper
from recsys.sources.records import normalise, paper_or_reject
from recsys.sources.withdrawal import says_withdrawn

WITHDRAWN = [
    "This paper has been withdrawn",
    "withdrawn",
    "Withdrawn due to an error in Lemma 2",
    "12 pages. This paper has been withdrawn by the author due to a crucial sign error",
    "Under revision: withdrawn after persistent problems with Lemma 2.20",
    "The authors have decided to withdraw this manuscript",
    "We are withdrawing the submission in order to revise it",
    "I am requesting the withdrawal of my paper",
    "arXiv admin note: This version has been removed by arXiv administrators as the submitter had no right",
    "arXiv admin note: submission has been withdrawn by arXiv administrators",
    "Paper removed for copyright reasons",
    "This article is retracted because of an error",
    "We retract this paper",
    "THIS PAPER HAS BEEN WITHDRAWN",
    "we prefer to withdraw the paper from arXiv",
]
STANDING = [
    "",
    "12 pages, 3 figures",
    "Removed a wrong remark",
    "removed dead link",
    "Withdrawn from the NeurIPS proceedings",
    "Accepted at a workshop (withdrawn before presentation)",
    "we hope to withdraw the previous version",
    "A study of withdrawn papers",
    "v3: two claims are withdrawn",
    "Drug withdrawal in mice",
    "On cash withdrawal networks",
    "retraction of a deformation retract",
]
ABSTRACTS = {
    "This paper has been withdrawn by the authors due to an error in the proof.": True,
    "This paper and abstract have been withdrawn.": True,
    "The manuscript was withdrawn.": True,
    "Withdrawn.": True,
    "Withdrawn by the author.": True,
    "We would like to withdraw this article for the following reasons: 1. The proof is wrong.": True,
    "We show how firms withdraw this product.": False,
    "We study a fluid that is withdrawn at infinity.": False,
    "We collect papers withdrawn from arXiv and ask why.": False,
    "This paper studies how drugs are approved. They are later withdrawn.": False,
    "Withdrawn users return after a year.": False,
    "Mixers hide which output (withdrawn) coin is whose.": False,
}


@pytest.mark.parametrize("comments", WITHDRAWN)
def test_comments_that_withdraw(comments: str) -> None:
    assert says_withdrawn(comments, "We prove a theorem.")


@pytest.mark.parametrize("comments", STANDING)
def test_comments_that_do_not(comments: str) -> None:
    assert not says_withdrawn(comments, "We prove a theorem.")


@pytest.mark.parametrize("abstract", ABSTRACTS)
def test_abstracts(abstract: str) -> None:
    assert says_withdrawn("3 pages", abstract) == ABSTRACTS[abstract]


def test_real_records_about_withdrawal(shared: Path) -> None:
    """Real records with the word in them: some are withdrawn and their comment says so, some are about withdrawal."""
    found = map(json.loads, (shared / "dirty.jsonl").read_text().splitlines())
    records = [line["record"] for line in found if line["kind"] == "withdrawn"]
    papers = [paper_or_reject(normalise(record), "jsonl", 30, 1) for record in records]
    told = [paper.paper_id for paper in papers if isinstance(paper, Paper) and paper.withdrawn]
    assert told == [record["id"] for record in records if "withdrawn" in record.get("comment", "")]
    assert (len(told), len(papers)) == (14, 25)
