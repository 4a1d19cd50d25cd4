"""Checks of the vectors: files against their names, rows against the texts that they are of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from recsys.doctor.case import Case
from recsys.doctor.findings import Finding, of_papers
from recsys.errors import IndexDamaged
from recsys.files import unreferenced
from recsys.store.built import Shard
from recsys.vectors import finite_unit_rows, read_stored

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def files(case: Case) -> Iterator[Finding]:
    """Referenced shards: there and of their size; when deep, every byte of them."""
    for digest in _digests(case):
        for shard in case.built.shards(digest):
            if case.deep:
                yield from _content(case, shard)
            else:
                yield from _presence(case, shard)


def _digests(case: Case) -> list[str]:
    return [digest for (digest,) in case.connection.execute("SELECT DISTINCT fingerprint FROM shards ORDER BY 1")]


def _presence(case: Case, shard: Shard) -> Iterator[Finding]:
    path = case.folder / "vectors" / f"{shard.sha256}.npy"
    wanted = shard.rows * shard.dim * 2
    if not path.is_file():
        yield _damaged(case, f"{path.name} is absent")
    elif not wanted < path.stat().st_size <= wanted + 1024:
        yield _damaged(case, f"{path.name} has {path.stat().st_size:,} bytes, not about {wanted:,}")


def _damaged(case: Case, message: str) -> Finding:
    return Finding("shard-damaged", True, message, case.command("doctor --repair"))


def _content(case: Case, shard: Shard) -> Iterator[Finding]:
    try:
        stored = read_stored(case.folder / "vectors", shard.sha256, rows=shard.rows, dim=shard.dim)
    except IndexDamaged as error:
        yield _damaged(case, error.message)
        return
    bad = int((~_good(stored)).sum())
    if bad:
        yield _damaged(case, f"{shard.sha256[:12]} has {bad:,} rows that are not finite and of norm 1")


def _good(stored: npt.NDArray[np.float16]) -> npt.NDArray[np.bool_]:
    import numpy as np

    return finite_unit_rows(stored.astype(np.float32))


def places(case: Case) -> Iterator[Finding]:
    """Whether the vectors of every shard are said to be of the texts that they were made of."""
    for digest in _digests(case):
        for shard in case.built.shards(digest):
            try:
                case.built.check_shard(shard)
            except IndexDamaged as error:
                yield Finding("shard-misfiled", True, error.message, case.command("doctor --repair"))
    query = "SELECT count(*) FROM embeddings WHERE shard NOT IN (SELECT shard FROM shards)"
    (lost,) = case.connection.execute(query).fetchone()
    if lost:
        yield Finding("vectors-lost", True, f"{lost:,} vectors lie in no known shard", case.command("doctor --repair"))


def strangers(case: Case) -> Iterator[Finding]:
    """Files that nothing refers to: what a killed writer left."""
    keep = {"vectors": (case.built.shard_files(), ".npy"), "search": (_search_files(case), ".faiss")}
    for name, (referenced, suffix) in keep.items():
        found = unreferenced(case.folder / name, referenced, suffix)
        if found:
            size = sum(_size(path) for path in found)
            message = f"{len(found):,} files in {name}/ are referenced by nothing ({size / 1e6:,.1f} MB)"
            yield Finding("unreferenced", False, message, f"{case.command('update')} sweeps them")


def _search_files(case: Case) -> set[str]:
    return {case.build.search_file} if case.build else set()


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def fingerprints(case: Case) -> Iterator[Finding]:
    """Vectors of more than one encoder or recipe, or a build of another than the index's."""
    if case.fingerprint is None:
        if case.built.fingerprint() is not None:
            yield Finding("fingerprint-damaged", True, "what vectors are made by cannot be read", "upgrade recsys")
        return
    others = set(_digests(case)) - {case.fingerprint.digest}
    if others:
        message = (
            f"vectors of {len(others) + 1} fingerprints; those of {case.fingerprint.encoder} will replace the rest"
        )
        yield Finding("fingerprint-mix", True, message, case.command("update"))
    elif case.build and case.build.fingerprint != case.fingerprint.digest:
        yield Finding("fingerprint-other", True, "the lists are of another encoder's vectors", case.command("update"))


def missing(case: Case) -> Iterator[Finding]:
    """Papers without a vector, and those of whose text none can be made."""
    if case.fingerprint is None:
        return
    digest = case.fingerprint.digest
    waiting = sorted(case.ids[row] for row in case.built.pending(digest))
    yield from of_papers("vector-missing", "texts have no vector yet", waiting, case.command("update"))
    none = case.built.quarantined(digest)
    yield from of_papers(
        "vector-impossible", "papers have a text of which no vector can be made", none, "", wrong=False
    )
