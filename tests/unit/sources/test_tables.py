from __future__ import annotations

import io
import sys
from pathlib import Path

import pandas as pd
import pytest

import recsys
from recsys.errors import MissingExtra, UnreadableInput
from recsys.paper import Paper
from recsys.sources.base import HEAD, Reject
from recsys.sources.csv import CsvSource
from recsys.sources.parquet import ParquetSource
from tests.flow.commands import run


def read_csv(text: str, columns: dict[str, str] | None = None) -> list[Paper | Reject]:
    return list(CsvSource().read(io.BufferedReader(io.BytesIO(text.encode()), HEAD), columns))


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
def test_ids_keep_their_zeros_whatever_the_separator(separator: str) -> None:
    text = "id,title,abstract\n0704.0010,T,NA\n1501.00010,null,A\n".replace(",", separator)
    found = [record for record in read_csv(text) if isinstance(record, Paper)]
    assert [(paper.paper_id, paper.title, paper.abstract) for paper in found] == [
        ("0704.0010", "T", "NA"),
        ("1501.00010", "null", "A"),
    ]


def test_columns_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Key,Name,Text,Tags\n2401.90001,T,A,cs.LG stat.ML\n")
    names = ["id=Key", "title=Name", "abstract=Text", "categories=Tags"]
    options = [word for name in names for word in ("--column", name)]
    result = run("ingest", tmp_path / "t.csv", "--index", tmp_path / "index", *options)
    assert result.stdout.startswith("read 1 = stored 1")
    paper = recsys.open(tmp_path / "index").paper("2401.90001")
    assert (paper.title, paper.abstract, paper.categories) == ("T", "A", ("cs.LG", "stat.ML"))


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"id": "Absent"}, "no column 'Absent' for 'id'; there is: Key, title"),
        ({"colour": "Key"}, "for 'colour'"),
        ({}, "no column is the id or the title"),
    ],
)
def test_columns_that_are_not_there(columns: dict[str, str], says: str) -> None:
    with pytest.raises(UnreadableInput, match=says):
        read_csv("Key,title\n1,T\n", columns)


def test_bad_rows_cost_only_themselves() -> None:
    found = read_csv('id,title\n2401.90001,T\n2401.90002,T,more,cells\nnonsense,T\n2401.90003,"a\nb"\n')
    assert [record.paper_id for record in found if isinstance(record, Paper)] == ["2401.90001", "2401.90003"]
    reasons = [record.reason for record in found if isinstance(record, Reject)]
    assert any("not an arXiv id" in reason for reason in reasons)
    assert "more cells than columns" in reasons


def test_an_empty_table_is_one_line() -> None:
    with pytest.raises(UnreadableInput, match="a table that breaks"):
        read_csv("")
    assert read_csv("id,title\n") == []


def parquet(**columns: list[object]) -> io.BytesIO:
    out = io.BytesIO()
    pd.DataFrame(columns).to_parquet(out)
    out.seek(0)
    return out


def test_numeric_ids_in_parquet_are_refused_with_the_reason() -> None:
    found = list(ParquetSource().read(parquet(id=[1501.0001, 2401.9], title=["T", "U"])))
    assert all(isinstance(record, Reject) and "float, not text" in record.reason for record in found)
    assert [record.line for record in found if isinstance(record, Reject)] == [1, 2]


def test_lists_in_parquet() -> None:
    table = parquet(id=["2401.90001"], title=["T"], authors=[["A. B", "C. D"]], categories=[["cs.LG", "cs.CL"]])
    (paper,) = ParquetSource().read(table)
    assert isinstance(paper, Paper)
    assert (paper.authors, paper.categories) == (("A. B", "C. D"), ("cs.LG", "cs.CL"))


def test_damaged_parquet_is_one_line() -> None:
    content = parquet(id=["2401.90001"], title=["T"]).getvalue()
    with pytest.raises(UnreadableInput, match="Parquet file that breaks"):
        list(ParquetSource().read(io.BytesIO(content[:-20])))


def test_parquet_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra):
        list(ParquetSource().read(io.BytesIO(b"PAR1")))
