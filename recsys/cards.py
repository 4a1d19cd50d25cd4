"""What is shown of papers: a `Card` for each, and the lists that cards come in.

Most lists are only written out again, as JSON. So a card is printed once for each paper, as the JSON before and after
its score; lists are joined of those, and a `Card` is made of one where it is looked at.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from recsys import taxonomy
from recsys.paper import Paper
from recsys.text.snippet import snippet

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 1
"""Version of the JSON that lists are written as."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def long_date(iso: str) -> str:
    """`2026-10-16` as `Fri 16 Oct 2026`, `2026-10` as `Oct 2026`; anything else as it is. Never localised."""
    year, _, rest = iso.partition("-")
    if not (year.isdigit() and rest):
        return iso
    month = _MONTHS[int(rest[:2]) - 1]
    if len(rest) == 2:
        return f"{month} {year}"
    day = date.fromisoformat(iso)
    return f"{_DAYS[day.weekday()]} {day.day} {month} {year}"


@dataclass(frozen=True, slots=True)
class Folded:
    """A paper that is shown as part of another: its `id`, and the `reason` (`superseded`, `duplicate`, ...)."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Card:
    """One paper in a list.

    Attributes:
        rank: place in the list, from 1.
        id: canonical paper id.
        version: None where the source did not say.
        title: display text, TeX kept.
        snippet: start of the abstract (see `recsys.text.snippet`).
        score: cosine in [-1, 1], higher is nearer, 6 decimals.
        published: `YYYY-MM-DD`, `YYYY-MM` or empty.
        subject: human name of the primary category; empty where unknown.
        categories: canonical, primary first.
        url: the abstract page on arXiv.
        folds: other papers that are the same work, and why.
    """

    rank: int
    id: str
    version: int | None
    title: str
    snippet: str
    score: float
    published: str
    subject: str
    categories: tuple[str, ...]
    url: str
    folds: tuple[Folded, ...] = ()

    @property
    def versioned_id(self) -> str:
        """The id with its version where known."""
        return f"{self.id}v{self.version}" if self.version else self.id

    @property
    def caption(self) -> str:
        """The quiet line under a snippet: score, id, title, date, subject, what it folds."""
        folds = ", ".join(f"{folded.id} ({folded.reason})" for folded in self.folds)
        date, also = long_date(self.published), f"folds {folds}" if folds else ""
        parts = (f"{self.score:.3f}", self.versioned_id, self.title, date, self.subject, also)
        return " · ".join(part for part in parts if part)


class PrintedCard(NamedTuple):
    """What every list shows alike of a paper, as JSON members in UTF-8: joining those is faster than joining text.

    Attributes:
        paper_id: the paper's.
        before: members that stand before the score: id, version, title, snippet.
        after: members that stand after it: published, subject, categories, url, folds.
        text_hash: the paper's.
    """

    paper_id: str
    before: bytes
    after: bytes
    text_hash: bytes

    @property
    def query(self) -> bytes:
        """The JSON object of the first members: id, version, title."""
        return b"{" + self.before[: self.before.index(b',"snippet":')] + b"}"

    def members(self) -> dict[str, Any]:
        """The members of both parts."""
        members: dict[str, Any] = json.loads(b"{" + self.before + b"," + self.after + b"}")
        return members

    def card(self, rank: int, score: float) -> Card:
        """The card at a place in a list."""
        members = self.members()
        categories, folds = tuple(members.pop("categories")), tuple(Folded(**one) for one in members.pop("folds"))
        return Card(**members, rank=rank, score=score, categories=categories, folds=folds)

    def folding(self, folds: Sequence[Folded]) -> PrintedCard:
        """The same paper, shown with these folds."""
        return self._replace(after=_after({**self.members(), "folds": [asdict(folded) for folded in folds]}))


def print_card(paper: Paper) -> PrintedCard:
    """What lists show of a paper that folds no other."""
    primary = paper.categories[0] if paper.categories else ""
    before = {
        "id": paper.paper_id,
        "version": paper.version or None,
        "title": paper.title,
        "snippet": snippet(paper.abstract),
    }
    after = {
        "published": paper.published,
        "subject": taxonomy.name(primary) if primary else "",
        "categories": paper.categories,
        "url": paper.url,
        "folds": [],
    }
    return PrintedCard(paper.paper_id, _members(before), _after(after), paper.text_hash)


def _after(members: dict[str, Any]) -> bytes:
    return _members({name: members[name] for name in ("published", "subject", "categories", "url", "folds")})


def _json(value: object) -> bytes:
    return _encode(value).encode()


def _members(members: dict[str, Any]) -> bytes:
    return _json(members)[1:-1]


class Cards(Sequence[Card]):
    """The cards of a list, each made when it is looked at.

    Args:
        printed: best first.
        scores: cosine of each.
    """

    __slots__ = ("printed", "scores")

    def __init__(self, printed: Sequence[PrintedCard], scores: Sequence[float]) -> None:
        self.printed = printed
        self.scores = scores

    def __len__(self) -> int:
        return len(self.printed)

    @overload
    def __getitem__(self, place: int) -> Card: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Card]: ...
    def __getitem__(self, place: int | slice) -> Card | Sequence[Card]:
        if isinstance(place, slice):
            return tuple(self)[place]
        rank = range(1, len(self) + 1)[place]
        return self.printed[rank - 1].card(rank, round(self.scores[rank - 1], 6))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cards) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def to_json(self) -> bytes:
        """A JSON array of the cards' fields."""
        members: list[object] = []
        for (_, before, after, _), score in zip(self.printed, self.scores, strict=True):
            members += (before, score, after)
        return _array(len(self)) % tuple(members)


@cache
def _array(length: int) -> bytes:
    """Format of a JSON array of cards: filling it takes a third of the time that joining numbers and text does."""
    return b"[" + b",".join(b'{"rank":%d,%%b,"score":%%.6f,%%b}' % rank for rank in range(1, length + 1)) + b"]"


@dataclass(frozen=True, slots=True)
class CardList:
    """Cards in order; prints well, shows as a table in a notebook, turns into a DataFrame.

    Attributes:
        related: the cards, best first.
        note: something the reader should know, e.g. that the list was searched now; may be empty.
    """

    related: Cards
    note: str

    @property
    def heading(self) -> str:
        """One line that says what the list is."""
        raise NotImplementedError

    @property
    def query(self) -> dict[str, Any]:
        """What was asked, as the JSON gives it."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.related)

    def __iter__(self) -> Iterator[Card]:
        return iter(self.related)

    def __getitem__(self, place: int) -> Card:
        return self.related[place]

    def __str__(self) -> str:
        blocks = (f"{item.snippet}\n    {item.caption}" for item in self.related)
        return "\n\n".join((self.heading, *blocks))

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON object: `schema_version`, `query`, `related`, and `note` where there is one."""
        body: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "query": self.query}
        body["related"] = [asdict(item) for item in self.related]
        return {**body, "note": self.note} if self.note else body

    def to_json(self) -> bytes:
        """That object in one line."""
        note = b',"note":' + _json(self.note) if self.note else b""
        return b'{"schema_version":%d,"query":%b,"related":%b%b}' % (
            SCHEMA_VERSION,
            self._query_json(),
            self.related.to_json(),
            note,
        )

    def _query_json(self) -> bytes:
        return _json(self.query)

    def to_pandas(self) -> pd.DataFrame:
        """One row a card, one column a field; ids are text."""
        import pandas as pd

        return pd.DataFrame([asdict(item) for item in self.related], columns=list(Card.__slots__))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{item.rank}</td><td>{item.score:.3f}</td>"
            f'<td><a href="{html.escape(item.url)}">{html.escape(item.versioned_id)}</a></td>'
            f"<td><b>{html.escape(item.title)}</b><br>{html.escape(item.snippet)}</td>"
            f"<td>{html.escape(long_date(item.published))}</td><td>{html.escape(item.subject)}</td></tr>"
            for item in self.related
        )
        head = "<tr><th></th><th>score</th><th>id</th><th>paper</th><th>date</th><th>subject</th></tr>"
        return f"<p>{html.escape(self.heading)}</p><table>{head}{rows}</table>"


@dataclass(frozen=True, slots=True)
class RelatedList(CardList):
    """The papers nearest to one paper.

    Attributes:
        asked: card of the paper asked for.
    """

    asked: PrintedCard

    @property
    def query_id(self) -> str:
        """The paper asked for."""
        return self.asked.paper_id

    @property
    def query_version(self) -> int | None:
        """Its newest known version; None where unknown."""
        version: int | None = self.query["version"]
        return version

    @property
    def query_title(self) -> str:
        """Its title."""
        return str(self.query["title"])

    @property
    def heading(self) -> str:
        """`Related papers: <title>`."""
        return f"Related papers: {self.query_title}"

    @property
    def query(self) -> dict[str, Any]:
        """Id, version and title of the paper asked for."""
        query: dict[str, Any] = json.loads(self.asked.query)
        return query

    def _query_json(self) -> bytes:
        return self.asked.query


@dataclass(frozen=True, slots=True)
class SearchResults(CardList):
    """The papers nearest to a text.

    Attributes:
        text: what was searched for.
    """

    text: str

    @property
    def heading(self) -> str:
        """`Papers for: <text>`."""
        return f"Papers for: {self.text}"

    @property
    def query(self) -> dict[str, Any]:
        """The text."""
        return {"text": self.text}
