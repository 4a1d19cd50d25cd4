from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.text.sentences import sentences


@pytest.mark.parametrize(
    "expected",
    [
        ["We show A.", "Then we show B."],
        ["As in Smith et al. (2020), e.g. for trees, i.e. graphs, cf. Fig. 3 and Eq. (2), it holds.", "Next."],
        ["The value is 3.14 at v1.2 of the code.", "It grows."],
        ["Let $a.b$ and $x. Y$ be given.", "Then $z$ holds."],
        ["$X$ is flat.", "$Y$ is not."],
        ["J. Smith and A. B. Jones proved it.", "We extend it."],
        ["Is it true?", "Yes!", '"No," they said.'],
        ['He said "stop."', "Then left."],
        ["It works (see Sec. 2).", "[We thank N.]"],
        ["Results are by Doe et al.", "We extend them."],
        ["Trees, graphs, etc.", "We study them."],
        ["See https://a.b/c.d for it.", "Done."],
        ["It ends...", "Or not."],
        ["We use Dr. Who vs. Mr. Bean w.r.t. the No. 5 score.", "Fine."],
        ["One sentence without an end"],
    ],
)
def test_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_paragraphs_end_sentences() -> None:
    assert sentences("First part\nSecond part. Third.") == ["First part", "Second part.", "Third."]
    assert sentences("") == []
    assert sentences(" \n ") == []


@given(st.text(alphabet="aB .!?$\\()\n\"'1et al", max_size=200))
def test_nothing_is_lost(text: str) -> None:
    found = sentences(text)
    assert " ".join(found) == " ".join(text.split())
    assert all(found)


def test_real_abstracts_have_a_handful(shared: Path) -> None:
    with gzip.open(shared / "arxiv" / "papers-1of3.jsonl.gz", "rt", encoding="utf-8") as lines:
        abstracts = [json.loads(line)["abstract"] for line in itertools.islice(lines, 0, 60_000, 20)]
    counts = [len(sentences(abstract)) for abstract in abstracts]
    assert 5 < sum(counts) / len(counts) < 9
    short = sum(len(sentence) < 12 for abstract in abstracts for sentence in sentences(abstract))
    assert short < 0.01 * sum(counts)
