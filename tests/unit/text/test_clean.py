from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.text.clean import ABSTRACT_LIMIT, TITLE_LIMIT, clean_abstract, clean_text, clean_title


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("plain text", "plain text"),
        ("  A fully differential\ncalculation is\npresented.\n", "A fully differential calculation is presented."),
        ("first\n  second paragraph\nwraps", "first\nsecond paragraph wraps"),
        ("a\r\nb\rc", "a b c"),
        ("a\n\n\nb", "a\nb"),
        ("tab\tand  many   spaces", "tab and many spaces"),
        ("nul\x00 esc\x1b[31m del\x7f c1\x9b", "nul esc [31m del c1"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("zero\u200bwidth \u202eoverride\ufeff", "zerowidth override"),
        ("line\u2028separator\x85here", "line separator here"),
        ("e\u0301", "é"),
        ("x\u00b2 \ufb01", "x² ﬁ"),
        ("o" + "\u0301" * 5000, unicodedata.normalize("NFC", "o" + "\u0301" * 8)),
        ("AT&amp;T &lt;b&gt; &#39;quoted&#39; &#x27;", "AT&T <b> 'quoted' '"),
        ("tom &jerry; R&D &", "tom &jerry; R&D &"),
        ("<p>Para</p> one<br/>two <i>it</i> x<sub>2</sub>", "Para one two it x 2"),
        (r"where $0<p\leq 1$ and $1<q<2<p$", r"where $0<p\leq 1$ and $1<q<2<p$"),
        ("over <Rating> and <n/3$", "over <Rating> and <n/3$"),
        (r"R\'ev\'esz keeps \emph{TeX} $\alpha$", r"R\'ev\'esz keeps \emph{TeX} $\alpha$"),
        ("", ""),
        (" \n\t ", ""),
    ],
)
def test_clean_text(raw: str, clean: str) -> None:
    assert clean_text(raw, limit=1000) == clean


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("Calculation of\n  LHC energies", "Calculation of LHC energies"),
        ("On Boosting. (arXiv:0901.3590v7 [cs.LG] UPDATED)", "On Boosting."),
        ("A result (arXiv:1307.6616)", "A result (arXiv:1307.6616)"),
        ("0", "0"),
        ("x" * 5000, "x" * TITLE_LIMIT),
    ],
)
def test_clean_title(raw: str, clean: str) -> None:
    assert clean_title(raw) == clean


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("arXiv:1511.03086v2 Announce Type: replace  Abstract: The aim", "The aim"),
        ("arXiv:2203.01250v3 Announce Type: replace-cross \nAbstract: We consider", "We consider"),
        ("Abstract: We show", "We show"),
        ("ABSTRACT. We show", "We show"),
        ("Abstract algebra is fun", "Abstract algebra is fun"),
        ("arXiv:1234 is an id", "arXiv:1234 is an id"),
        ("a " * 100_000, ("a " * 10_000)[:ABSTRACT_LIMIT].strip()),
    ],
)
def test_clean_abstract(raw: str, clean: str) -> None:
    assert clean_abstract(raw) == clean


@given(st.text(alphabet=st.characters(), max_size=300))
def test_what_is_clean_stays_as_it_is_and_can_be_stored(text: str) -> None:
    clean = clean_text(text, limit=200)
    assert len(clean) <= 200
    clean.encode()
    assert clean == clean.strip()
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in clean.replace("\n", ""))
    if "&" not in clean and "<" not in clean:
        assert clean_text(clean.replace("\n", "\n "), limit=200) == clean


def test_real_maths_survives(shared: Path) -> None:
    """Of the real records with HTML-looking tags, no formula loses a character to the tag stripper."""
    records = [json.loads(line) for line in (shared / "dirty.jsonl").read_text().splitlines()]
    tagged = [found["record"]["abstract"] for found in records if found["kind"] == "html_tags"]
    assert len(tagged) == 15
    for abstract in tagged:
        formulas = abstract.split("$")[1::2]
        for formula in formulas:
            assert " ".join(formula.split()) in " ".join(clean_abstract(abstract).split())
