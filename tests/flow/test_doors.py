"""What holds for every command: versions, errors of the machine, `python -m`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import recsys
from recsys.sample import EXAMPLE, papers_file
from tests.flow.commands import run, spawn
from tests.samples import ABSTRACT, TITLE


def test_version_and_help() -> None:
    assert run("--version").stdout == f"recsys {recsys.__version__}\n"
    assert spawn("-V").stdout == spawn("--version").stdout
    assert "Usage: recsys" in spawn("-h").stdout
    console = shutil.which("recsys", path=str(Path(sys.executable).parent))
    assert console is not None
    assert subprocess.run([console, "-V"], capture_output=True, text=True).stdout == run("--version").stdout


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    result = run("ingest", papers_file(), "--index", tmp_path / "index")
    assert result.exit_code == 1


def test_an_index_path_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run("ingest", papers_file(), "--index", tmp_path / "file")
    assert result.exit_code == 1
    assert "file" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_output_folder_that_is_absent(sample_index: Path, tmp_path: Path) -> None:
    for command in (["related", EXAMPLE], ["export", "related"]):
        result = run(*command, "-o", tmp_path / "absent" / "out.jsonl", "--index", sample_index)
        assert result.exit_code == 1
        assert "No such file" in result.stderr
        assert json.loads(
            run(*command, "-o", tmp_path / "absent" / "out.jsonl", "--json", "--index", sample_index).stderr
        )["error"]["code"]


def test_binary_to_a_pipe_is_allowed(sample_index: Path) -> None:
    command = [sys.executable, "-m", "recsys", "related", EXAMPLE, "--format", "parquet", "--index", str(sample_index)]
    assert subprocess.run(command, capture_output=True, check=True).stdout.startswith(b"PAR1")


def test_ascii_terminals_get_the_text_all_the_same(sample_index: Path) -> None:
    result = spawn("related", EXAMPLE, "--index", sample_index, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert result.returncode == 0
    info = spawn("info", "--rejects", "--index", sample_index, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert info.returncode == 0


def test_a_paper_that_was_never_embedded_is_searched_for_by_its_text(fresh_index: Path, tmp_path: Path) -> None:
    record = {"id": "2610.99998", "title": TITLE, "abstract": ABSTRACT}
    (tmp_path / "new.jsonl").write_text(json.dumps(record))
    recsys.ingest([tmp_path / "new.jsonl"], fresh_index)
    with recsys.open(fresh_index) as library:
        related = library.related("2610.99998", k=5)
    assert len(related) == 5
    assert "searched now" in related.note
    found = run("search", "2610.99998", "-k", 5, "--index", fresh_index)
    assert "searched now" in found.stderr


def test_equal_papers_in_several_shards_come_in_the_order_of_their_ids(tmp_path: Path) -> None:
    from recsys.pipeline import embed

    texts = [{"id": f"2401.9{n:04}", "title": f"Paper {n}", "abstract": "the same words"} for n in range(30)]
    for n, record in enumerate(texts):
        record["title"] = "Equal" + "!" * (n % 7)
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(record) + "\n" for record in texts))
    recsys.ingest([tmp_path / "p.jsonl"], tmp_path / "index")
    shard_rows, embed.SHARD_ROWS = embed.SHARD_ROWS, 3
    try:
        recsys.embed(tmp_path / "index", encoder="hashing")
    finally:
        embed.SHARD_ROWS = shard_rows
    recsys.index(tmp_path / "index")
    with recsys.open(tmp_path / "index") as library:
        found = library.search("equal the same words", k=4)
        assert [card.id for card in found] == ["2401.90000", "2401.90001", "2401.90002", "2401.90003"]
        assert {card.score for card in found} == {1.0}


def test_the_api_says_what_it_is(sample_index: Path) -> None:
    with recsys.open(sample_index) as library:
        assert repr(library) == f"<Library {sample_index}: 292 papers>"
        errors = [
            answer for answer in library.related_many(["nonsense", EXAMPLE]) if isinstance(answer, recsys.RecsysError)
        ]
        assert len(errors) == 1
    library = recsys.open(sample_index)
    library.close()
    for mistake in (lambda: recsys.ingest([], sample_index), lambda: recsys.index(sample_index, kind="xyz")):
        with pytest.raises(recsys.RecsysError):
            mistake()


def test_ids_on_stdin_may_be_anything(sample_index: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "recsys",
        "related",
        "-",
        "--format",
        "ids",
        "-k",
        "1",
        "--index",
        str(sample_index),
    ]
    lines = b"\xff\xfe\n\r\n# only a comment\n\xef\xbb\xbf" + EXAMPLE.encode() + b"\r\n"
    child = subprocess.run(command, input=lines, capture_output=True, check=False)
    assert child.returncode == 3
    assert len(child.stdout.split()) == 1
    assert child.stderr.count(b"\n") == 1


def test_questions_may_be_asked_while_lists_are_read(sample_index: Path) -> None:
    with recsys.open(sample_index) as library:
        for shown in library.lists(k=2):
            assert library.related(shown.query_id, k=2) == shown
        abandoned = library.lists()
        first = next(abandoned)
        del abandoned
        assert library.related(first.query_id) == first
        assert library.info().listed == 288
