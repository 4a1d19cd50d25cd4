from __future__ import annotations

import gzip
import itertools
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.text.snippet import LIMIT, snippet


@pytest.mark.parametrize(
    ("abstract", "limit", "shown"),
    [
        ("Short and whole.", 240, "Short and whole."),
        ("exactly ten", 11, "exactly ten"),
        ("one two three", 8, "one two…"),
        ("one two three", 7, "one two…"),
        ("one two three", 6, "one…"),
        ("one, two three", 6, "one…"),
        ("one (two three", 7, "one…"),
        ("one\ntwo three", 8, "one two…"),
        ("let $a + b$ be it", 9, "let…"),
        ("let $a + b$ be it", 13, "let $a + b$…"),
        ("let $a + b$ be it", 11, "let $a + b$…"),
        ("let $$a + b$$ be it", 12, "let…"),
        (r"let \(a + b\) be it", 12, "let…"),
        (r"let \[a + b\] be it", 12, "let…"),
        (r"say \emph{two words} now", 14, "say…"),
        (r"say \emph{two words} now", 20, r"say \emph{two words}…"),
        (r"say \emph{a {b c} d} now", 18, "say…"),
        (r"set $\{x \mid y\}$ is", 12, "set…"),
        (r"price \$ 5 is ok now", 9, r"price \$…"),
        (r"Erd\H{o}s and R\'enyi graphs", 16, r"Erd\H{o}s and…"),
        ("costs $5 and more than that", 14, "costs $5 and…"),
        ("open {brace and more than that", 16, "open {brace and…"),
        ("a" * 30, 10, "a" * 10 + "…"),
        ("$" + "x " * 20 + "$ end", 10, "$x x x x x…"),
        ("AT&amp;T is here", 9, "AT&amp;T…"),
        ("", 240, ""),
    ],
)
def test_snippet(abstract: str, limit: int, shown: str) -> None:
    assert snippet(abstract, limit) == shown


WORDS = st.sampled_from(
    [
        "word",
        "longer-word,",
        "$a + b$",
        r"$\{x\}$",
        r"\emph{two words}",
        r"\'e",
        r"\%",
        "$$c = d$$",
        r"\(e f\)",
        "end.",
        "(see",
    ]
)


@given(st.lists(WORDS, max_size=80))
def test_a_cut_is_clean(words: list[str]) -> None:
    text = " ".join(words)
    shown = snippet(text)
    if len(text) <= LIMIT:
        assert shown == text
        return
    kept = shown.removesuffix("…")
    assert shown == f"{kept}…"
    assert len(kept) <= LIMIT
    assert text.startswith(kept)
    assert text[len(kept)] in " ,(" or text[len(kept) - 1] == ","
    assert _unescaped_dollars(kept) % 2 == 0
    assert kept.count("{") - kept.count(r"\{") == kept.count("}") - kept.count(r"\}")
    assert kept.count(r"\(") == kept.count(r"\)")
    assert len(kept) > LIMIT - 30


def _unescaped_dollars(text: str) -> int:
    return len(re.findall(r"(?<!\\)\$", text))


@given(st.text(max_size=600), st.integers(1, 300))
def test_any_text(text: str, limit: int) -> None:
    shown = snippet(text, limit)
    kept = shown.removesuffix("…")
    assert len(kept) <= limit
    assert " ".join(text.split()).startswith(kept)


def test_real_abstracts(shared: Path) -> None:
    with gzip.open(shared / "arxiv" / "papers-2of3.jsonl.gz", "rt", encoding="utf-8") as lines:
        abstracts = [" ".join(json.loads(line)["abstract"].split()) for line in itertools.islice(lines, 20_000)]
    for abstract in abstracts:
        shown = snippet(abstract)
        kept = shown.removesuffix("…")
        assert len(kept) <= LIMIT
        assert abstract.startswith(kept)
        assert (shown == abstract) == (len(abstract) <= LIMIT)
        if _unescaped_dollars(abstract) % 2 == 0 and kept != abstract[:LIMIT].rstrip():
            assert _unescaped_dollars(kept) % 2 == 0, abstract[:400]
    lengths = [len(snippet(abstract)) for abstract in abstracts if len(abstract) > LIMIT]
    assert sum(lengths) / len(lengths) > 225
