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


def ids(found: list[Paper | Reject]) -> list[str]:
    return [record.paper_id for record in found if isinstance(record, Paper)]


def test_rejects_name_the_line_on_which_the_row_begins() -> None:
    found = read_csv(
        '\nid,title,abstract\n2401.90001,T,"a\nb\n\nc"\n\nnonsense,T,A\n2401.90002,T,A,more\n2401.90003,T\n'
    )
    assert ids(found) == ["2401.90001", "2401.90003"]
    rejects = [record for record in found if isinstance(record, Reject)]
    assert [(reject.line, reject.reason[:22]) for reject in rejects] == [
        (8, "'nonsense' is not an a"),
        (9, "more cells than column"),
    ]
    assert "2401.90002,T,A,more" in rejects[1].excerpt


@pytest.mark.parametrize(
    "broken",
    [
        '2401.90002,"open,A',
        '2401.90002,T,"' + "x" * 2_000_000,
        '2401.90002,"T\r,"A',
    ],
    ids=["open", "long", "open twice"],
)
@pytest.mark.parametrize(
    "after", ['2401.90003,T,A\n2401.90004,"T, t",A\n', "2401.90003,T,A\n" * 50_000], ids=["quote", "none"]
)
def test_a_quote_that_does_not_close_costs_one_line(broken: str, after: str) -> None:
    found = read_csv(f'id,title,abstract\n2401.90001,T,"A, a"\n{broken}\n{after}')
    assert ids(found) == ["2401.90001", *[line[:10] for line in after.splitlines()]]
    (reject,) = [record for record in found if isinstance(record, Reject)]
    assert reject.line == 3
    assert reject.excerpt.startswith("2401.90002,")


def test_quotes_in_odd_places_of_a_whole_row_are_text() -> None:
    (paper,) = read_csv('id,title\n2401.90001,"On "odd" numbers"\n')
    assert isinstance(paper, Paper)
    assert paper.title == 'On odd" numbers"'


def test_a_row_without_end_is_given_up_and_not_held() -> None:
    lines = "2401.90001,T\n" + '"\n",' * 400_000 + '"\n2401.90003,T\n'
    found = read_csv("id,title\n" + lines)
    assert ids(found)[0] == "2401.90001"
    assert any("longer than" in record.reason for record in found if isinstance(record, Reject))


def test_rows_before_damage_are_kept() -> None:
    class Broken(io.RawIOBase):
        def __init__(self) -> None:
            self.parts = [b"id,title\n", b"2401.90001,T\n", b"2401.90002,T\n24"]

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            if not self.parts:
                raise UnreadableInput("damaged")
            part = self.parts.pop(0)
            buffer[: len(part)] = part
            return len(part)

    found: list[Paper | Reject] = []
    with pytest.raises(UnreadableInput, match="damaged"):
        found.extend(CsvSource().read(io.BufferedReader(Broken(), HEAD)))
    with pytest.raises(UnreadableInput, match="damaged"):
        for record in CsvSource().read(io.BufferedReader(Broken(), HEAD)):
            found.append(record)
    assert ids(found)[-2:] == ["2401.90001", "2401.90002"]


def test_lists_that_a_table_holds_as_text() -> None:
    (paper,) = read_csv("""id,title,authors,terms\n2401.90001,T,"['A. B', ""C. O'D""]","['cs.LG', 'stat.ML']"\n""")
    assert isinstance(paper, Paper)
    assert (paper.authors, paper.categories) == (("A. B", "C. O'D"), ("cs.LG", "stat.ML"))
    (paper,) = read_csv("id,title,authors\n2401.90001,T,[The] A. B\n")
    assert isinstance(paper, Paper)
    assert paper.authors == ("[The] A. B",)


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


def test_dates_and_versions_of_their_own_types_in_parquet() -> None:
    table = parquet(id=["2401.90001"], title=["T"], published=[pd.Timestamp("2024-01-05 10:00")], version=[2.0])
    (paper,) = ParquetSource().read(table)
    assert isinstance(paper, Paper)
    assert (paper.published, paper.version) == ("2024-01-05", 2)


def test_text_in_parquet_that_is_no_utf8_costs_its_letters_only() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    ids_, titles = [b"2401.90001", b"2401.90002"], [b"good", b"L\xf6f"]
    table = pa.table([pa.array(column, pa.binary()).view(pa.string()) for column in (ids_, titles)], ["id", "title"])
    out = io.BytesIO()
    pq.write_table(table, out)
    out.seek(0)
    found = list(ParquetSource().read(out))
    assert [(paper.paper_id, paper.title) for paper in found if isinstance(paper, Paper)] == [
        ("2401.90001", "good"),
        ("2401.90002", "L\ufffdf"),
    ]


def test_damaged_parquet_is_one_line() -> None:
    content = parquet(id=["2401.90001"], title=["T"]).getvalue()
    with pytest.raises(UnreadableInput, match="Parquet file that breaks"):
        list(ParquetSource().read(io.BytesIO(content[:-20])))


def test_parquet_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra):
        list(ParquetSource().read(io.BytesIO(b"PAR1")))
