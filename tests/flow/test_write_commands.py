"""ingest, embed, index, update, info, export and search as users run them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import recsys
from recsys.allpairs import descent
from recsys.sample import EXAMPLE, papers_file
from tests.flow.commands import run, spawn

RECORDS = [json.loads(line) for line in papers_file().read_text().splitlines()]


def write(path: Path, *records: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def record(n: int, **fields: object) -> dict[str, object]:
    words = ("alpha", "beta", "gamma", "delta", "epsilon")
    abstract = f"A study of {words[n % 5]} and {words[(n // 5) % 5]} systems, number {n}."
    return {"id": f"2401.9{n:04}", "title": f"Paper {n}", "abstract": abstract, "version": 1, **fields}


def test_ingest_counts_add_up_and_the_second_time_changes_nothing(tmp_path: Path) -> None:
    index = tmp_path / "index"
    source = write(tmp_path / "papers.jsonl", record(1), record(2), {"title": "no id"}, record(2, version=2))
    first = run("ingest", source, "--index", index)
    assert first.exit_code == 0
    assert first.stdout == "read 4 = stored 2 + updated 1 + unchanged 0 + rejected 1\n"
    assert "recsys info --rejects" in first.stderr
    before = recsys.open(index).info()
    second = json.loads(run("ingest", source, "--json", "--index", index).stdout)
    assert second == {
        "schema_version": 1,
        "stored": 0,
        "updated": 0,
        "unchanged": 3,
        "rejected": 1,
        "unreadable": [],
        "read": 4,
    }
    assert recsys.open(index).info() == before
    (reject,) = json.loads(f"[{run('info', '--rejects', '--json', '--index', index).stdout}]")
    assert (reject["file"], reject["line"]) == (str(source), 3)
    assert f"{source}:3: " in run("info", "--rejects", "--index", index).stdout


def test_ingest_from_stdin(tmp_path: Path) -> None:
    done = spawn("ingest", "-", "--index", tmp_path, stdin=json.dumps(record(1)) + "\n")
    assert (done.returncode, done.stdout) == (0, "read 1 = stored 1 + updated 0 + unchanged 0 + rejected 0\n")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["absent.jsonl"], 1, "absent.jsonl"),
        (["{papers}", "--format", "xyz"], 2, "no format 'xyz'"),
        (["{papers}", "--column", "title"], 2, "FIELD=COLUMN"),
        ([], 2, "Missing argument"),
    ],
)
def test_ingest_called_wrongly(tmp_path: Path, arguments: list[str], code: int, says: str) -> None:
    filled = [word.format(papers=papers_file()) for word in arguments]
    result = run("ingest", *filled, "--index", tmp_path / "index")
    assert result.exit_code == code
    assert says in result.stderr
    assert "Traceback" not in result.stderr


def test_a_file_that_nothing_reads_costs_the_others_nothing(tmp_path: Path) -> None:
    html = tmp_path / "a.jsonl"
    html.write_text("<html><body>Rate exceeded.</body></html>")
    good = write(tmp_path / "b.jsonl", record(1))
    result = run("ingest", html, good, "--index", tmp_path / "index")
    assert result.exit_code == 1
    assert "read 1 = stored 1" in result.stdout
    assert str(html) in result.stderr


def test_update_is_embed_then_index(tmp_path: Path) -> None:
    index = tmp_path / "index"
    write(tmp_path / "papers.jsonl", *map(record, range(60)))
    run("ingest", tmp_path / "papers.jsonl", "--index", index)
    assert "stale" in run("info", "--index", index).stdout
    result = run("update", "--encoder", "hashing", "--index", index)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == (
        "encoded 60 texts with hashing, reused 0\n"
        "lists of 60 papers, 40 neighbours each, flat search (60 computed, 0 repaired)\n"
    )
    updated = list(recsys.open(index).lists())
    assert run("embed", "--index", index).stdout == "encoded 0 texts with hashing, reused 60\n"
    assert run("index", "--index", index).exit_code == 0
    assert list(recsys.open(index).lists()) == updated
    info = json.loads(run("info", "--json", "--index", index).stdout)
    assert (info["papers"], info["listed"], info["encoder"], info["stale"]) == (60, 60, "hashing", False)
    assert "up to date" in run("info", "--index", index).stdout


def test_only_changed_texts_are_encoded_and_old_vectors_are_swept(tmp_path: Path) -> None:
    index = tmp_path / "index"
    write(tmp_path / "papers.jsonl", *map(record, range(30)))
    recsys.ingest([tmp_path / "papers.jsonl"], index)
    recsys.update(index, encoder="hashing")
    write(
        tmp_path / "more.jsonl", record(3, version=2, abstract="Something else."), record(4, doi="10.1/x"), record(40)
    )
    assert recsys.ingest([tmp_path / "more.jsonl"], index).updated == 2
    done = recsys.update(index)
    assert (done.embedded.encoded, done.indexed.papers) == (2, 31)


def test_a_new_paper_answers_before_the_next_update(fresh_index: Path, tmp_path: Path) -> None:
    twin = {**RECORDS[0], "id": "2610.99999", "title": f"{RECORDS[0]['title']} revisited", "authors": ["N. One"]}
    recsys.ingest([write(tmp_path / "new.jsonl", twin)], fresh_index)
    result = run("related", "2610.99999", "--json", "--index", fresh_index)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["related"][0]["id"] == RECORDS[0]["id"]
    assert "not in the last build" in result.stderr
    searched = [card["id"] for card in json.loads(result.stdout)["related"]]
    recsys.update(fresh_index)
    assert [card.id for card in recsys.open(fresh_index).related("2610.99999")] == searched


def test_a_paper_withdrawn_since_the_build_is_gone_from_every_list_at_once(fresh_index: Path, tmp_path: Path) -> None:
    with recsys.open(fresh_index) as library:
        gone = library.related(EXAMPLE)[0].id
    stored = next(record for record in RECORDS if record["id"] == gone)
    withdrawal = {**stored, "version": 9, "comments": "This paper has been withdrawn by the author"}
    recsys.ingest([write(tmp_path / "new.jsonl", withdrawal)], fresh_index)
    with recsys.open(fresh_index) as library:
        assert library.info().stale
        related = library.related(EXAMPLE)
        assert gone not in {card.id for card in related}
        assert len(related) == 20
        assert all(gone not in {card.id for card in shown} for shown in library.lists())


def test_no_list_holds_itself_or_a_withdrawn_paper_or_a_text_twice(sample_index: Path) -> None:
    withdrawn = {record["id"] for record in RECORDS if "withdrawn" in record["comments"]}
    with recsys.open(sample_index) as library:
        lists = list(library.lists())
        assert len(lists) == library.info().recommendable
    for shown in lists:
        ids = [card.id for card in shown]
        assert len(set(ids)) == 20
        assert not {shown.query_id, *withdrawn} & set(ids)
        scores = [card.score for card in shown]
        assert scores == sorted(scores, reverse=True)


def test_another_encoder_is_refused_and_can_take_over(fresh_index: Path) -> None:
    result = run("embed", "--encoder", "hashing", "--max-length", "64", "--index", fresh_index)
    assert result.exit_code == 4
    assert "max_length 512 / 64" in result.stderr
    assert "--replace-vectors" in result.stderr
    as_update = run("update", "--encoder", "hashing", "--max-length", "64", "--json", "--index", fresh_index)
    assert as_update.exit_code == 4
    assert json.loads(as_update.stderr)["error"]["code"] == "fingerprint_mismatch"
    assert len(recsys.open(fresh_index).related(EXAMPLE)) == 20
    taken = run("update", "--encoder", "hashing", "--max-length", "64", "--replace-vectors", "--index", fresh_index)
    assert taken.exit_code == 0
    assert recsys.open(fresh_index).info().fingerprint["max_length"] == 64


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_approximate_kinds_end_to_end(fresh_index: Path, kind: str) -> None:
    with recsys.open(fresh_index) as library:
        exact = {shown.query_id: {card.id for card in shown} for shown in library.lists()}
        nearest = library.search("a text about robots", 10)
    assert run("index", "--search", kind, "--index", fresh_index).exit_code == 0
    with recsys.open(fresh_index) as library:
        shared = [len(exact[shown.query_id] & {card.id for card in shown}) / 20 for shown in library.lists()]
        assert sum(shared) / len(shared) > 0.95
        assert library.info().kind == kind
        assert [card.id for card in library.search("a text about robots", 5)] == [card.id for card in nearest][:5]
    (file,) = (fresh_index / "search").iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    result = run("search", "another text", "--index", fresh_index)
    assert result.exit_code == 0
    assert "searching without it" in result.stderr
    assert run("update", "--index", fresh_index).exit_code == 0
    assert "searching without it" not in run("search", "another text", "--index", fresh_index).stderr


def test_lists_by_descent_end_to_end(fresh_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descent, "_FEW", 100)
    with recsys.open(fresh_index) as library:
        exact = {shown.query_id: {card.id for card in shown} for shown in library.lists()}
        nearest = library.search("a text about robots", 10)
    assert run("index", "--search", "nndescent", "--index", fresh_index).exit_code == 0
    with recsys.open(fresh_index) as library:
        shared = [len(exact[shown.query_id] & {card.id for card in shown}) / 20 for shown in library.lists()]
        assert sum(shared) / len(shared) > 0.99
        info = library.info()
        assert (info.kind, info.recall > 0.99) == ("nndescent", True)
        assert [card.id for card in library.search("a text about robots", 10)] == [card.id for card in nearest]
    assert not (fresh_index / "search").exists()
    assert run("remove", RECORDS[3]["id"], "--index", fresh_index).exit_code == 0
    assert run("update", "--index", fresh_index).exit_code == 0
    with recsys.open(fresh_index) as library:
        assert library.info().kind == "nndescent"
    assert recsys.examine(fresh_index, deep=True).healthy


def test_a_damaged_shard_is_found(fresh_index: Path) -> None:
    shard = next((fresh_index / "vectors").iterdir())
    shard.chmod(0o644)
    shard.write_bytes(shard.read_bytes()[:-2])
    result = run("index", "--index", fresh_index)
    assert result.exit_code == 4
    assert shard.name in result.stderr
    assert len(recsys.open(fresh_index).related(EXAMPLE)) == 20


def test_search_names(sample_index: Path) -> None:
    paper = RECORDS[10]
    for text in (paper["id"], f"arXiv:{paper['id']}v1", paper["title"].upper()):
        result = run("search", text, "--json", "-k", 5, "--index", sample_index)
        body = json.loads(result.stdout)
        assert body["query"] == {"text": text}
        assert body["related"][0]["id"] == paper["id"]
        assert len(body["related"]) == 5
    assert run("search", "2402.00001", "--index", sample_index).exit_code == 3


def test_search_text_finds_the_subject(sample_index: Path) -> None:
    paper = RECORDS[20]
    words = paper["abstract"].split()[:25]
    result = run("search", *words, "--format", "ids", "--index", sample_index)
    assert result.stdout.split()[0] == paper["id"]


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet", "json", "md", "txt", "ids"])
def test_export_is_whole_and_repeatable(sample_index: Path, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"related.{suffix}"
    result = run("export", "related", "-o", target, "-k", 3, "--index", sample_index)
    count = recsys.open(sample_index).info().listed
    assert result.stdout == f"wrote {count} lists to {target}\n"
    first = target.read_bytes()
    assert first
    recsys.export(sample_index, target, k=3)
    assert target.read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_export_holds_what_related_answers(sample_index: Path, tmp_path: Path) -> None:
    recsys.export(sample_index, tmp_path / "related.jsonl")
    lines = (tmp_path / "related.jsonl").read_text().splitlines()
    by_id = {json.loads(line)["query"]["id"]: line for line in lines}
    assert list(by_id) == sorted(by_id)
    answer = run("related", EXAMPLE, "--format", "jsonl", "--index", sample_index).stdout
    assert by_id[EXAMPLE] == answer.strip()


def test_export_to_an_unknown_suffix(sample_index: Path, tmp_path: Path) -> None:
    result = run("export", "related", "-o", tmp_path / "out.xyz", "--index", sample_index)
    assert result.exit_code == 1
    assert ".jsonl" in result.stderr


def test_demo_ends_with_a_list(tmp_path: Path) -> None:
    result = run("demo", "--encoder", "hashing", "--index", tmp_path / "demo")
    assert result.exit_code == 0
    assert "Related papers: " in result.stdout
    assert result.stdout.count(" · ") >= 60


def test_nothing_to_index(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.jsonl", record(1, abstract=""))
    recsys.ingest([empty], tmp_path / "index")
    assert run("index", "--index", tmp_path / "index").exit_code == 4
    result = run("update", "--encoder", "hashing", "--index", tmp_path / "index")
    assert result.exit_code == 0
    assert "lists of 0 papers" in result.stdout


def test_ctrl_c_exits_130_and_the_next_run_goes_on(tmp_path: Path) -> None:
    index = tmp_path / "index"
    write(tmp_path / "papers.jsonl", *(record(n, abstract="word " * 900 + str(n)) for n in range(4000)))
    recsys.ingest([tmp_path / "papers.jsonl"], index)
    command = [sys.executable, "-m", "recsys", "embed", "--encoder", "hashing", "--index", str(index)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        while child.poll() is None and len(list(index.glob("vectors/[!.]*.npy"))) < 2:
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        _, stderr = child.communicate()
    assert child.returncode == 130
    assert "Traceback" not in stderr
    done = recsys.embed(index)
    assert done.reused >= 1024
    assert done.encoded + done.reused == 4000


def test_a_text_without_a_vector_is_quarantined_by_name_and_harms_no_list(tmp_path: Path) -> None:
    index = tmp_path / "index"
    bad = record(0, title="?", abstract="? ! ?")
    write(tmp_path / "papers.jsonl", bad, *map(record, range(1, 30)))
    run("ingest", tmp_path / "papers.jsonl", "--index", index)
    result = run("update", "--encoder", "hashing", "--index", index)
    assert "encoded 29 texts with hashing, reused 0, no vector for 2401.90000" in result.stdout
    assert "lists of 29 papers" in result.stdout
    assert "no vector for 2401.90000" in run("embed", "--index", index).stdout
    with recsys.open(index) as library:
        assert all("2401.90000" not in {card.id for card in shown} for shown in library.lists())
    refused = run("related", "2401.90000", "--index", index)
    assert refused.exit_code == 3
    assert "no finite vector" in refused.stderr


def test_a_killed_update_takes_its_child_along_quietly(tmp_path: Path) -> None:
    index = tmp_path / "index"
    write(tmp_path / "papers.jsonl", *(record(n, abstract="word " * 900 + str(n)) for n in range(4000)))
    recsys.ingest([tmp_path / "papers.jsonl"], index)
    command = [sys.executable, "-m", "recsys", "update", "--encoder", "hashing", "--index", str(index)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as parent:
        while parent.poll() is None and len(list(index.glob("vectors/[!.]*.npy"))) < 2:
            time.sleep(0.02)
        parent.kill()
        _, stderr = parent.communicate()  # ends only when the child has closed its stderr too
    assert stderr == ""
    assert recsys.update(index).embedded.reused >= 1024


def test_stored_lists_are_those_of_a_plain_computation(sample_index: Path) -> None:
    """From the records by NumPy alone: encode, round as the shards do, score every pair, sort by score and id."""
    import numpy as np

    from recsys.encoders.base import EncoderSettings
    from recsys.encoders.hashing import HashingEncoder
    from recsys.text.tex import embedding_text

    with recsys.open(sample_index) as library:
        papers = [library.paper(record["id"]) for record in RECORDS]
        shown = {found.query_id: [(card.id, card.score) for card in found] for found in library.lists()}
    listed = sorted((paper for paper in papers if paper.recommendable), key=lambda paper: paper.paper_id)
    texts = [embedding_text(paper.title, paper.abstract) for paper in listed]
    stored = HashingEncoder(EncoderSettings("hashing")).encode(texts).astype(np.float16).astype(np.float32)
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    scores = np.round(stored.astype(np.float64) @ stored.astype(np.float64).T, 6)
    assert len(shown) == len(listed) == 288
    for row, paper in enumerate(listed):
        others = [(-scores[row, other], listed[other].paper_id) for other in range(len(listed)) if other != row]
        wanted = [(paper_id, pytest.approx(-negative, abs=2e-6)) for negative, paper_id in sorted(others)[:20]]
        assert shown[paper.paper_id] == wanted
