"""Nothing that a file holds raises a traceback, hangs, or costs the good records around it."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import recsys
from recsys.paper import Paper
from recsys.sources.base import Reject
from recsys.sources.jsonl import JsonlSource
from recsys.sources.kaggle import KaggleSource
from recsys.sources.opening import open_stream
from tests.flow.commands import run
from tests.samples import ids, sample

GOOD = [{"id": paper_id, "title": f"Good {paper_id}", "abstract": "A good abstract."} for paper_id in ids(2)]
BASE = {"id": "2401.90009", "title": "Title", "abstract": "Abstract.", "authors": ["A. B"], "categories": ["cs.LG"]}
ODD = [
    None,
    "",
    " ",
    0,
    -1,
    1e308,
    True,
    [],
    {},
    [[[[]]]],
    {"a": {"b": 1}},
    "\u0000",
    "\ud800",
    "\u202e",
    "x" * 100_000,
]
TEXTS = [
    "a" * 10_000_000,
    "a " * 500_000,
    "$" * 1_000_000,
    "{" * 50_000,
    r"\sqrt{" * 20_000,
    "e" + "\u0301" * 5_000,
    "\u2028\u2029\x85",
    "\U0001f468\u200d\U0001f469" * 1_000,
    "<!DOCTYPE x [<!ENTITY a 'b'>]>&a;",
    "=cmd|'/c calc'!A1",
    "[/b][link=x] {{7*7}} ${x} %s %n",
    "'; DROP TABLE papers; --",
    "<script>alert(1)</script>",
    "\x1b]8;;http://x\x07link\x1b]8;;\x07",
]


def nasty() -> Iterator[bytes]:
    """Lines, one hostile record each."""
    for field, odd in itertools.product(
        ("id", "title", "abstract", "authors", "categories", "version", "published"), ODD
    ):
        yield json.dumps({**BASE, field: odd}).encode()
    for field, text in itertools.product(("title", "abstract", "comments"), TEXTS):
        yield json.dumps({**BASE, field: text}).encode()
    for odd_id in (
        "../../etc/passwd",
        "1501.0001",
        "911.1544",
        "CON",
        "2401.90009v0",
        "a" * 10_000,
        "２４０１.９０００９",
        "\u2044",
    ):
        yield json.dumps({**BASE, "id": odd_id}).encode()
    yield from (
        b"{",
        b"}",
        b"null",
        b"[1, 2]",
        b'"text"',
        b"NaN",
        b'{"id": NaN}',
        b'{"id": "2401.90009", "id": "2401.90008", "title": "t"}',
        b'{"id": "2401.90009", "title": "raw \x01 control", "abstract": "tab\there"}',
        b'{"id": "2401.90009", "title": "latin \xe9\xff", "abstract": "x"}',
        b'{"n": ' + b"9" * 5_000 + b"}",
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b'{"id": "2401.90009", "title": "cut in the mid',
        b"\xff\xfe\x00",
        b"\x00" * 1_000,
        b"not json at all",
        b'{"id": "2401.90009", "title": "t", "abstract": "' + b"x" * 2_000_000 + b'"}',
        b"",
        b"   ",
    )


def test_every_nasty_record_is_stored_or_rejected_and_its_neighbours_stay(tmp_path: Path) -> None:
    lines = list(nasty())
    assert len(lines) >= 150
    good = [json.dumps(record).encode() for record in GOOD]
    source = tmp_path / "nasty.jsonl"
    source.write_bytes(b"\n".join([good[0], *lines, good[1]]) + b"\n")
    start = time.process_time()
    report = recsys.ingest([source], tmp_path / "index")
    assert time.process_time() - start < 2 * len(lines)
    assert report.unreadable == ()
    assert report.read == len([line for line in lines if line.strip()]) + 2
    with recsys.open(tmp_path / "index") as library:
        assert [library.paper(paper_id).title for paper_id in ids(2)] == [record["title"] for record in GOOD]
        assert len(list(library.rejects())) > 50
        assert all(reject.excerpt.isascii() and len(reject.excerpt) <= 1200 for reject in library.rejects())
    recsys.update(tmp_path / "index", encoder="hashing")
    for command in (
        ["info"],
        ["info", "--rejects"],
        ["related", ids(1)[0]],
        ["related", "2401.90009"],
        ["search", "title"],
    ):
        result = run(*command, "--index", tmp_path / "index")
        assert result.exit_code in (0, 3), result.stderr
        assert "\x1b" not in result.stdout


@pytest.mark.parametrize("name", ["jsonl", "kaggle", "arxiv-raw", "atom", "rss", "csv"])
def test_a_cut_file_keeps_its_whole_records_and_says_so(name: str, tmp_path: Path) -> None:
    content = sample(name, 30)
    source = tmp_path / "cut.gz"
    packed = gzip.compress(content, 1)
    source.write_bytes(packed[:-20])
    result = run("ingest", source, "--index", tmp_path / "index", "--format", name)
    assert result.exit_code == 1
    assert "Traceback" not in result.stderr
    assert str(source) in result.stderr
    stored = recsys.open(tmp_path / "index").info().papers
    assert stored >= 10


XML_ATTACKS = {
    "billion laughs": b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><feed>&b;</feed>',
    "external entity": b'<!DOCTYPE f [<!ENTITY x SYSTEM "file:///etc/passwd">]><feed><entry><id>&x;</id></entry></feed>',
    "parameter entity": b'<!DOCTYPE f [<!ENTITY % x SYSTEM "http://127.0.0.1/x"> %x;]><feed/>',
    "plain doctype": b"<!DOCTYPE html><html><body>Rate exceeded.</body></html>",
    "deep": b"<feed><entry>" + b"<a>" * 200_000,
    "long text": b"<feed><entry><id>" + b"x" * 8_000_000 + b"</id></entry></feed>",
    "many attributes": b"<feed><entry " + b" ".join(b'a%d="1"' % n for n in range(100_000)) + b"/></feed>",
    "many elements": b"<feed><entry>" + b"<a/>" * 300_000 + b"</entry></feed>",
    "undefined entity": b"<feed><entry><id>&nope;</id></entry></feed>",
    "encoding that lies": b'<?xml version="1.0" encoding="utf-16"?><feed><entry/></feed>',
    "no markup": b"Rate exceeded.",
    "empty": b"",
}


@pytest.mark.parametrize("attack", XML_ATTACKS)
@pytest.mark.parametrize("name", ["atom", "arxiv-raw"])
def test_xml_attacks(attack: str, name: str, tmp_path: Path) -> None:
    content = XML_ATTACKS[attack]
    if name == "arxiv-raw":
        content = content.replace(b"feed", b"OAI-PMH").replace(b"entry", b"record")
    (tmp_path / "x.xml").write_bytes(content)
    (tmp_path / "y.jsonl").write_text(json.dumps(GOOD[0]))
    start = time.process_time()
    report = recsys.ingest([tmp_path / "x.xml"], tmp_path / "index", format=name)
    assert time.process_time() - start < 10
    assert report.stored == 0
    assert report.rejected + len(report.unreadable) <= 1
    assert "passwd" not in str(report)
    assert recsys.ingest([tmp_path / "x.xml", tmp_path / "y.jsonl"], tmp_path / "index").stored == 1


def mutated(line: bytes, chance: random.Random) -> bytes:
    """One to three random edits: a flipped, dropped, doubled or foreign piece."""
    pieces = [
        b"\x00",
        b"\xff",
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b",",
        b":",
        b"null",
        b"\\ud800",
        b"NaN",
        b"\r",
        b"$",
        b"999999",
    ]
    for _ in range(chance.randint(1, 3)):
        place, size = chance.randrange(len(line) + 1), chance.choice((0, 1, 1, 2, 30))
        middle = chance.choice(
            (b"", line[place : place + 2 * size], bytes([chance.randrange(256)]), chance.choice(pieces))
        )
        line = line[:place] + middle + line[place + size :]
    return line.replace(b"\n", b" ")


def test_fifty_thousand_mutations_of_real_lines(shared: Path, tmp_path: Path) -> None:
    kaggle = next((shared / "raw" / "kaggle").iterdir()).read_bytes().splitlines()
    with gzip.open(shared / "arxiv" / "papers-1of3.jsonl.gz") as lines:
        generic = [line.rstrip(b"\n") for line in itertools.islice(lines, 200)]
    chance = random.Random(20_261_201)
    for source, real in ((KaggleSource(), kaggle), (JsonlSource(), generic)):
        path = tmp_path / "mutations.jsonl"
        good = json.dumps(GOOD[0]).encode()
        mutations = [mutated(chance.choice(real), chance) for _ in range(25_000)]
        path.write_bytes(b"\n".join(line for mutation in mutations for line in (mutation, good)))
        with open_stream(str(path)) as (stream, _):
            found = list(source.read(stream))
        papers = [record for record in found if isinstance(record, Paper)]
        assert sum(paper.title == GOOD[0]["title"] for paper in papers) == 25_000
        rejects = [record for record in found if isinstance(record, Reject)]
        assert 2_000 < len(rejects) < 25_000
        assert all(reject.reason and reject.line > 0 for reject in rejects)
        for paper in papers:
            "\x1f".join((paper.paper_id, paper.title, paper.abstract, *paper.authors, paper.comments)).encode()


def test_every_dirty_record_is_stored_or_rejected(shared: Path, tmp_path: Path) -> None:
    records = [json.loads(line)["record"] for line in (shared / "dirty.jsonl").read_text().splitlines()]
    path = tmp_path / "dirty.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records if isinstance(record, dict)))
    report = recsys.ingest([path], tmp_path / "index")
    assert report.unreadable == ()
    assert report.read == sum(isinstance(record, dict) for record in records)
    assert report.stored > 150
    whole = recsys.ingest([shared / "dirty.jsonl"], tmp_path / "wrapped")
    assert whole.rejected == whole.read == 318
