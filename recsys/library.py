"""The read side: open an index once, then answer. Nothing heavy is imported until a question needs it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from recsys import arxiv_id
from recsys.arxiv_id import ArxivId
from recsys.cards import RelatedList, SearchResults
from recsys.encoders.base import Fingerprint
from recsys.errors import IndexStale, InvalidArxivId, PaperNotFound
from recsys.paper import Paper
from recsys.related import Neighbor, related_list, search_results
from recsys.store.built import Build, Built
from recsys.store.corpus import Corpus, RejectedRecord
from recsys.store.schema import reading, snapshot

if TYPE_CHECKING:
    from recsys.nearest import Nearest

SHOWN = 20
"""Papers in a list unless asked otherwise."""

_SEARCHED_NOW = "not in the last build; searched now (recsys update stores its list)"
_SPARE = 20
"""Neighbours fetched beyond `k`, for those that are filtered when shown."""


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What is in an index, and how it was made.

    Attributes:
        path: the folder.
        papers: all papers stored.
        recommendable: those with an abstract that are not withdrawn.
        withdrawn: withdrawn papers, kept and never recommended.
        without_abstract: papers that have none.
        rejects: records refused at ingest.
        vectors: distinct texts with a vector.
        listed: papers that have a related list.
        k: neighbours kept of each; 0 before the first build.
        encoder: its name; empty before the first embedding.
        fingerprint: the fields that the vectors depend on; empty before the first embedding.
        kind: search kind of the build; empty before the first.
        built: when, UTC, ISO 8601; empty before the first build.
        stale: whether papers changed since the build.
    """

    path: str
    papers: int
    recommendable: int
    withdrawn: int
    without_abstract: int
    rejects: int
    vectors: int
    listed: int
    k: int
    encoder: str
    fingerprint: dict[str, Any]
    kind: str
    built: str
    stale: bool

    def to_dict(self) -> dict[str, Any]:
        """The fields, with `schema_version`."""
        return {"schema_version": 1, **asdict(self)}


class Library:
    """An index, open for reading. A context manager; safe while another process writes.

    Args:
        path: the index folder.

    Raises:
        IndexMissing: no index there.
        IndexDamaged: not a readable index.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._stack = ExitStack()
        self._connection: sqlite3.Connection = self._stack.enter_context(reading(self.path))
        self._corpus = Corpus(self._connection)
        self._built = Built(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return bool(self._stack.__exit__(kind, error, trace))

    def close(self) -> None:
        """Let go of the file."""
        self._stack.close()

    def __repr__(self) -> str:
        return f"<Library {self.path}: {self._corpus.counts()['papers']:,} papers>"

    def paper(self, paper_id: str) -> Paper:
        """The stored record of a paper, in any spelling of its id.

        Raises:
            InvalidArxivId: not an arXiv id.
            PaperNotFound: never ingested.
        """
        return self._paper(arxiv_id.parse(paper_id))

    def _paper(self, asked: ArxivId) -> Paper:
        paper = self._corpus.paper(asked.paper_id)
        if paper is None:
            raise self._absent(asked)
        return paper

    def _recommendable(self, asked: ArxivId) -> Paper:
        paper = self._paper(asked)
        if not paper.recommendable:
            raise PaperNotFound(f"{paper.paper_id} {_why_unlisted(paper)}", f"see {paper.url}")
        return paper

    def _absent(self, asked: ArxivId) -> PaperNotFound:
        if arxiv_id.not_yet_issued(asked.paper_id, date.today()):
            return PaperNotFound(f"{asked.paper_id} is not yet issued by arXiv", "check the id")
        return PaperNotFound(
            f"{asked.paper_id} is not in {self.path}: it was never ingested",
            f"recsys ingest FILE... --index {self.path}, then recsys update --index {self.path}",
        )

    def related(self, paper_id: str, k: int = SHOWN) -> RelatedList:
        """The `k` papers nearest to one, best first; never itself, nothing withdrawn.

        Stored lists are read; a paper ingested since the last build, or a `k` beyond what is stored, is searched for
        now.

        Raises:
            InvalidArxivId: not an arXiv id.
            PaperNotFound: never ingested, withdrawn, or without abstract; the message says which.
            IndexStale: nothing was indexed yet.
        """
        with snapshot(self._connection):
            return self._related(arxiv_id.parse(paper_id), k)

    def _related(self, asked: ArxivId, k: int) -> RelatedList:
        paper = self._recommendable(asked)
        neighbors, note = self._neighbors(paper, k)
        return related_list(self._corpus, paper, neighbors, k, note)

    def _neighbors(self, paper: Paper, k: int) -> tuple[list[Neighbor], str]:
        """The stored neighbours of a paper, or those found now where too few are stored."""
        build, row = self._build(), self._corpus.row(paper.paper_id)
        stored = self._built.neighbors(row) if row is not None else None
        if stored is None and self._built.is_quarantined(build.fingerprint, paper.text_hash):
            reason = "has no related list: the encoder makes no finite vector of its text"
            raise PaperNotFound(f"{paper.paper_id} {reason}", f"see {paper.url}")
        if stored is None:
            return self._nearest(build).of_paper(paper, k + _SPARE), _SEARCHED_NOW
        if k > len(stored) and build.papers > len(stored) + 1:
            return self._nearest(build).of_paper(paper, k + _SPARE), ""
        return stored, ""

    def _build(self) -> Build:
        build = self._built.build()
        if build is None:
            raise IndexStale(f"no lists at {self.path}", f"recsys update --index {self.path}")
        return build

    def _nearest(self, build: Build) -> Nearest:
        from recsys.nearest import Nearest  # brings numpy, which a stored list does not need

        return Nearest(self.path, self._built, build)

    def related_many(self, paper_ids: Iterable[str], k: int = SHOWN) -> Iterator[RelatedList | PaperNotFound]:
        """The list of each id in turn; an id that has none gives its error instead of raising it."""
        for paper_id in paper_ids:
            try:
                yield self.related(paper_id, k)
            except PaperNotFound as error:
                yield error

    def lists(self, k: int = SHOWN) -> Iterator[RelatedList]:
        """Every stored list, by paper id, all of one build."""
        with snapshot(self._connection):
            self._build()
            for row, paper_id in self._built.listed():
                paper, stored = self._corpus.paper(paper_id), self._built.neighbors(row)
                if paper is not None and stored is not None:
                    yield related_list(self._corpus, paper, stored, k)

    def search(self, text: str, k: int = SHOWN) -> SearchResults:
        """The `k` papers nearest to a text; a paper that the text names exactly, by id or title, comes first.

        Raises:
            PaperNotFound: the text is an id that has no list here; the message says why.
            IndexStale: nothing was indexed yet.
            EncoderUnavailable: the index's encoder cannot be loaded.
        """
        with snapshot(self._connection):
            build, named = self._build(), self._named(text)
            if named is None:
                neighbors, note = self._nearest(build).of_text(text, k + _SPARE), ""
            else:
                neighbors, note = self._neighbors(named, k)
            return search_results(self._corpus, text, named, neighbors, k, note)

    def _named(self, text: str) -> Paper | None:
        """The recommendable paper whose id or whole title the text is, if any."""
        try:
            asked = arxiv_id.parse(text)
        except InvalidArxivId:
            return next((paper for paper in self._corpus.with_title(text) if paper.recommendable), None)
        return self._recommendable(asked)

    def info(self) -> IndexInfo:
        """Counts, encoder and build."""
        with snapshot(self._connection):
            counts, build = self._corpus.counts(), self._built.build()
            stored = self._built.fingerprint()
            made_by = Fingerprint.from_json(stored) if stored else None
            return IndexInfo(
                str(self.path),
                **counts,
                vectors=self._built.vector_count(made_by.digest) if made_by else 0,
                listed=build.papers if build else 0,
                k=build.k if build else 0,
                encoder=made_by.encoder if made_by else "",
                fingerprint=asdict(made_by) if made_by else {},
                kind=build.kind if build else "",
                built=build.created if build else "",
                stale=build is None or build.revision != self._corpus.revision,
            )

    def rejects(self) -> Iterator[RejectedRecord]:
        """Every record refused at ingest, by file and line."""
        return self._corpus.rejects()


def _why_unlisted(paper: Paper) -> str:
    if paper.withdrawn:
        return f"was withdrawn, so it has no related list ({paper.title})"
    return f"has no abstract here, so it has no related list ({paper.title})"
