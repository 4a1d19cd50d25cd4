"""Cards made beforehand: what a list shows of each paper, so that reading a list reads no abstracts.

A card is dropped, by a trigger, when its paper changes; one that is missing is made when it is wanted. So cards may be
dropped at any time, and are never out of date.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from recsys.cards import Folded, PrintedCard, print_card
from recsys.store.checksums import checksum_of_card
from recsys.store.corpus import LISTABLE, Corpus
from recsys.store.lookup import matching

_REMEMBERED = 1 << 17
"""Cards kept in memory, about 1 kB each."""

_AT_ONCE = 1000


class StoredCards:
    """The cards of the papers that can be recommended, over an open connection.

    What was read once is remembered: call `forget` when the index may have changed.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._corpus = Corpus(connection)
        self._remembered: dict[int, PrintedCard | None] = {}

    def forget(self) -> None:
        """Read again what is asked for from now on."""
        self._remembered.clear()

    def at(self, rows: Sequence[int]) -> list[PrintedCard | None]:
        """The card of each row; None where there is no paper, or one that cannot be recommended."""
        try:
            return [self._remembered[row] for row in rows]
        except KeyError:
            self._remember(rows)
            return [self._remembered[row] for row in rows]

    def _remember(self, rows: Sequence[int]) -> None:
        missing = [row for row in rows if row not in self._remembered]
        if len(self._remembered) + len(missing) > _REMEMBERED:
            self._remembered.clear()
            missing = list(rows)
        self._remembered.update(self._read(missing))

    def _read(self, rows: Sequence[int]) -> dict[int, PrintedCard | None]:
        found: dict[int, PrintedCard | None] = dict.fromkeys(rows)
        found.update(self._stored(rows))
        found.update(self._made(row for row, card in found.items() if card is None))
        for row, copies in self._corpus.folds_of(rows).items():
            if (card := found[row]) is not None:
                found[row] = card.folding([Folded(*copy) for copy in copies])
        return found

    def stored(self) -> Iterator[tuple[int, PrintedCard | None]]:
        """Every stored card by row, without folds; None where it is damaged."""
        query = "SELECT row, paper_id, before, after, text_hash, checksum FROM cards ORDER BY row"
        for *fields, stored in self._connection.execute(query):
            yield fields[0], PrintedCard(*fields[1:]) if checksum_of_card(*fields) == stored else None

    def _stored(self, rows: Sequence[int]) -> Iterator[tuple[int, PrintedCard]]:
        """Those that are stored and whole."""
        query = "SELECT row, paper_id, before, after, text_hash, checksum FROM cards WHERE row"
        for *fields, stored in matching(self._connection, query, rows):
            if checksum_of_card(*fields) == stored:
                yield fields[0], PrintedCard(*fields[1:])

    def _made(self, rows: Iterable[int]) -> Iterator[tuple[int, PrintedCard]]:
        for row, paper in self._corpus.papers_at(rows).items():
            if paper.recommendable:
                yield row, print_card(paper)

    def fill(self) -> None:
        """Store the cards that are missing. Call inside a transaction."""
        query = f"SELECT row FROM papers WHERE {LISTABLE} AND row NOT IN (SELECT +row FROM cards INDEXED BY cards_row)"
        missing = [row for (row,) in self._connection.execute(query)]
        for start in range(0, len(missing), _AT_ONCE):
            made = self._made(missing[start : start + _AT_ONCE])
            stored = ((row, card.paper_id, card.before, card.after, card.text_hash) for row, card in made)
            self._connection.executemany(
                "INSERT INTO cards (row, paper_id, before, after, text_hash, checksum) VALUES (?, ?, ?, ?, ?, ?)",
                ((*fields, checksum_of_card(*fields)) for fields in stored),
            )

    def drop(self) -> None:
        """Drop every card. Call inside a transaction."""
        self._connection.execute("DELETE FROM cards")
        self.forget()
