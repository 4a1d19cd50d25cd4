"""The power fails after any step of a publication: the index opens as exactly the old build or exactly the new one."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import pytest

import recsys
from recsys import files
from recsys.encoders.base import Fingerprint
from recsys.errors import IndexDamaged, IndexMissing, IndexStale, RecsysError
from recsys.paper import Paper
from recsys.pipeline import compact as compacting
from recsys.pipeline import index as index_module
from recsys.store.built import Built
from recsys.store.connection import reading, transaction, writing
from recsys.store.corpus import Corpus
from tests.disk import Disk, Recorder, database_of

TORN = 20
STATES = {"first build": 500, "append": 400, "rebuild": 500, "compaction": 500}
PAPERS = [
    Paper(
        f"2401.9{n:04}", 1, f"On trees of kind oak{n}", f"We plant oak{n} beside elm{n % 7} and river{n % 5} and wait."
    )
    for n in range(1, 31)
]


def put(folder: Path, papers: list[Paper]) -> None:
    with writing(folder, create=True) as connection, transaction(connection):
        Corpus(connection).upsert(papers)
        Corpus(connection).bump_revision()


def build(folder: Path, *, kind: str = "auto", incremental: bool = True) -> None:
    recsys.embed(folder, encoder="hashing")
    recsys.index(folder, kind=kind, incremental=incremental)


def compacted(folder: Path) -> None:
    with writing(folder) as connection:
        stored = Built(connection).fingerprint()
        assert stored
        digest = Fingerprint.from_json(stored).digest
        assert compacting.compact(connection, folder, digest) == 4


@dataclass(frozen=True)
class Scenario:
    """An index before, and what is done to it."""

    before: Callable[[Path], None]
    change: Callable[[Path], None]


def _several_shards(folder: Path) -> None:
    for start in range(0, 24, 6):
        put(folder, PAPERS[start : start + 6])
        build(folder)


def _first(folder: Path) -> None:
    put(folder, PAPERS)


def _most(folder: Path) -> None:
    put(folder, PAPERS[:24])
    build(folder)
    put(folder, PAPERS[24:])


def _by_cells(folder: Path) -> None:
    put(folder, PAPERS)
    build(folder, kind="ivf")
    put(folder, [replace(PAPERS[3], version=2, abstract="We fell all of them, elm3 and oak4.")])


SCENARIOS = {
    "first build": Scenario(_first, build),
    "append": Scenario(_most, build),
    "rebuild": Scenario(_by_cells, lambda folder: build(folder, kind="ivf", incremental=False)),
    "compaction": Scenario(_several_shards, compacted),
}


def answers(folder: Path) -> str:
    """All that is shown, once every file that it rests on is found whole."""
    try:
        with recsys.open(folder) as library, reading(folder) as connection:
            shown = [(one.query_id, [(card.id, card.score) for card in one]) for one in library.lists()]
            built = Built(connection)
            for sha in built.shard_files():
                files.verified(folder / "vectors", sha, ".npy", "")
            found = built.build()
            if found and found.search_file:
                files.verified(folder / "search", found.search_file, ".faiss", "")
            return json.dumps(shown)
    except (IndexMissing, IndexStale):
        return "nothing yet"


@dataclass
class Verdict:
    """States that were made, those among them that differ, and those that are neither the old build nor the new."""

    made: int = 0
    distinct: int = 0
    bad: int = 0
    continued: int = 0
    said: list[str] = field(default_factory=list)


def crashes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ignored: frozenset[str] = frozenset()
) -> Verdict:
    folder, trial = tmp_path / "index", tmp_path / "trial"
    scenario = SCENARIOS[name]
    scenario.before(folder)
    before = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.glob("*/*")}
    old = answers(folder)
    recorder = Recorder(folder)
    monkeypatch.setattr(files, "os", recorder)
    monkeypatch.setattr(compacting, "_SMALL_ALLOWED", 1 if name == "compaction" else 32)
    scenario.change(folder)
    monkeypatch.undo()
    recorder.databases.append(database_of(folder))
    new = answers(folder)
    disk, chance, verdict = Disk(before, recorder), random.Random(7), Verdict()
    seen: set[str] = set()
    for step in range(len(disk) + 1):
        for content in disk.after(step, ignored).survivors(chance, TORN):
            for database in disk.databases(step):
                verdict.made += 1
                _try(trial, content, database, {old, new}, seen, verdict, new)
    return verdict


def _try(
    trial: Path,
    content: dict[str, bytes],
    database: bytes,
    allowed: set[str],
    seen: set[str],
    verdict: Verdict,
    new: str,
) -> None:
    key = sha256(database + repr(sorted((path, sha256(data).digest()) for path, data in content.items())).encode())
    if key.hexdigest() in seen:
        return
    seen.add(key.hexdigest())
    verdict.distinct += 1
    shutil.rmtree(trial, ignore_errors=True)
    trial.mkdir()
    (trial / "library.sqlite").write_bytes(database)
    for path, data in content.items():
        (trial / path).parent.mkdir(exist_ok=True)
        (trial / path).write_bytes(data)
    try:
        found = answers(trial)
    except RecsysError as error:
        found = str(error)
    verdict.bad += found not in allowed
    verdict.said += [found[:200]] if found not in allowed else []
    if verdict.distinct % 10 == 0 and found in allowed:
        _go_on(trial, new)
        verdict.continued += 1


def _go_on(trial: Path, new: str) -> None:
    """Finishing the work gives what an uninterrupted run gives, and leaves nothing behind."""
    kind = "ivf" if (trial / "search").exists() else "auto"
    if len(json.loads(new)) == len(PAPERS) and kind == "auto":
        build(trial)
        assert answers(trial) == new
        assert not [path for path in trial.rglob(".tmp-*")]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_crash_at_any_step_leaves_the_old_build_or_the_new(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = crashes(name, tmp_path, monkeypatch)
    assert verdict.said == []
    assert verdict.made >= STATES[name], verdict


@pytest.mark.parametrize("name", ["first build", "rebuild", "compaction"])
def test_without_its_syncs_a_publication_would_be_lost(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert crashes(name, tmp_path, monkeypatch, frozenset({"fsync"})).bad > 0


class Dying:
    """Dies when the first block of lists is written."""

    def start(self, what: str, total: int | None) -> None:
        pass

    def advance(self, steps: int) -> None:
        raise KeyboardInterrupt


@pytest.mark.parametrize("whole", [True, False], ids=["in a transaction", "without one"])
def test_a_kill_within_a_build_leaves_the_old_one(whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, PAPERS)
    build(tmp_path)
    old = answers(tmp_path)
    put(tmp_path, [replace(paper, version=2, abstract=f"Other {paper.title}.") for paper in PAPERS])
    recsys.embed(tmp_path)
    if not whole:
        monkeypatch.setattr(index_module, "transaction", nullcontext)
    with pytest.raises(KeyboardInterrupt):
        recsys.index(tmp_path, progress=Dying())
    if whole:
        assert answers(tmp_path) == old
    else:
        with pytest.raises(IndexDamaged, match="lists are missing"):
            answers(tmp_path)
