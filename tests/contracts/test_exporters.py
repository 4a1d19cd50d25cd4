from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from recsys import registry
from recsys.cards import Cards, RelatedList, SearchResults, print_card
from recsys.errors import RecsysError
from recsys.exporters.base import exporter_for
from recsys.exporters.json import JsonExporter
from recsys.exporters.text import TextExporter
from recsys.paper import Paper

FIRST = Paper("2401.90002", 3, "On $k[x,y]$", "A text …", categories=("math.LO", "cs.LO"), published="2026-10-16")
SECOND = Paper("math/0301901", 0, "=1+1", "-b <b>*c*</b>")
ASKED = print_card(Paper("2401.90001", 1, "Query [/b] one", "We ask."))
LISTS = [
    RelatedList(Cards([print_card(FIRST), print_card(SECOND)], [0.9, -0.25]), "", ASKED),
    SearchResults(Cards([], []), "", "some text"),
]


def written(exporter: object, lists: list[RelatedList | SearchResults]) -> bytes:
    out = io.BytesIO()
    exporter.write(iter(lists), out)  # type: ignore[attr-defined]
    return out.getvalue()


@pytest.mark.parametrize("name", registry.EXPORTERS)
def test_same_lists_same_bytes_and_none_at_all_is_no_error(name: str) -> None:
    kind = registry.load(registry.EXPORTERS, name)
    assert written(kind(), LISTS) == written(kind(), LISTS)
    written(kind(), [])
    assert kind.suffixes
    assert all(suffix.startswith(".") for suffix in kind.suffixes)


@pytest.mark.parametrize("name", registry.EXPORTERS)
def test_suffix_chooses(name: str) -> None:
    kind = registry.load(registry.EXPORTERS, name)
    for suffix in kind.suffixes:
        assert type(exporter_for(Path(f"out{suffix.upper()}"))) is kind


def test_unknown_suffix_lists_the_known() -> None:
    with pytest.raises(RecsysError, match=r"'out.xyz'") as caught:
        exporter_for(Path("out.xyz"))
    assert ".parquet" in caught.value.hint


def test_text() -> None:
    assert written(TextExporter(), LISTS[:1]).decode() == (
        "Related papers: Query [/b] one\n\n"
        "A text …\n    0.900 · 2401.90002v3 · On $k[x,y]$ · Fri 16 Oct 2026 · Logic\n\n"
        "-b <b>*c*</b>\n    -0.250 · math/0301901 · =1+1\n"
    )
    assert written(TextExporter(plain=True), LISTS[:1]).decode() == "A text …\n\n-b <b>*c*</b>\n"
    coloured = written(TextExporter(colour=True), LISTS).decode()
    assert coloured.startswith("\x1b[1mRelated papers: Query [/b] one\x1b[0m\n\n")
    assert coloured.endswith("\n\n\x1b[1mPapers for: some text\x1b[0m\n")


def test_text_shows_no_escape_sequence_of_a_paper() -> None:
    evil = print_card(Paper("2401.90002", 1, "a\x1b]8;;http://x\x07b\u202e", "\x9b31m\nred"))
    escape = print_card(Paper("2401.90001", 1, "\x1b[2J", "We ask."))
    text = written(TextExporter(), [RelatedList(Cards([evil], [1.0]), "", escape)]).decode()
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)
    assert text.splitlines()[2] == "\N{REPLACEMENT CHARACTER}31m red"


def test_json_is_the_documented_object() -> None:
    body = json.loads(written(JsonExporter(), LISTS[:1]))
    assert list(body) == ["schema_version", "query", "related"]
    assert body["schema_version"] == 1
    assert body["query"] == {"id": "2401.90001", "version": 1, "title": "Query [/b] one"}
    assert body["related"][0] == {
        "rank": 1,
        "id": "2401.90002",
        "version": 3,
        "title": "On $k[x,y]$",
        "snippet": "A text …",
        "score": 0.9,
        "published": "2026-10-16",
        "subject": "Logic",
        "categories": ["math.LO", "cs.LO"],
        "url": "https://arxiv.org/abs/2401.90002v3",
        "folds": [],
    }
    assert json.loads(written(JsonExporter(), LISTS)) == [json.loads(json.dumps(shown.to_dict())) for shown in LISTS]
    assert json.loads(written(JsonExporter(array=True), LISTS[:1])) == [body]
    assert json.loads(written(JsonExporter(), [])) == []


def test_jsonl_is_the_same_object_a_line() -> None:
    kind = registry.load(registry.EXPORTERS, "jsonl")
    lines = written(kind(), LISTS).decode().splitlines()
    assert [json.loads(line) for line in lines] == json.loads(written(JsonExporter(), LISTS))


def test_ids() -> None:
    assert written(registry.load(registry.EXPORTERS, "ids")(), LISTS) == b"2401.90002\nmath/0301901\n"


def test_csv_runs_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(written(registry.load(registry.EXPORTERS, "csv")(), LISTS).decode())))
    assert [row["query"] for row in rows] == ["2401.90001", "2401.90001"]
    assert rows[0]["categories"] == "math.LO cs.LO"
    assert rows[0]["snippet"] == "A text …"
    assert (rows[1]["title"], rows[1]["snippet"], rows[1]["version"]) == ("'=1+1", "'-b <b>*c*</b>", "")
    assert rows[1]["score"] == "-0.25"


def test_markdown_escapes() -> None:
    text = written(registry.load(registry.EXPORTERS, "md")(), LISTS[:1]).decode()
    assert text.startswith(r"## Related papers: Query \[/b\] one")
    assert r"1. **On \$k\[x,y\]\$** ([2401.90002v3](https://arxiv.org/abs/2401.90002v3))" in text
    assert r"-b \<b\>\*c\*\</b\>" in text


def test_parquet_keeps_ids_as_text(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "lists.parquet"
    path.write_bytes(written(registry.load(registry.EXPORTERS, "parquet")(), LISTS * 600))
    table = pd.read_parquet(path)
    assert len(table) == 1200
    assert table.id[1] == "math/0301901"
    assert table.score[1] == -0.25
    assert (table.version[0], str(table.version[1])) == (3, "nan")


def test_parquet_without_pyarrow_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(RecsysError, match="Parquet needs a library") as caught:
        written(registry.load(registry.EXPORTERS, "parquet")(), LISTS)
    assert caught.value.hint == "pip install 'recsys-arxiv[parquet]'"
