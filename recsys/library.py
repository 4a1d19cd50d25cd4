"""The read side: open an index once, then answer. Nothing heavy is imported until a question needs it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

from recsys import arxiv_id
from recsys.arxiv_id import ArxivId
from recsys.cards import CardList, PrintedCard, RelatedList, SearchResults
from recsys.errors import IndexDamaged, IndexStale, InvalidArxivId, PaperNotFound, Republished
from recsys.paper import Paper
from recsys.related import led_by, related_list, search_results
from recsys.store.built import Build, Built, Neighbors, unpack_neighbors
from recsys.store.cards import StoredCards
from recsys.store.connection import explained, reading, snapshot
from recsys.store.corpus import Corpus, Fold, RejectedRecord

if TYPE_CHECKING:
    from recsys.info import IndexInfo
    from recsys.nearest import Nearest, Search

_T = TypeVar("_T")
_L = TypeVar("_L", bound=CardList)

SHOWN = 20
"""Papers in a list unless asked otherwise."""

_SEARCHED_NOW = "not in the last build; searched now (recsys update stores its list)"
_AT_ONCE = 500
"""Lists read together where all are wanted."""

_SPARE = 20
"""Neighbours fetched beyond `k`, for those that are filtered when shown."""


class _Shown(NamedTuple):
    """Whose list answers for an id: the paper's row and card, and a banner where it is another's."""

    row: int
    card: PrintedCard
    banner: str = ""


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
        self._cards = StoredCards(self._connection)
        self._current: Build | None = None
        self._version = -1

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
        asked = arxiv_id.parse(paper_id)
        return self._answer(lambda: self._paper(asked))

    def _paper(self, asked: ArxivId) -> Paper:
        paper = self._corpus.paper(asked.paper_id)
        if paper is None:
            raise self._absent(asked)
        return paper

    def _absent(self, asked: ArxivId) -> PaperNotFound:
        if arxiv_id.not_yet_issued(asked.paper_id, date.today()):
            return PaperNotFound(f"{asked.paper_id} is not yet issued by arXiv", "check the id")
        return PaperNotFound(
            f"{asked.paper_id} is not in {self.path}: it was never ingested",
            f"recsys ingest FILE... --index {self.path}, then recsys update --index {self.path}",
        )

    def related(self, paper_id: str, k: int = SHOWN, *, fold: bool = True) -> RelatedList:
        """The `k` papers nearest to one, best first; never itself, nothing withdrawn, one line a work.

        Stored lists are read; a paper ingested since the last build, or a `k` beyond what is stored, is searched for
        now. A paper that is folded into another, withdrawn or not, answers with that other's list, and a note.

        Args:
            paper_id: in any spelling.
            k: papers wanted, at least 1.
            fold: whether copies of one work are shown as one. If not, lists are searched now.

        Raises:
            InvalidArxivId: not an arXiv id.
            PaperNotFound: never ingested, withdrawn, or without abstract; the message says which.
            IndexStale: nothing was indexed yet.
            IndexDamaged: something that the answer needs is damaged.
        """
        _require_positive(k)
        return self._answer(lambda: self._related(paper_id, k, fold))

    def _answer(self, question: Callable[[], _T]) -> _T:
        """Ask in one snapshot; again where a newer build took its files away."""
        while True:
            try:
                with self._one_build():
                    return question()
            except Republished:
                continue

    @contextmanager
    def _one_build(self) -> Iterator[None]:
        """One snapshot of the index.

        Raises:
            Republished: a file is absent, and the index was written to meanwhile.
        """
        with explained(self.path):
            try:
                with snapshot(self._connection):
                    self._look_again()
                    yield
            except IndexDamaged as error:
                if self._connection.in_transaction or self._built.data_version() == self._version:
                    raise
                raise Republished(self.path) from error

    def _look_again(self) -> None:
        """Forget what was remembered of an earlier state of the index."""
        version = self._built.data_version()
        if version != self._version:
            self._version, self._current = version, None
            self._cards.forget()

    def _related(self, paper_id: str, k: int, fold: bool) -> RelatedList:
        (answer,) = self._related_together([paper_id], k, fold)
        if isinstance(answer, PaperNotFound):
            raise answer
        return answer

    def _related_together(self, paper_ids: Sequence[str], k: int, fold: bool) -> list[RelatedList | PaperNotFound]:
        """The list of each id, or why it has none; what is stored of them is read together."""
        shown = self._shown(paper_ids, fold)
        stored = self._stored([one.row for one in shown if isinstance(one, _Shown)], k) if fold else {}
        return [
            _or_why_not(partial(self._list, one, stored.get(one.row), k, fold)) if isinstance(one, _Shown) else one
            for one in shown
        ]

    def _stored(self, rows: Sequence[int], k: int) -> dict[int, Neighbors]:
        """Row -> stored list, where there is one; the cards that they show are read together."""
        stored = {one.row: unpack_neighbors(one.neighbors) for one in self._built.stored_lists(rows)}
        self._cards.at(list(set(rows).union(*(neighbors.rows[:k] for neighbors in stored.values()))))
        return stored

    def _list(self, shown: _Shown, stored: Neighbors | None, k: int, fold: bool) -> RelatedList:
        """A paper's list of what is stored; searched for now, ever wider, where that leaves fewer than k to show."""
        row, card, banner = shown
        build = self._build
        note = "; ".join(filter(None, (banner, _SEARCHED_NOW if stored is None and fold else "")))
        if stored is not None:
            found = related_list(self._cards, card, stored, k, note)
            if len(found) >= k or len(stored.rows) >= build.papers - 1:
                return found
        elif self._built.is_quarantined(build.fingerprint, card.text_hash):
            reason = "has no related list: the encoder makes no finite vector of its text"
            raise PaperNotFound(f"{card.paper_id} {reason}", f"see {self._paper_at(row).url}")
        search = self._nearest(folded=not fold).to_paper(self._paper_at(row), row)
        return _wide_enough(search, partial(related_list, self._cards, card, k=k, note=note, folded=not fold), k)

    def _shown(self, paper_ids: Sequence[str], fold: bool) -> list[_Shown | PaperNotFound]:
        """What answers for each id, or why nothing does."""
        asked = [_or_why_not(partial(arxiv_id.parse, paper_id)) for paper_id in paper_ids]
        rows = self._corpus.rows(one.paper_id for one in asked if isinstance(one, ArxivId))
        folds = self._corpus.folds_at(rows.values())
        self._cards.at([*rows.values(), *(found.work for found in folds.values())])
        return [
            _or_why_not(partial(self._shown_for, one, rows.get(one.paper_id), folds, fold))
            if isinstance(one, ArxivId)
            else one
            for one in asked
        ]

    def _shown_for(self, asked: ArxivId, row: int | None, folds: Mapping[int, Fold], fold: bool) -> _Shown:
        if row is None:
            raise self._absent(asked)
        found = folds.get(row)
        own, *successors = self._cards.at([row, *([found.work] if found else [])])
        if found and (fold or own is None) and (successor := successors[0]):
            what = "is shown as another paper" if own else "was withdrawn"
            shown_as = successor.card(1, 1).versioned_id
            banner = f"{asked.paper_id} {what} ({found.reason}): this is the list of {shown_as}"
            return _Shown(found.work, successor, banner)
        if own is None:
            paper = self._paper(asked)
            raise PaperNotFound(f"{paper.paper_id} {_why_unlisted(paper)}", f"see {paper.url}")
        if own.paper_id != asked.paper_id:
            raise IndexDamaged(f"{asked.paper_id} leads to the record of {own.paper_id}", "recsys doctor --repair")
        return _Shown(row, own)

    def _paper_at(self, row: int) -> Paper:
        paper = self._corpus.paper_at(row)
        assert paper is not None, "a card has a paper"
        return paper

    @property
    def _build(self) -> Build:
        if self._current is None:
            self._current = self._built.build()
        if self._current is None:
            raise IndexStale(f"no lists at {self.path}", f"recsys update --index {self.path}")
        return self._current

    def _nearest(self, *, folded: bool = False) -> Nearest:
        from recsys.nearest import Nearest  # brings numpy, which a stored list does not need

        return Nearest(self.path, self._built, self._build, folded=folded)

    def related_many(
        self, paper_ids: Iterable[str], k: int = SHOWN, *, fold: bool = True
    ) -> Iterator[RelatedList | PaperNotFound]:
        """The list of each id in turn; an id that has none gives its error instead of raising it.

        Ids are taken 500 at a time, and what is stored of them is read together.
        """
        _require_positive(k)
        ids = iter(paper_ids)
        while some := list(islice(ids, _AT_ONCE)):
            yield from self._answer(partial(self._related_together, some, k, fold))

    def lists(self, k: int = SHOWN) -> Iterator[RelatedList]:
        """Every stored list, by paper id, all of one build; a list shorter than `k` is searched for what it lacks."""
        with self._one_build():
            yield from self._lists(k)

    def _lists(self, k: int) -> Iterator[RelatedList]:
        if self._build.papers != self._built.list_count():
            raise IndexDamaged("lists are missing", "recsys doctor --repair")
        listed = self._built.listed()
        while some := list(islice(listed, _AT_ONCE)):
            rows = [row for row, _ in some]
            stored = self._stored(rows, k)
            for (row, paper_id), card in zip(some, self._cards.at(rows), strict=True):
                if card is None or card.paper_id != paper_id:
                    raise IndexDamaged(f"{paper_id} leads to another record", "recsys doctor --repair")
                yield self._list(_Shown(row, card), stored.get(row), k, fold=True)

    def search(self, text: str, k: int = SHOWN, *, fold: bool = True) -> SearchResults:
        """The `k` papers nearest to a text; a paper that the text names exactly, by id or title, comes first.

        Args:
            text: words, an id or a title.
            k: papers wanted, at least 1.
            fold: whether copies of one work are shown as one.

        Raises:
            PaperNotFound: the text is an id that has no list here; the message says why.
            IndexStale: nothing was indexed yet.
            EncoderUnavailable: the index's encoder cannot be loaded.
        """
        _require_positive(k)
        return self._answer(lambda: self._search(text, k, fold))

    def _search(self, text: str, k: int, fold: bool) -> SearchResults:
        named = self._named(text)
        if named is None:
            search = self._nearest(folded=not fold).to_text(text)
            return _wide_enough(search, partial(search_results, self._cards, text, k=k, folded=not fold), k)
        return led_by(self._related(named.paper_id, k, fold), text, k)

    def _named(self, text: str) -> ArxivId | None:
        """The id that the text is, or that of the paper whose whole title it is; by title only a recommendable one."""
        try:
            return arxiv_id.parse(text)
        except InvalidArxivId:
            titled = (paper for paper in self._corpus.with_title(text) if paper.recommendable)
            return next((arxiv_id.parse(paper.paper_id) for paper in titled), None)

    def info(self) -> IndexInfo:
        """Counts, encoder and build."""
        from recsys.info import IndexInfo

        return self._answer(lambda: IndexInfo.read(self.path, self._built, self._corpus))

    def rejects(self) -> Iterator[RejectedRecord]:
        """Every record refused at ingest, by file and line."""
        with explained(self.path):
            yield from self._corpus.rejects()


def _wide_enough(search: Search, shown: Callable[[Neighbors], _L], k: int) -> _L:
    """What is shown of a search's hits, of which some may be filtered: of ever wider ones until that is k cards."""
    width = k + _SPARE
    while True:
        neighbors = search(width)
        cards = shown(Neighbors.of(neighbors))
        if len(cards) >= k or len(neighbors) < width:
            return cards
        width *= 4


def _or_why_not(question: Callable[[], _T]) -> _T | PaperNotFound:
    try:
        return question()
    except PaperNotFound as error:
        return error


def _require_positive(k: int) -> None:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")


def _why_unlisted(paper: Paper) -> str:
    if paper.withdrawn:
        return f"was withdrawn, so it has no related list ({paper.title})"
    return f"has no abstract here, so it has no related list ({paper.title})"
