"""Every check in turn, on one snapshot of an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recsys.doctor import database, lists, shards, texts
from recsys.doctor.case import Case
from recsys.doctor.findings import Finding
from recsys.errors import IndexDamaged, IndexMissing, IndexUnusable
from recsys.store.connection import reading, snapshot

_CHECKS: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    database.structure,
    database.records,
    database.identifiers,
    database.works,
    database.revision,
    shards.files,
    shards.places,
    shards.fingerprints,
    shards.missing,
    shards.strangers,
    lists.entries,
    lists.scores,
    lists.cards,
    lists.search,
    lists.missed,
    lists.hubs,
    texts.truncated,
    texts.beyond_the_limit,
    database.space,
)


@dataclass(frozen=True, slots=True)
class Examination:
    """What the doctor found in an index.

    Attributes:
        path: the index folder.
        deep: whether every row and file was looked at.
        findings: in the order of the checks.
    """

    path: str
    deep: bool
    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong."""
        return not any(finding.wrong for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object."""
        return {"schema_version": 1, "healthy": self.healthy, **asdict(self)}

    def __str__(self) -> str:
        wrong = sum(finding.wrong for finding in self.findings)
        verdict = f"{wrong} things are wrong" if wrong else "nothing is wrong"
        return "\n".join([*map(str, self.findings), f"{self.path}: {verdict}"])


def examine(index: str | Path, *, deep: bool = False) -> Examination:
    """Look for whatever makes answers of an index wrong, missing or old.

    All vectors are held in memory as float32: n x dim x 4 bytes.

    Args:
        index: the index folder.
        deep: look at every row and every byte, not at samples; tokenise every text.

    Raises:
        IndexMissing: no index there.
    """
    folder = Path(index)
    try:
        with reading(folder) as connection, snapshot(connection):
            case = Case(folder, connection, deep)
            found = tuple(finding for check in _CHECKS for finding in _checked(check, case))
    except IndexMissing:
        raise
    except IndexUnusable as error:
        code = "unreadable" if isinstance(error, IndexDamaged) else "format"
        found = (Finding(code, True, error.message, error.hint),)
    return Examination(str(folder), deep, found)


def _checked(check: Callable[[Case], Iterator[Finding]], case: Case) -> Iterator[Finding]:
    """A check's findings; where it breaks on what it finds, that is one: a doctor must not die of a disease."""
    try:
        yield from check(case)
    except Exception as error:  # damaged rows can break any assumption
        name = f"{check.__module__.rpartition('.')[2]}.{check.__name__}"
        said = f"{type(error).__name__}: {error}".splitlines()[0]
        yield Finding("database-damaged", True, f"the check {name} broke: {said}", case.command("doctor --repair"))
