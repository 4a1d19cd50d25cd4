"""Every reader: the same paper out of every format, damage survived, nothing kept in memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tracemalloc
import zipfile
from pathlib import Path

import pytest
import zstandard

from recsys import registry
from recsys.errors import UnreadableInput
from recsys.paper import Paper
from recsys.sources.base import HEAD, Reject, peek
from recsys.sources.detection import detect
from recsys.sources.opening import open_stream
from tests.samples import expected, ids, sample

LINES_OF_A_ROW = 2
"""The invented abstract has a line end in it."""


def read(name: str, content: bytes) -> list[Paper | Reject]:
    source = registry.load(registry.SOURCES, name)()
    return list(source.read(io.BufferedReader(io.BytesIO(content), HEAD)))


def read_until_damage(name: str, content: bytes) -> tuple[list[Paper | Reject], bool]:
    """What was read, and whether the reader then said that the rest cannot be."""
    found: list[Paper | Reject] = []
    source = registry.load(registry.SOURCES, name)()
    try:
        for record in source.read(io.BufferedReader(io.BytesIO(content), HEAD)):
            found.append(record)
    except UnreadableInput:
        return found, True
    return found, False


@pytest.fixture(params=registry.SOURCES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_paper(name: str) -> None:
    source = registry.load(registry.SOURCES, name)
    assert source.name == name
    (paper,) = read(name, sample(name))
    assert isinstance(paper, Paper)
    assert paper == expected(name)
    assert (paper.source, paper.rank) == (name, source.rank)


def test_only_its_reader_recognises_it(name: str) -> None:
    assert detect(sample(name, 3)[:HEAD], "") == name
    assert detect(sample(name, 3)[:HEAD], "misleading.rss") == name


def test_records_come_in_file_order(name: str) -> None:
    found = read(name, sample(name, 25))
    assert [record.paper_id for record in found if isinstance(record, Paper)] == ids(25)


def test_a_cut_anywhere_keeps_the_whole_records_before_it(name: str) -> None:
    content = sample(name, 8)
    for cut in range(0, len(content), max(1, len(content) // 40)):
        found, damaged = read_until_damage(name, content[:cut])
        papers = [record.paper_id for record in found if isinstance(record, Paper)]
        assert papers == ids(len(papers)), cut
        if name in ("jsonl", "kaggle"):
            assert len(papers) >= content[:cut].count(b"\n")
        elif name == "csv":
            assert len(papers) >= (content[:cut].count(b"\n") - 1) // LINES_OF_A_ROW
        elif name != "parquet":
            whole = max(content[:cut].count(end) for end in (b"</record>", b"</entry>", b"</item>"))
            assert len(papers) == whole
            assert damaged


def test_damage_anywhere_never_raises_but_to_say_so(name: str) -> None:
    chance = random.Random(20_261_201)
    content = sample(name, 6)
    pieces = (b"", b"\0", b"<", b">", b'"', b"&", b",", b"\n", b"{", b"]", b"\xff", b"encoding='x'", content[100:140])
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(damaged))
            damaged[place : place + chance.choice((0, 1, 2, 30))] = chance.choice(pieces)
        found, _ = read_until_damage(name, bytes(damaged))
        assert all(isinstance(record, Paper) or record.reason for record in found)


def test_memory_does_not_grow_with_the_file(name: str) -> None:
    peaks = []
    for n in (200, 4000):
        content = io.BufferedReader(io.BytesIO(sample(name, n)), HEAD)
        source = registry.load(registry.SOURCES, name)()
        next(iter(registry.load(registry.SOURCES, name)().read(io.BufferedReader(io.BytesIO(sample(name)), HEAD))))
        tracemalloc.start()
        count = sum(isinstance(record, Paper) for record in source.read(content))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert count == n
    allowed = 6_000_000 if name in ("csv", "parquet") else 1_500_000
    assert peaks[1] < peaks[0] + allowed


@pytest.mark.parametrize("packing", ["plain", "gzip", "two gzips", "gzip with padding", "zip", "zstd", "bz2", "xz"])
def test_compression_is_told_by_content(name: str, packing: str, tmp_path: Path) -> None:
    content = sample(name, 3)
    half = len(content) // 2
    packed = {
        "plain": lambda: content,
        "gzip": lambda: gzip.compress(content),
        "two gzips": lambda: gzip.compress(content[:half]) + gzip.compress(content[half:]),
        "gzip with padding": lambda: gzip.compress(content) + b"\0" * 100 + b"junk",
        "zip": lambda: _zip(content),
        "zstd": lambda: zstandard.compress(content),
        "bz2": lambda: bz2.compress(content),
        "xz": lambda: lzma.compress(content),
    }[packing]()
    path = tmp_path / "input.bin"
    path.write_bytes(packed)
    with open_stream(str(path)) as (stream, _):
        assert detect(peek(stream), "") == name
        found = list(registry.load(registry.SOURCES, name)().read(stream))
    assert [record.paper_id for record in found if isinstance(record, Paper)] == ids(3)


def _zip(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.txt", b"x" * 10_000)
        archive.writestr("data/../arxiv.json", content)
    return out.getvalue()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_other_encodings(name: str, encoding: str, tmp_path: Path) -> None:
    if name == "parquet":
        pytest.skip("a binary format")
    marks = {"utf-16-le": b"\xff\xfe"}
    text = sample(name, 2).decode().replace(' encoding="UTF-8"', "")
    path = tmp_path / "input"
    path.write_bytes(marks.get(encoding, b"") + text.encode(encoding, "replace"))
    with open_stream(str(path)) as (stream, _):
        assert detect(peek(stream), "") == name
        found, _ = _until_damage(registry.load(registry.SOURCES, name)().read(stream))
    papers = [record.paper_id for record in found if isinstance(record, Paper)]
    if encoding != "latin-1" or name in ("jsonl", "kaggle", "csv"):
        assert papers == ids(2)


def _until_damage(records: object) -> tuple[list[Paper | Reject], bool]:
    found: list[Paper | Reject] = []
    try:
        for record in records:  # type: ignore[attr-defined]
            found.append(record)
    except UnreadableInput:
        return found, True
    return found, False
