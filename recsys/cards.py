"""What is shown of papers: a `Card` for each, and the lists that cards come in."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from recsys import taxonomy
from recsys.paper import Paper
from recsys.text.snippet import snippet

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 1
"""Version of the JSON that lists are written as."""

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


def card(paper: Paper, rank: int, score: float, folds: tuple[Folded, ...] = ()) -> Card:
    """Make the card of a paper at a place in a list."""
    primary = paper.categories[0] if paper.categories else ""
    return Card(
        rank,
        paper.paper_id,
        paper.version or None,
        paper.title,
        snippet(paper.abstract),
        round(score, 6),
        paper.published,
        taxonomy.name(primary) if primary else "",
        paper.categories,
        paper.url,
        folds,
    )


@dataclass(frozen=True, slots=True)
class CardList:
    """Cards in order; prints well, shows as a table in a notebook, turns into a DataFrame.

    Attributes:
        related: the cards, best first.
        note: something the reader should know, e.g. that the list was searched now; may be empty.
    """

    related: tuple[Card, ...]
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
        query_id: the paper asked for.
        query_version: its newest known version; None where unknown.
        query_title: its title.
    """

    query_id: str
    query_version: int | None
    query_title: str

    @property
    def heading(self) -> str:
        """`Related papers: <title>`."""
        return f"Related papers: {self.query_title}"

    @property
    def query(self) -> dict[str, Any]:
        """Id, version and title of the paper asked for."""
        return {"id": self.query_id, "version": self.query_version, "title": self.query_title}


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
