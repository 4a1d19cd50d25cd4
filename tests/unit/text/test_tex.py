from __future__ import annotations

import gzip
import itertools
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recsys.text.tex import MAX_CHARACTERS, embedding_text, plain


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        ("no TeX at all", "no TeX at all"),
        ("wrapped\nlines", "wrapped lines"),
        (r"na\"{\i}ve Erd\H{o}s--R\'enyi Schr\"odinger {\ss}", "naïve Erdős–Rényi Schrödinger ß"),
        (r"\c{c} \v{S} S\o rensen \AA ngstr\"om", "ç Š Sørensen Ångström"),
        (r"\emph{x y}, {\it Kepler} and \textbf{bold}", "x y, Kepler and bold"),
        (r"as shown \cite[p.~3]{foo}, see \ref{a}", "as shown, see"),
        ("100% of a & b", "100% of a & b"),
        (r"5\% of AT\&T with $x^{2}$ & 100%", "5% of AT&T with x^2 & 100%"),
        ("it costs $5 million", "it costs $5 million"),
        ("a~b", "a b"),
        ("``quoted'' text", "“quoted” text"),
        (r"$\alpha+\beta_1$ and \phi and", "α+β_1 and ϕ and"),
        (r"$\mathbb{R}^d$, $\R^2$ and $\mathcal{O}(n\log n)$", "ℝ^d, R^2 and 𝒪(nlog n)"),
        (r"$\frac{a}{b}$ $\sqrt{x}$ \textsc{Abc} d", "a/b √(x) Abc d"),
        (r"$0<p\leq 1$", "0<p≤ 1"),
        (r"\url{http://a.b/c_d} \href{http://u}{the text}", "http://a.b/c_d the text"),
        (r"$D \hbox{ in } E$ and $\operatorname{rank} A$", "D in E and rank A"),
        (r"\begin{equation}a=b\end{equation} holds", "a=b holds"),
    ],
)
def test_plain(tex: str, text: str) -> None:
    assert plain(tex) == text


@pytest.mark.parametrize(
    ("title", "abstract", "separator", "text"),
    [
        ("On trees", "We plant.", ". ", "On trees. We plant."),
        ("Why trees?", "We plant.", ". ", "Why trees? We plant."),
        ("On trees", "We plant.", "[SEP]", "On trees[SEP]We plant."),
        (r"$\alpha$", "", ". ", "α. "),
    ],
)
def test_embedding_text(title: str, abstract: str, separator: str, text: str) -> None:
    assert embedding_text(title, abstract, separator) == text


HOSTILE = [
    "{" * 50_000,
    "$" * 1_000_000,
    r"\sqrt{" * 5_000,
    r"\begin{a}" * 2_000,
    "\\" * 6_000,
    "a" * 10_000_000,
    "{}" * 3_000,
    r"\'" * 3_000,
    r"$\frac{" * 1_500,
    "~" * 6_000,
    r"\left(" * 2_000,
    "^{_{" * 2_000,
    "%" * 6_000,
    r"\begin{array}{c}" * 300,
    r"\verb|" * 1_000,
    r"\frac" * 1_500,
    r"\emph" * 1_500,
    r"\sqrt[" * 1_200,
    "$x$ " * 1_500,
    "}" * 100,
    "\ud800 $",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_hostile_texts_neither_raise_nor_hang(text: str) -> None:
    start = time.process_time()
    assert len(plain(text)) <= 2 * MAX_CHARACTERS
    assert time.process_time() - start < 2  # the promise is that nothing hangs, not that it is fast


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from([*r"\{}[]$^_&%~ab ", r"\begin", r"\end", r"\frac", r"\emph", r"\'", r"\cite"]), max_size=60
    )
)
def test_any_mixture_of_tex_gives_one_line(pieces: list[str]) -> None:
    text = plain("".join(pieces))
    assert text == " ".join(text.split())


def test_real_abstracts_lose_their_markup(shared: Path) -> None:
    with gzip.open(shared / "arxiv" / "papers-1of3.jsonl.gz", "rt", encoding="utf-8") as lines:
        abstracts = [json.loads(line)["abstract"] for line in itertools.islice(lines, 0, 20_000, 10)]
    texts = [plain(abstract) for abstract in abstracts]
    assert sum("\\" in text for text in texts) < 0.005 * len(texts)
    assert sum(len(text) < 0.4 * len(abstract) for text, abstract in zip(texts, abstracts, strict=True)) < 10


def test_importing_the_recipe_loads_no_parser() -> None:
    script = "import recsys.text.tex, sys; print('pylatexenc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "False\n"
