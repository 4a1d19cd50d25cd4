"""Single values of an index, by name: what vectors are made by, the corpus revision, the next free row."""

from __future__ import annotations

import sqlite3

from recsys.errors import IndexDamaged
from recsys.store.checksums import checksum


class Meta:
    """The named values of one index, over an open connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get(self, key: str) -> str | None:
        """A value, or None where it was never set.

        Raises:
            IndexDamaged: it is not what was stored.
        """
        found = self._connection.execute("SELECT value, checksum FROM meta WHERE key = ?", (key,)).fetchone()
        if found is None:
            return None
        if checksum((key, found[0])) != found[1]:
            raise IndexDamaged(f"the record of {key} is damaged", "recsys doctor --repair")
        return str(found[0])

    def set(self, key: str, value: str) -> None:
        """Store a value. Call inside a transaction."""
        query = "INSERT OR REPLACE INTO meta (key, value, checksum) VALUES (?, ?, ?)"
        self._connection.execute(query, (key, value, checksum((key, value))))
