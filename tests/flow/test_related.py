from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import recsys
from recsys.sample import EXAMPLE, papers_file
from tests.flow.commands import run, spawn

RECORDS = {record["id"]: record for record in map(json.loads, papers_file().read_text().splitlines())}
WITHDRAWN = next(key for key, record in RECORDS.items() if "withdrawn" in record["comments"])
EMPTY = next(key for key, record in RECORDS.items() if not record["abstract"])
OLD = next(key for key, record in RECORDS.items() if "/" in key and "withdrawn" not in record["comments"])


def test_text(sample_index: Path) -> None:
    result = run("related", EXAMPLE, "--index", sample_index)
    assert result.exit_code == 0
    assert result.stderr == ""
    heading, *blocks = result.stdout.rstrip("\n").split("\n\n")
    assert heading == f"Related papers: {RECORDS[EXAMPLE]['title']}"
    assert len(blocks) == 20
    for block in blocks:
        snippet, caption = block.split("\n    ")
        assert len(snippet) <= 241
        score, versioned_id, *_ = caption.split(" · ")
        assert -1 <= float(score) <= 1
        assert versioned_id.partition("v")[0] in RECORDS
    assert EXAMPLE not in result.stdout


def test_plain_is_the_snippets_alone(sample_index: Path) -> None:
    shown = recsys.open(sample_index).related(EXAMPLE)
    result = run("related", EXAMPLE, "--plain", "--index", sample_index)
    assert result.stdout == "\n\n".join(card.snippet for card in shown) + "\n"


def test_json(sample_index: Path) -> None:
    body = json.loads(run("related", EXAMPLE, "--json", "-k", 7, "--index", sample_index).stdout)
    assert body["schema_version"] == 1
    assert body["query"] == {"id": EXAMPLE, "version": RECORDS[EXAMPLE]["version"], "title": RECORDS[EXAMPLE]["title"]}
    assert [item["rank"] for item in body["related"]] == list(range(1, 8))
    scores = [item["score"] for item in body["related"]]
    assert scores == sorted(scores, reverse=True)
    first = body["related"][0]
    assert list(first) == [
        "rank",
        "id",
        "version",
        "title",
        "snippet",
        "score",
        "published",
        "subject",
        "categories",
        "url",
        "folds",
    ]
    assert first["url"] == f"https://arxiv.org/abs/{first['id']}v{first['version']}"
    assert first["published"] == RECORDS[first["id"]]["published"]


@pytest.mark.parametrize(
    "spelling",
    ["{id}", "{id}v2", "arXiv:{id}", "https://arxiv.org/abs/{id}v1", "https://arxiv.org/pdf/{id}.pdf", " {id}, "],
)
@pytest.mark.parametrize("paper_id", [EXAMPLE, OLD])
def test_every_spelling_is_one_paper(sample_index: Path, spelling: str, paper_id: str) -> None:
    expected = run("related", paper_id, "--json", "--index", sample_index).stdout
    result = run("related", spelling.format(id=paper_id), "--json", "--index", sample_index)
    assert result.stdout == expected
    assert json.loads(expected)["query"]["id"] == paper_id


def test_many_from_stdin_in_input_order(sample_index: Path) -> None:
    wanted = [EXAMPLE, OLD, *list(RECORDS)[5:9]]
    stdin = f"# ids\n{wanted[0]}\n\n" + "\n".join(f"arXiv:{paper_id}  # why" for paper_id in wanted[1:])
    result = run("related", "-", "--format", "jsonl", "--index", sample_index, stdin=stdin)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [answer["query"]["id"] for answer in answers] == wanted
    assert answers[0] == json.loads(run("related", EXAMPLE, "--json", "--index", sample_index).stdout)


def test_several_are_an_array_even_where_one_fails(sample_index: Path) -> None:
    result = run("related", EXAMPLE, WITHDRAWN, "--json", "--index", sample_index)
    assert result.exit_code == 3
    assert [answer["query"]["id"] for answer in json.loads(result.stdout)] == [EXAMPLE]
    assert "was withdrawn" in result.stderr


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (WITHDRAWN, "was withdrawn"),
        (EMPTY, "has no abstract"),
        ("2402.00001", "never ingested"),
        ("4712.00001", "not yet issued"),
        ("2613.00001", "is not an arXiv id"),
        ("1501.0001", "1501.00010"),
        ("../../etc/passwd", "is not an arXiv id"),
        ("", "is not an arXiv id"),
    ],
)
def test_an_id_without_a_list_says_why(sample_index: Path, asked: str, says: str) -> None:
    result = run("related", asked, "--index", sample_index)
    assert (result.exit_code, result.stdout) == (3, "")
    (line,) = result.stderr.splitlines()
    assert says in line
    as_json = json.loads(run("related", asked, "--json", "--index", sample_index).stderr)
    assert says in json.dumps(as_json, ensure_ascii=False)
    assert set(as_json["error"]) == {"code", "message", "hint"}


def test_md_csv_ids(sample_index: Path, tmp_path: Path) -> None:
    ids = run("related", EXAMPLE, "--format", "ids", "--index", sample_index).stdout.split()
    rows = csv.DictReader(io.StringIO(run("related", EXAMPLE, "--format", "csv", "--index", sample_index).stdout))
    assert [row["id"] for row in rows] == ids
    assert run("related", EXAMPLE, "--format", "md", "--index", sample_index).stdout.startswith("## Related papers: ")
    target = tmp_path / "out.jsonl"
    assert run("related", EXAMPLE, "-o", target, "--index", sample_index).stdout == ""
    assert [item["id"] for item in json.loads(target.read_text())["related"]] == ids


def test_a_failed_query_leaves_the_output_file(sample_index: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")
    assert run("related", WITHDRAWN, "-o", target, "--index", sample_index).exit_code == 3
    assert target.read_text() == "old"


@pytest.mark.parametrize(
    "arguments",
    [["related"], ["related", "1", "-k", "0"], ["related", "1", "--format", "xyz"], ["nonsense"], ["related", "--x"]],
)
def test_usage_errors_exit_2(sample_index: Path, arguments: list[str]) -> None:
    result = run(*arguments, *(["--index", str(sample_index)] if arguments[0] == "related" else []))
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr


def test_no_index_exits_4(tmp_path: Path) -> None:
    result = run("related", EXAMPLE, "--index", tmp_path / "absent")
    assert result.exit_code == 4
    assert "recsys ingest FILE" in result.stderr
    recsys.ingest([papers_file()], tmp_path / "made")
    result = run("related", EXAMPLE, "--index", tmp_path / "made")
    assert result.exit_code == 4
    assert "recsys update" in result.stderr


def test_k_beyond_the_stored_list_is_searched(sample_index: Path) -> None:
    stored = json.loads(run("related", EXAMPLE, "--json", "-k", 40, "--index", sample_index).stdout)["related"]
    more = json.loads(run("related", EXAMPLE, "--json", "-k", 60, "--index", sample_index).stdout)["related"]
    assert len(more) == 60
    assert more[:40] == stored


def test_environment_names_the_index(sample_index: Path) -> None:
    result = spawn("related", EXAMPLE, "--format", "ids", RECSYS_INDEX=str(sample_index))
    assert result.stdout == run("related", EXAMPLE, "--format", "ids", "--index", sample_index).stdout


def test_no_colour_in_a_pipe_and_a_closed_pipe_is_quiet(sample_index: Path) -> None:
    result = spawn("related", EXAMPLE, "--index", sample_index, FORCE_COLOR="")
    assert "\x1b" not in result.stdout + result.stderr
    command = f"{spawn_prefix()} related {EXAMPLE} {EXAMPLE} --index '{sample_index}' | head -c 1"
    import subprocess

    piped = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (piped.stdout, piped.stderr) == ("R", "")


def spawn_prefix() -> str:
    import sys

    return f"'{sys.executable}' -m recsys"
