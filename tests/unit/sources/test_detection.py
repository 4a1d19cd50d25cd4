from __future__ import annotations

import json
from pathlib import Path

import pytest

from recsys.sources.base import HEAD
from recsys.sources.detection import detect
from tests.samples import sample


@pytest.mark.parametrize(
    ("head", "filename"),
    [
        (b"<!DOCTYPE html><html><head><title>429</title></head>", "page.xml"),
        (b"<html><body>see <rss> and <feed xmlns='http://www.w3.org/2005/Atom'></body></html>", "page.json"),
        (b"<html>an OAI-PMH page of http://www.openarchives.org/OAI/</html>", ""),
        (b"Rate exceeded.", ""),
        (b"Rate exceeded, wait.", "answer.xml"),
        (b"", ""),
        (b"\x7fELF\0\0", "program"),
        (b"<marc:collection><marc:record/></marc:collection>", "m.xml"),
    ],
)
def test_what_is_no_metadata(head: bytes, filename: str) -> None:
    assert detect(head, filename) is None


def test_an_answer_wrapped_in_json_is_json() -> None:
    assert detect(json.dumps({"body": sample("atom").decode()}).encode(), "x.json") == "jsonl"
    assert detect(json.dumps({"id": "1", "abstract": "an <rss> of OAI-PMH"}).encode(), "x.xml") == "jsonl"


@pytest.mark.parametrize(
    ("name", "element"), [("arxiv-raw", "arXivRaw"), ("arxiv-oai", "arXiv"), ("atom", "feed"), ("oai-dc", "record")]
)
def test_any_prefix(name: str, element: str) -> None:
    content = sample(name).decode().replace("?>", "?><!-- harvested -->", 1)
    prefixed = content.replace(f"<{element}", f"<p:{element}").replace(f"</{element}", f"</p:{element}")
    assert detect(prefixed.replace("xmlns=", "xmlns:p=").encode(), "") == name


def test_a_harvest_that_begins_with_deletions() -> None:
    deleted = "<record><header status='deleted'><identifier>x</identifier></header></record>" * 1_000
    request = '<request verb="ListRecords" metadataPrefix="arXivRaw">x</request>'
    content = sample("arxiv-raw").decode().replace("<ListRecords>", f"{request}<ListRecords>{deleted}")
    assert detect(content.encode()[:HEAD], "") == "arxiv-raw"


def test_every_raw_file_has_its_reader(shared: Path) -> None:
    """By folder; files of other formats (MARC, Identify, .abs) have none, or a reader that then says what is wrong."""
    raw = shared / "raw"
    expected = {"kaggle": {"kaggle"}, "rss": {"rss"}, "atom": {"atom", "jsonl"}}
    for folder, names in expected.items():
        files = [path for path in (raw / folder).rglob("*") if path.is_file()]
        assert {detect(path.read_bytes()[:HEAD], path.name) for path in files} == names
    assert {detect(path.read_bytes()[:HEAD], path.name) for path in (raw / "abs_files").iterdir()} == {None}
