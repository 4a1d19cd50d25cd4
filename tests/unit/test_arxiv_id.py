from __future__ import annotations

import gzip
import json
import pickle
import re
import time
from datetime import date
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.arxiv_id import MAX_LENGTH, ArxivId, not_yet_issued, parse
from recsys.errors import InvalidArxivId
from recsys.taxonomy import ARCHIVES

OLD_ARCHIVES = sorted(ARCHIVES.keys() - {"econ", "eess", "q-fin", "stat"})

ACCEPTED = {
    "2610.24133": "2610.24133",
    "2610.24133v1": "2610.24133v1",
    "ARXIV:2610.24133V1": "2610.24133v1",
    "0704.0001": "0704.0001",
    "1412.9999": "1412.9999",
    "1501.00001": "1501.00001",
    "9912.00001v9999": "9912.00001v9999",
    "hep-th/9901001": "hep-th/9901001",
    "hep-lat/9107001": "hep-lat/9107001",
    "quant-ph/0703001": "quant-ph/0703001",
    "/hep-th/0702050v1": "hep-th/0702050v1",
    "/0708.1234v1": "0708.1234v1",
    "arxiv:hep-th/9901001": "hep-th/9901001",
    "math.GT/0309136": "math/0309136",
    "MATH.GT/0309136v2": "math/0309136v2",
    "physics.optics/0309136": "physics/0309136",
    "q-bio.BM/0401004": "q-bio/0401004",
    "cond-mat.supr-con/9901001": "cond-mat/9901001",
    "hepth/9901001": "hep-th/9901001",
    "hep-th9901001v2": "hep-th/9901001v2",
    "hep-th9901001v2.tar.gz": "hep-th/9901001v2",
    "hep-th--9901001v2": "hep-th/9901001v2",
    "math.GT--0309136": "math/0309136",
    "2610.24133\n": "2610.24133",
    "\u200b\ufeff 2610.\u200b24133\u00a0": "2610.24133",
    "<(“2610.24133”).>,": "2610.24133",
    "arXiv: 2610.24133": "2610.24133",
    "arxiv/2610.24133": "2610.24133",
    "abs/hep-th/9901001": "hep-th/9901001",
    "/abs/1501.00001": "1501.00001",
    "oai:arXiv.org:hep-th/9901001": "hep-th/9901001",
    "10.48550/arXiv.2202.01037": "2202.01037",
    "doi:10.48550/arXiv.hep-th/9901001": "hep-th/9901001",
    "https://doi.org/10.48550/arXiv.2202.01037": "2202.01037",
    "https://dx.doi.org/10.48550/arxiv.hep-th/9901001": "hep-th/9901001",
    "https://arxiv.org/abs/2610.24133v3?context=cs#S1": "2610.24133v3",
    "HTTPS://ARXIV.ORG/ABS/2610.24133": "2610.24133",
    "//arxiv.org/abs/2610.24133": "2610.24133",
    "arxiv.org:443/pdf/2610.24133v1.pdf": "2610.24133v1",
    "http://arxiv.org/pdf/hep-th%2F9901001": "hep-th/9901001",
    "https://arxiv.org/pdf/hep-th/9901001v1.pdf": "hep-th/9901001v1",
    "https://www.arxiv.org/html/2610.24133v1/": "2610.24133v1",
    "https://export.arxiv.org/e-print/2610.24133": "2610.24133",
    "https://browse.arxiv.org/html/2610.24133v1.html": "2610.24133v1",
    "http://de.arxiv.org/ps/hep-th/9901001.ps.gz": "hep-th/9901001",
    "http://xxx.lanl.gov/abs/hep-th/9901001": "hep-th/9901001",
    "https://arxiv.org/bibtex/2610.24133": "2610.24133",
    "https://arxiv.org/format/2610.24133": "2610.24133",
    "https://arxiv.org/src/2610.24133v2": "2610.24133v2",
    "https://arxiv.org/dvi/math/0309136": "math/0309136",
    "https://arxiv.org/tb/2610.24133": "2610.24133",
    "https://ar5iv.labs.arxiv.org/html/2610.24133": "2610.24133",
    "https://ar5iv.org/abs/2610.24133": "2610.24133",
    "https://www.alphaxiv.org/abs/2610.24133v2": "2610.24133v2",
    "https://huggingface.co/papers/2610.24133": "2610.24133",
    "https://scirate.com/arxiv/2610.24133": "2610.24133",
    "arXiv:0706.0001v1 [q-bio.CB] 1 Jun 2007": "0706.0001v1",
    "(arXiv:2610.24133 [cs.LG])": "2610.24133",
    "https://arxiv.org/abs/2610.24133/.": "2610.24133",
}

# fmt: off
REFUSED = [
    "BAD_ID", "hep-th/990100", "hep-th/99010011", "0703.123", "0703.123456", "/", "0713.0001", "0800.0001",
    "quant-ph/9409000", "0704.0000", "quant-ph/940900", "quant-ph/94090000", "quant-ph/94091", "quant-ph/940912",
    "quant-ph/94091234", "0707.000", "0707.00000", "0707.1", "0707.12", "0707.123", "0707.123456",
    "0705.35950705.3595v1/", "arxiv:0705.35950705.3595v1/", "0707.2096va", "0707.2096va/", "0612.1234", "0703.1234",
    "1412.00001", "1412.12345", "2601.123456", "2613.00001", "2713.00001", "2600.00001", "0013.00001", "1501.1234",
    "1501.0001", "hep-th/9901001v0", "2202.01037v0", "2202.01037v", "2202.01037v01", "2202.01037v10000",
    "quant-ph/0704001", "foo/9901001", "a/9901001", "stat/0603001", "math/0309136/../..", "math/0309136/..",
    "math/0309136%2f..", "../../etc/passwd", "２６１０.２４１３３", "٢٦١٠.٢٤١٣٣", "0704.001", "911.1544", "0309136",
    "1501.00000", "0601.00001", "cs/9106001", "cs/9113001", "m-ath/0309136", "phyſics/0309136", "hep-th///9901001",
    "hep-th/9901001/extra", "hep-th%252F9901001", "2610.24133.exe", "2610,24133",
    "https://example.com/abs/2610.24133", "https://arxiv.org.example.com/abs/2610.24133",
    "https://notarxiv.org/abs/2610.24133", "https://2610.24133", "https://arxiv.org/abs/",
    "https://arxiv.org/a/smith_j_1", "2610.24133\x00", "2610.24133;rm", "\ud800", "", " ", "2610.24133 2610.24134",
    "2610. 24133",
]
# fmt: on

REASONS = {
    "": ("it is empty", ()),
    "1501.0001": ("ids of 1501 have 5 digits after the dot, and here are 4", ("1501.00010", "1501.00001")),
    "1101.352v2": ("ids of 1101 have 4 digits after the dot, and here are 3", ("1101.3520", "1101.0352")),
    "0704.001": ("ids of 0704 have 4 digits after the dot, and here are 3", ("0704.0010", "0704.0001")),
    "1412.00001": ("ids of 1412 have 4 digits after the dot, and here are 5", ("1412.0001",)),
    "1412.12345": ("ids of 1412 have 4 digits after the dot, and here are 5", ()),
    "911.1544": ("the year and month are four digits, and a leading zero seems lost", ("0911.1544",)),
    "arXiv:807.4268": ("the year and month are four digits, and a leading zero seems lost", ("0807.4268",)),
    "0309136": (
        "an old id names its archive, as in math/0309136",
        ("astro-ph/0309136", "hep-ph/0309136", "cond-mat/0309136", "hep-th/0309136", "math/0309136"),
    ),
    "2309136": ("an old id names its archive, as in math/0309136", ()),
    "2713.00001": ("13 is not a month", ()),
    "0612.1234": ("ids before April 2007 name their archive, as in math/0309136", ()),
    "0704.0000": ("numbers count from 1", ()),
    "2202.01037v0": ("versions run from v1 to v9999", ("2202.01037",)),
    "foo/9901001": ("arXiv has no archive foo", ()),
    "STAT/0603001": ("stat has no ids of the old form", ()),
    "hep-th/990100": ("ids of the old form have 7 digits, and here are 6", ()),
    "hep-th/9913001": ("13 is not a month", ()),
    "quant-ph/0704001": ("ids of the old form run from July 1991 to March 2007", ()),
    "cs/9106001": ("ids of the old form run from July 1991 to March 2007", ()),
    "hepth/9901001v0": ("versions run from v1 to v9999", ("hep-th/9901001",)),
    "hep-th/9901000": ("numbers count from 1", ()),
    "https://arxiv.org/list/cs.LG/recent": ("that is a listing, not a paper", ()),
    "../../etc/passwd": ("the forms are 2306.00802 and math/0309136", ()),
    "2" * (MAX_LENGTH + 1): ("it is longer than 2,000 characters", ()),
}


@pytest.mark.parametrize(("text", "spelled"), ACCEPTED.items())
def test_every_known_way_of_writing_an_id(text: str, spelled: str) -> None:
    assert str(parse(text)) == spelled


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(InvalidArxivId):
        parse(text)


@pytest.mark.parametrize(("text", "why"), REASONS.items())
def test_a_refusal_says_why_and_what_may_have_been_meant(text: str, why: tuple[str, tuple[str, ...]]) -> None:
    with pytest.raises(InvalidArxivId) as refusal:
        parse(text)
    assert (refusal.value.text, refusal.value.reason, refusal.value.candidates) == (text, *why)
    assert [str(parse(candidate)) for candidate in why[1]] == list(why[1])


def test_a_refusal_shows_foreign_text_escaped_and_short() -> None:
    with pytest.raises(InvalidArxivId) as refusal:
        parse("\x1b[31m" + "x" * 10_000)
    assert "\x1b" not in refusal.value.message
    assert len(refusal.value.message) < 200


def test_the_parts_of_an_id() -> None:
    old, new = parse("math.GT/0309136v2"), parse("2306.00802")
    assert (old.paper_id, old.version, old.year, old.month) == ("math/0309136", 2, 2003, 9)
    assert (old.url, old.file_stem) == ("https://arxiv.org/abs/math/0309136v2", "math--0309136v2")
    assert (new.paper_id, new.version, new.year, new.month) == ("2306.00802", 0, 2023, 6)
    assert (new.url, new.file_stem) == ("https://arxiv.org/abs/2306.00802", "2306.00802")
    assert [parse(text).year for text in ("hep-th/9108001", "9201.00001", "hep-th/0001001")] == [1991, 2092, 2000]


def test_an_id_is_a_value() -> None:
    one = parse("hep-th/9901001v2")
    assert one == ArxivId("hep-th/9901001", 2) == pickle.loads(pickle.dumps(one))  # noqa: S301
    assert len({one, parse("hep-th9901001V2"), parse("hep-th/9901001")}) == 2


def test_ids_sort_by_their_announcement() -> None:
    ordered = ["hep-th/9901001", "math/9901001", "math/9901002", "astro-ph/0001001", "cs/0703001", "0704.0002"]
    ordered += ["0704.0010", "1412.9999", "1501.00002", "2610.24133"]
    assert sorted(reversed(ordered), key=lambda text: parse(text).sort_key) == ordered
    assert parse("math/9901002v3").sort_key == (1999, 1, 0, "math", 2)
    assert parse("1501.00002").sort_key == (2015, 1, 1, "", 2)


@pytest.mark.parametrize(
    ("paper_id", "today", "late"),
    [
        ("2612.00001", date(2026, 12, 1), False),
        ("2701.00001", date(2026, 12, 1), False),
        ("2702.00001", date(2026, 12, 31), True),
        ("2702.00001v1", date(2027, 1, 1), False),
        ("hep-th/9901001", date(1980, 1, 1), True),
        ("hep-th/9901001", date(2026, 12, 1), False),
    ],
)
def test_ids_of_later_months_were_not_issued_yet(paper_id: str, today: date, late: bool) -> None:
    assert not_yet_issued(paper_id, today) is late


def test_long_garbage_is_refused_at_once() -> None:
    worst = ["a." * 999, "0" * 2000, "arxiv." * 333, "-" * 2000, "%2e" * 600, "((((" * 500, "x" * 10_000_000]
    worst += ["0704.0001" + " " * 1900 + "x", "a-" * 999 + "/", "../" * 666, "v" * 2000, "\u200b" * 2000]
    started = time.perf_counter()
    for text in worst:
        with pytest.raises(InvalidArxivId):
            parse(text)
    assert time.perf_counter() - started < 0.5


VERSIONS = st.one_of(st.just(0), st.integers(1, 9999))
OLD_MONTHS = [f"{y % 100:02}{m:02}" for y in range(1991, 2008) for m in range(1, 13) if 199106 < y * 100 + m < 200704]
NEW_MONTHS = [f"{y % 100:02}{m:02}" for y in range(2007, 2100) for m in range(1, 13) if y * 100 + m > 200703]


@st.composite
def ids(draw: st.DrawFn) -> ArxivId:
    if draw(st.booleans()):
        archive, yymm = draw(st.sampled_from(OLD_ARCHIVES)), draw(st.sampled_from(OLD_MONTHS))
        return ArxivId(f"{archive}/{yymm}{draw(st.integers(1, 999)):03}", draw(VERSIONS))
    yymm = draw(st.sampled_from(NEW_MONTHS))
    width = 4 if yymm < "1501" else 5
    return ArxivId(f"{yymm}.{draw(st.integers(1, 10**width - 1)):0{width}}", draw(VERSIONS))


LEADS = ["", "/", "arXiv:", "oai:arXiv.org:", "doi:10.48550/arXiv.", "https://doi.org/10.48550/arXiv.", "abs/"]
LEADS += ["https://arxiv.org/abs/", "http://export.arxiv.org/pdf/", "arxiv.org/html/", "https://huggingface.co/papers/"]
TAILS = ["", "/", ".pdf", ".tar.gz", ".html", "?context=cs", "#S1", " [cs.LG] 1 Jun 2026", "\n", ").", "\u200b"]


@given(ids(), st.sampled_from(LEADS), st.sampled_from(TAILS), st.sampled_from([str, str.upper, str.lower]))
def test_every_spelling_has_one_canonical_form(meant: ArxivId, lead: str, tail: str, case: type[str]) -> None:
    assert parse(case(f"{lead}{meant}{tail}")) == meant
    assert parse(str(meant)) == meant
    assert parse(meant.file_stem) == meant


PIECES = [
    "2610",
    "24133",
    "hep-th",
    "math.GT",
    "9901001",
    "v1",
    "v0",
    "arXiv:",
    "https://arxiv.org/",
    "abs/",
    "..",
    "%2F",
]
PIECES += ["/", ".", "-", "--", "\u200b", ".pdf", "?", "#", "[", "]", " ", "\n", "٢", "２", "0", "000", "list/", "ſ"]
GRAMMAR = re.compile(
    r"([0-9]{2}(0[1-9]|1[0-2])\.[0-9]{4,5}|[a-z]+(-[a-z]+)?/[0-9]{2}(0[1-9]|1[0-2])[0-9]{3})(v[1-9][0-9]{0,3})?"
)


@given(
    st.one_of(
        st.text(),
        st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
        ids().map(str).flatmap(st.permutations).map("".join),
    )
)
def test_nothing_outside_the_grammar_is_accepted(text: str) -> None:
    try:
        found = parse(text)
    except InvalidArxivId:
        return
    archive, slash, rest = found.paper_id.rpartition("/")
    assert GRAMMAR.fullmatch(str(found))
    assert archive in OLD_ARCHIVES if slash else len(rest) == (9 if rest < "1501" else 10)
    assert parse(str(found)) == found


def test_real_ids_are_canonical(shared: Path) -> None:
    with gzip.open(shared / "arxiv" / "papers-1of3.jsonl.gz", "rt", encoding="utf-8") as lines:
        stored = [json.loads(line)["id"] for line in islice(lines, 20_000)]
    assert [parse(paper_id).paper_id for paper_id in stored] == stored
