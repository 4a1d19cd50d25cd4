from __future__ import annotations

import io
import json

import pytest

from recsys.sources.base import HEAD, Reject, peek
from recsys.sources.jsonlines import MAX_LINE, objects

RECORDS = [{"id": str(n), "nested": {"a": [1, {"b": "}{"}]}, "text": 'quote " brace } é'} for n in range(50)]


def read(content: bytes) -> tuple[list[dict[str, object]], list[Reject]]:
    stream = io.BufferedReader(io.BytesIO(content), HEAD)
    found = list(objects(stream, peek(stream)))
    rejects = [record for record in found if isinstance(record, Reject)]
    return [record[2] for record in found if not isinstance(record, Reject)], rejects


@pytest.mark.parametrize(
    "content",
    [
        "\n".join(map(json.dumps, RECORDS)),
        "\r\n".join(map(json.dumps, RECORDS)) + "\r\n\r\n",
        " ".join(map(json.dumps, RECORDS)),
        ",\n".join(map(json.dumps, RECORDS)),
        json.dumps(RECORDS),
        json.dumps(RECORDS, indent=2),
        "\n".join(json.dumps(record, indent=1) for record in RECORDS),
        "[\n" + ",\n".join(map(json.dumps, RECORDS)) + "\n]\n",
        "\n\n  " + json.dumps(RECORDS, ensure_ascii=False),
    ],
    ids=["lines", "crlf", "one line", "commas", "array", "pretty array", "pretty objects", "array of lines", "utf-8"],
)
def test_every_layout_gives_the_same_records(content: str) -> None:
    assert read(content.encode()) == (RECORDS, [])


def test_a_long_document_is_read_in_pieces() -> None:
    records = [{"id": str(n), "text": "x" * 3000} for n in range(500)]
    assert read(json.dumps(records, indent=1).encode()) == (records, [])


def test_a_broken_record_in_a_document_costs_only_itself() -> None:
    pieces = [json.dumps(record, indent=1) for record in RECORDS]
    pieces[7] = pieces[7].replace(": ", " ", 1)
    found, rejects = read(("[\n" + ",\n".join(pieces) + "\n]").encode())
    assert found == [record for record in RECORDS if record["id"] != "7"]
    assert len(rejects) == 1
    assert rejects[0].line > 20


def test_a_broken_record_in_a_document_of_one_line_costs_its_pieces_only() -> None:
    pieces = list(map(json.dumps, RECORDS))
    pieces[7] = pieces[7].replace(": ", " ", 1)
    found, rejects = read(("[" + ", ".join(pieces) + "]").encode())
    assert found == [record for record in RECORDS if record["id"] != "7"]
    assert 1 <= len(rejects) <= 3


def test_other_values_in_an_array_are_rejects() -> None:
    found, rejects = read(b'[{"a": 1}, 5, "text", {"b": 2}]')
    assert found == [{"a": 1}, {"b": 2}]
    assert [reject.reason for reject in rejects] == ["not an object"] * 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "not JSON"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b"[" * 5000, "nested too deeply"),
        (b'{"a": "' + b"x" * MAX_LINE + b'"}', "longer than"),
        (b'{"n": ' + b"9" * 5000 + b"}", "not JSON"),
    ],
)
def test_bad_lines_are_named_and_skipped(line: bytes, reason: str) -> None:
    found, rejects = read(b'{"before": 1}\n' + line + b'\n{"after": 1}\n')
    assert found == [{"before": 1}, {"after": 1}]
    assert [reject.line for reject in rejects] == [2]
    assert reason in rejects[0].reason


def test_line_numbers_count_blank_lines() -> None:
    _, rejects = read(b'{"a": 1}\n\n\nbad\n')
    assert [reject.line for reject in rejects] == [4]
