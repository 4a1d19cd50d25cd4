"""A finding of the doctor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_NAMED = 5
"""Papers that a finding names."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        code: a stable word for machines.
        wrong: whether it makes answers wrong, missing or old; otherwise it is only worth knowing.
        message: what it is, in one line.
        repair: the command that mends it; empty where nothing needs mending.
        papers: ids of some of the papers concerned.
    """

    code: str
    wrong: bool
    message: str
    repair: str = ""
    papers: tuple[str, ...] = ()

    def __str__(self) -> str:
        papers = f": {', '.join(self.papers)}" if self.papers else ""
        repair = f" [{self.repair}]" if self.repair else ""
        return f"{'WRONG' if self.wrong else 'note'}  {self.code}: {self.message}{papers}{repair}"


def of_papers(code: str, what: str, papers: Sequence[str], repair: str, *, wrong: bool = True) -> list[Finding]:
    """A finding about some papers, if there are any; `what` follows their number."""
    if not papers:
        return []
    return [Finding(code, wrong, f"{len(papers):,} {what}", repair, tuple(papers[:_NAMED]))]
