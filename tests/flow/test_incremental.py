"""Random sequences of ingest, change, withdraw, remove, update and kill: what an update leaves is what a build from
scratch of the same corpus gives, ids and scores."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import recsys
from recsys.paper import Paper
from recsys.pipeline import index as index_module
from recsys.pipeline import refresh
from recsys.store.connection import transaction, writing
from recsys.store.corpus import Corpus

SEQUENCES = 300
WORDS = [
    f"{a}{b}" for a in ("gra", "tor", "mel", "qui", "sab", "nor", "pel") for b in ("ph", "sion", "tic", "um", "ant")
]
FILLER = "we study the following in this short note and find that it holds under the assumptions stated above "


class Killed(BaseException):
    """As sudden as a Ctrl-C."""


class Corpora:
    """A random corpus and its index."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.chance = random.Random(seed)
        self.papers: dict[str, Paper] = {}
        self.k = self.chance.choice((5, 12, 40))
        self.issued = 0
        self.add(self.chance.randint(1, 70))
        self.update()

    def add(self, n: int = 2) -> None:
        """Ingest invented papers, some of them copies of others."""
        self.put([self.invent() for _ in range(n)])

    def invent(self) -> Paper:
        self.issued += 1
        made = Paper(f"2401.{90000 + self.issued}", 1, self.words(4), self.abstract(), (f"A. {self.words(1)}",))
        twin = self.some() if self.papers and self.chance.random() < 0.2 else None
        if twin is None:
            return made
        if self.chance.random() < 0.5:
            return replace(made, comments=f"Superseded by arXiv:{twin.paper_id}")
        return replace(made, title=twin.title, abstract=twin.abstract, authors=twin.authors)

    def words(self, n: int) -> str:
        return " ".join(self.chance.choices(WORDS, k=n))

    def abstract(self) -> str:
        return FILLER + self.words(self.chance.randint(2, 9)) if self.chance.random() < 0.95 else ""

    def some(self) -> Paper:
        return self.papers[self.chance.choice(sorted(self.papers))]

    def put(self, papers: list[Paper]) -> None:
        self.papers |= {paper.paper_id: paper for paper in papers}
        with writing(self.folder, create=True) as connection, transaction(connection):
            Corpus(connection).upsert(papers)
            Corpus(connection).bump_revision()

    def change(self) -> None:
        if self.papers:
            paper = self.some()
            self.put([replace(paper, version=paper.version + 1, abstract=self.abstract(), comments="")])

    def withdraw(self) -> None:
        if self.papers:
            paper = self.some()
            self.put([replace(paper, version=paper.version + 1, withdrawn=True)])

    def remove(self) -> None:
        if self.papers:
            paper = self.some()
            recsys.remove([paper.paper_id], self.folder)
            del self.papers[paper.paper_id]

    def kill(self) -> None:
        """Die at a random step of an update."""
        steps = self.chance.randint(0, 3)

        class Dying:
            def start(self, what: str, total: int | None) -> None:
                self.step()

            def advance(self, steps: int) -> None:
                self.step()

            def step(self) -> None:
                nonlocal steps
                steps -= 1
                if steps < 0:
                    raise Killed

        with suppress(Killed):
            self.update(Dying())

    def update(self, progress: object = None) -> None:
        recsys.embed(self.folder, encoder="hashing", progress=progress)  # type: ignore[arg-type]
        recsys.index(self.folder, k=self.k, incremental=True, progress=progress)  # type: ignore[arg-type]


def answers(folder: Path, k: int) -> dict[str, object]:
    with recsys.open(folder) as library:
        return {shown.query_id: [(card.id, card.score, card.folds) for card in shown] for shown in library.lists(k)}


@pytest.mark.parametrize("part", range(6))
def test_an_update_gives_what_a_build_from_scratch_gives(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refreshed = compared = 0
    original = index_module.Refreshed

    def counted(*arguments: object) -> object:
        nonlocal refreshed
        refreshed += 1
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(index_module, "Refreshed", counted)
    for number in range(part, SEQUENCES, 6):
        monkeypatch.setattr(refresh, "REFILL_BELOW", 4 if number % 12 < 6 else 30)
        monkeypatch.setattr(refresh, "_WORTH_WHILE", 0.25 if number % 4 else 10.0)
        folder = tmp_path / str(number)
        corpus = Corpora(folder / "index", number)
        operations = (corpus.change, corpus.withdraw, corpus.remove, corpus.kill, corpus.add)
        for _ in range(corpus.chance.randint(1, 4)):
            for _ in range(corpus.chance.randint(1, 4)):
                corpus.chance.choice(operations)()
            corpus.update()
        scratch = shutil.copytree(folder / "index", folder / "scratch")
        recsys.index(scratch, k=corpus.k)
        for k in (3, 20, 45):
            assert answers(folder / "index", k) == answers(scratch, k), (number, k)
        compared += 1
        shutil.rmtree(folder)
    assert compared == SEQUENCES // 6
    assert refreshed > compared
