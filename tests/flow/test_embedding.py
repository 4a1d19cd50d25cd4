"""Embedding by a real model: precisions, resuming, and looking up without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import recsys
from recsys.encoders.base import EncoderSettings, Fingerprint
from recsys.encoders.loading import load_encoder
from recsys.errors import EncoderUnavailable
from recsys.pipeline import embed as embedding
from recsys.sample import EXAMPLE, papers_file
from recsys.store.built import Built
from recsys.store.connection import reading
from tests.flow.commands import run, spawn


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    recsys.ingest([papers_file()], tmp_path / "index")
    return tmp_path / "index"


@pytest.fixture
def bf16() -> str:
    """A backend that computes bfloat16 here."""
    for name in ("openvino", "torch"):
        try:
            load_encoder(EncoderSettings("minilm", "cpu", name, "bf16"))
        except EncoderUnavailable:
            continue
        return name
    pytest.skip("NO BF16 HERE: indexes of that precision were not made")


def fingerprint(folder: Path) -> Fingerprint:
    with reading(folder) as connection:
        stored = Built(connection).fingerprint()
    assert stored is not None
    return Fingerprint.from_json(stored)


def test_a_precision_is_kept_and_never_mixed(corpus: Path, bf16: str) -> None:
    done = run("update", "--precision", "bf16", "--backend", bf16, "--index", corpus)
    assert done.exit_code == 0, done.stderr
    assert f"with minilm in {bf16} bf16" in done.stdout
    made = fingerprint(corpus)
    assert made.arithmetic == f"{bf16} bf16"
    assert run("update", "--index", corpus).exit_code == 0
    assert fingerprint(corpus) == made
    refused = run("update", "--precision", "fp32", "--index", corpus)
    assert refused.exit_code == 4
    assert "arithmetic" in refused.stderr
    assert "--replace-vectors" in refused.stderr
    assert run("update", "--precision", "fp32", "--replace-vectors", "--index", corpus).exit_code == 0
    assert fingerprint(corpus).arithmetic == "fp32"


def test_what_is_looked_up_in_a_bf16_index_is_found(corpus: Path, bf16: str) -> None:
    recsys.embed(corpus, precision="bf16", backend=bf16)
    recsys.index(corpus)
    with recsys.open(corpus) as library:
        stored = [card.id for card in library.related(EXAMPLE, 5)]
        paper = library.paper(EXAMPLE)
        found = [card.id for card in library.search(f"{paper.title}. {paper.abstract}", 6)]
    assert found[0] == EXAMPLE
    assert set(found[1:]) == set(stored)


def test_many_texts_are_measured_first(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_WORTH_MEASURING", 10)
    monkeypatch.setattr(embedding, "SAMPLE", 32)
    report = recsys.embed(corpus, encoder="minilm", device="cpu")
    assert report.fingerprint == fingerprint(corpus)
    taken = [text for text in report.tried if text.startswith(report.fingerprint.arithmetic)]
    assert len(taken) == (report.fingerprint.arithmetic != "fp32")
    assert recsys.embed(corpus).tried == ()


def test_an_interrupted_run_ends_with_the_same_vectors(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shards hold the same texts, batches too, wherever a run was stopped: the same bytes, so the same names."""
    monkeypatch.setattr(embedding, "SHARD_ROWS", 16)
    whole = tmp_path / "whole"
    recsys.ingest([papers_file()], whole)
    recsys.embed(whole, encoder="minilm", device="cpu")

    class Stop(Exception):
        pass

    class Stopping:
        def start(self, what: str, total: int | None) -> None: ...

        def advance(self, count: int) -> None:
            raise Stop

    published = embedding._publish
    for stop_after in (1, 2):
        left = [stop_after]

        def publish(*arguments: object, left: list[int] = left) -> int:
            if not left[0]:
                raise Stop
            left[0] -= 1
            return published(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(embedding, "_publish", publish)
        with pytest.raises(Stop):
            recsys.embed(corpus, encoder="minilm", device="cpu")
    with pytest.raises(Stop):
        recsys.embed(corpus, encoder="minilm", device="cpu", progress=Stopping())
    monkeypatch.setattr(embedding, "_publish", published)
    recsys.embed(corpus, encoder="minilm", device="cpu")
    names = [sorted(path.name for path in (folder / "vectors").iterdir()) for folder in (corpus, whole)]
    assert names[0] == names[1]


def test_a_search_starts_no_torch(corpus: Path) -> None:
    recsys.embed(corpus, encoder="minilm", device="cpu", backend="numpy")
    recsys.index(corpus)
    script = (
        "import sys, recsys; library = recsys.open(sys.argv[1]); found = library.search('robots that learn', 3)\n"
        "assert len(found) == 3; print({'torch', 'transformers', 'openvino'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(corpus)], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
    answer = spawn("search", "robots that learn", "--index", corpus, "--json")
    assert answer.returncode == 0, answer.stderr


def test_vectors_of_backends_are_one_fingerprint(corpus: Path) -> None:
    """In fp32 an index that one backend began another may go on with: the vectors differ by less than 1e-5."""
    digests, vectors = [], []
    for backend in ("numpy", "torch"):
        made = load_encoder(EncoderSettings("minilm", "cpu", backend))
        digests.append(made.fingerprint.digest)
        vectors.append(made.encode(["one text", "another, longer text of some more words"]))
    assert digests[0] == digests[1]
    np.testing.assert_allclose(*vectors, atol=1e-5)
