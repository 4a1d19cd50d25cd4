"""Damage to any file of an index: found, never shown as a list, never a traceback."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import recsys
from recsys.doctor.examination import examine
from recsys.errors import IndexDamaged, RecsysError
from tests.flow.test_crash_points import PAPERS, put

FLIPS, CUTS, PAGES, SWAPS = 200, 100, 100, 50
PAGE = 4096
ASKED = PAPERS[4].paper_id


@pytest.fixture(scope="module", params=["flat", "ivf", "hnsw"])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small index in two shards. Tests put back what they damage."""
    folder = tmp_path_factory.mktemp(request.param) / "index"
    for some in (PAPERS[:20], PAPERS[20:]):
        put(folder, some)
        recsys.embed(folder, encoder="hashing")
    recsys.index(folder, kind=request.param)
    with closing(sqlite3.connect(folder / "library.sqlite")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


def damaged(content: bytes, chance: random.Random) -> Iterator[bytes]:
    """Copies with one bit flipped, cut short, or with one page zeroed."""
    for _ in range(FLIPS):
        copy = bytearray(content)
        copy[chance.randrange(len(copy))] ^= 1 << chance.randrange(8)
        yield bytes(copy)
    for _ in range(CUTS):
        yield content[: chance.randrange(len(content))]
    for _ in range(PAGES):
        start = chance.randrange(-(-len(content) // PAGE)) * PAGE
        yield content[:start] + bytes(len(content[start : start + PAGE])) + content[start + PAGE :]


def shown(folder: Path) -> str:
    """Ids, scores and titles of all lists and of one that is searched for now; or the one line that is said instead."""
    try:
        with recsys.open(folder) as library:
            lists = [*library.lists(), library.related(ASKED, 25, fold=False)]
            return json.dumps([(one.query_id, [(card.id, card.score, card.title) for card in one]) for one in lists])
    except RecsysError as error:
        return f"{error.exit_code}: {error.message}"


def try_all(path: Path, check: Callable[[bytes], None]) -> None:
    content, chance = path.read_bytes(), random.Random(path.suffix)
    try:
        for copy in damaged(content, chance):
            if copy != content:
                path.write_bytes(copy)
                check(copy)
    finally:
        path.write_bytes(content)


def test_damage_to_vectors_and_search_files_is_always_found(index: Path) -> None:
    healthy = shown(index)
    with recsys.open(index) as library:
        exact = library.info().kind == "flat"

    def check(_: bytes) -> None:
        assert not examine(index, deep=True).healthy
        said = shown(index)
        assert said.startswith("4: ") or said == healthy or not exact, said

    for path in [next((index / "vectors").iterdir()), *(index / "search").glob("*.faiss")]:
        try_all(path, check)
    assert shown(index) == healthy


def rows(folder: Path) -> object:
    """Everything that the database says, as any reader would read it."""
    tables = [
        "papers",
        "records",
        "works",
        "rejects",
        "shards",
        "embeddings",
        "quarantine",
        "builds",
        "related",
        "meta",
    ]
    with closing(sqlite3.connect(f"{(folder / 'library.sqlite').as_uri()}?mode=ro", uri=True)) as connection:
        return [connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in [*tables, "meta"]]


def same_rows(folder: Path, healthy: object) -> bool:
    try:
        return rows(folder) == healthy
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return False


def test_damage_to_the_database_is_found_or_changes_nothing(index: Path) -> None:
    healthy, everything = shown(index), rows(index)
    found = 0

    def check(_: bytes) -> None:
        nonlocal found
        said = shown(index)
        assert said == healthy or said[:3] in ("4: ", "3: "), said
        for stray in index.glob("library.sqlite-*"):
            stray.unlink()
        unhealthy = not examine(index, deep=True).healthy
        assert unhealthy or (said == healthy and same_rows(index, everything))
        found += unhealthy

    try_all(index / "library.sqlite", check)
    assert found > (FLIPS + CUTS + PAGES) / 2
    assert examine(index, deep=True).healthy


def test_swapped_missing_and_extra_files(index: Path, tmp_path: Path) -> None:
    healthy = shown(index)
    shards = sorted((index / "vectors").iterdir())
    for number in range(SWAPS):
        folder = Path(shutil.copytree(index, tmp_path / str(number)))
        one, other = (folder / "vectors" / shards[number % 2].name, folder / "vectors" / shards[1 - number % 2].name)
        swapped = one.read_bytes()
        if number % 3 == 0:
            one.write_bytes(other.read_bytes())
            other.write_bytes(swapped)
        elif number % 3 == 1:
            one.unlink()
        else:
            (folder / "vectors" / f"{number:064x}.npy").write_bytes(swapped)
        examined = examine(folder, deep=number % 2 == 0 or number % 3 == 0)
        assert "unreferenced" in {finding.code for finding in examined.findings} or not examined.healthy
        assert examined.healthy is (number % 3 == 2)
        assert shown(folder).startswith("4: ") or shown(folder) == healthy
        shutil.rmtree(folder)


def test_repair_mends_vectors_lists_and_search_files(index: Path, tmp_path: Path) -> None:
    healthy = shown(index)
    folder = Path(shutil.copytree(index, tmp_path / "index"))
    for path in [next((folder / "vectors").iterdir()), *(folder / "search").glob("*.faiss")]:
        path.write_bytes(path.read_bytes()[:-3])
    assert not examine(folder, deep=True).healthy
    assert recsys.repair(folder, deep=True).healthy
    with recsys.open(folder) as library:
        exact = library.info().kind == "flat"
    assert shown(folder) == healthy or not exact


def test_repair_saves_what_can_be_read_of_a_database(tmp_path: Path) -> None:
    put(
        tmp_path,
        [replace(PAPERS[n % 30], paper_id=f"2402.9{n:04}", abstract=f"Tree{n} {'wood ' * 300}") for n in range(200)],
    )
    recsys.embed(tmp_path, encoder="hashing")
    recsys.index(tmp_path)
    path = tmp_path / "library.sqlite"
    content = bytearray(path.read_bytes())
    start = content.index(b"Tree77 ") // PAGE * PAGE
    content[start : start + PAGE] = bytes(PAGE)
    path.write_bytes(content)
    assert not examine(tmp_path).healthy
    assert recsys.repair(tmp_path, deep=True).healthy
    assert len(list(tmp_path.glob("library.sqlite.damaged-1"))) == 1
    with recsys.open(tmp_path) as library:
        assert 180 < library.info().papers < 200
        assert library.info().stale is False


def test_a_file_that_is_no_database_cannot_be_repaired(tmp_path: Path) -> None:
    (tmp_path / "library.sqlite").write_bytes(b"no database " * 1000)
    assert [finding.code for finding in examine(tmp_path).findings] == ["unreadable"]
    with pytest.raises(IndexDamaged, match="nothing can be read"):
        recsys.repair(tmp_path)
    assert (tmp_path / "library.sqlite").read_bytes() == b"no database " * 1000
