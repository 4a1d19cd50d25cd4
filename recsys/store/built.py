"""What was built of the corpus: vectors by text, builds, and the stored related lists."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recsys.store.corpus import RECOMMENDABLE


class Shard(NamedTuple):
    """One immutable file of vectors: `rows` x `dim`, named by the sha256 of its bytes."""

    shard: int
    sha256: str
    rows: int
    dim: int


class Embedded(NamedTuple):
    """A recommendable paper and where its vector lies."""

    row: int
    paper_id: str
    shard: int
    position: int


@dataclass(frozen=True, slots=True)
class Build:
    """One published build.

    Attributes:
        created: UTC, ISO 8601.
        fingerprint: digest of the vectors' fingerprint.
        kind: search kind, a name of the registry.
        search_file: sha256 of the file under `search/`; empty where the kind needs none.
        papers: how many papers have lists.
        k: neighbours kept of each.
        revision: the corpus revision that it was made of.
    """

    created: str
    fingerprint: str
    kind: str
    search_file: str
    papers: int
    k: int
    revision: int


def pack_neighbors(rows: Sequence[int], scores: Sequence[float]) -> bytes:
    """Rows (uint32) and scores (float32) of one list, best first, little endian."""
    return struct.pack(f"<{len(rows)}I{len(scores)}f", *rows, *scores)


def unpack_neighbors(blob: bytes) -> list[tuple[int, float]]:
    """The inverse of `pack_neighbors`: (row, score) pairs, best first."""
    k = len(blob) // 8
    numbers = struct.unpack(f"<{k}I{k}f", blob)
    return list(zip(numbers[:k], numbers[k:], strict=True))


class Built:
    """Vectors, builds and lists of one index, over an open connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def fingerprint(self) -> str | None:
        """JSON of the fingerprint that this index's vectors have, or None before the first embedding."""
        found = self._connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
        return str(found[0]) if found else None

    def set_fingerprint(self, fingerprint: str) -> None:
        """Declare what the vectors of this index are made by (JSON)."""
        self._connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('fingerprint', ?)", (fingerprint,))

    def forget_vectors(self) -> None:
        """Drop every vector, list and build: another encoder takes over. Call inside a transaction."""
        for table in ("embeddings", "quarantine", "shards", "related", "builds"):
            self._connection.execute(f"DELETE FROM {table}")

    def pending(self, digest: str) -> list[int]:
        """Rows of recommendable papers whose text has no vector, one row a text, longest text first."""
        query = f"""
            SELECT min(row), length(title) + length(abstract) AS size FROM papers AS p
            WHERE {RECOMMENDABLE}
              AND NOT EXISTS (SELECT 1 FROM embeddings WHERE fingerprint = ?1 AND text_hash = p.text_hash)
              AND NOT EXISTS (SELECT 1 FROM quarantine WHERE fingerprint = ?1 AND text_hash = p.text_hash)
            GROUP BY text_hash ORDER BY size DESC, min(paper_id)"""
        return [row for row, _ in self._connection.execute(query, (digest,))]

    def add_shard(self, digest: str, sha256: str, dim: int, text_hashes: Sequence[bytes]) -> None:
        """Reference a shard whose i-th row is the vector of the i-th text. Call inside a transaction."""
        added = self._connection.execute(
            "INSERT OR IGNORE INTO shards (sha256, fingerprint, rows, dim) VALUES (?, ?, ?, ?) RETURNING shard",
            (sha256, digest, len(text_hashes), dim),
        ).fetchone()
        if added is None:
            query = "SELECT shard FROM shards WHERE sha256 = ? AND fingerprint = ?"
            added = self._connection.execute(query, (sha256, digest)).fetchone()
        self._connection.executemany(
            "INSERT OR REPLACE INTO embeddings (fingerprint, text_hash, shard, position) VALUES (?, ?, ?, ?)",
            ((digest, text_hash, added[0], position) for position, text_hash in enumerate(text_hashes)),
        )

    def add_quarantine(self, digest: str, text_hashes: Iterable[bytes]) -> None:
        """Note texts of which no finite vector could be made. Call inside a transaction."""
        self._connection.executemany(
            "INSERT OR IGNORE INTO quarantine (fingerprint, text_hash) VALUES (?, ?)",
            ((digest, text_hash) for text_hash in text_hashes),
        )

    def quarantined(self, digest: str) -> list[str]:
        """Ids of the papers whose text is quarantined, sorted."""
        query = """SELECT paper_id FROM papers JOIN quarantine USING (text_hash)
                   WHERE fingerprint = ? ORDER BY paper_id"""
        return [paper_id for (paper_id,) in self._connection.execute(query, (digest,))]

    def is_quarantined(self, digest: str, text_hash: bytes) -> bool:
        """Whether no finite vector could be made of a text."""
        query = "SELECT 1 FROM quarantine WHERE fingerprint = ? AND text_hash = ?"
        return self._connection.execute(query, (digest, text_hash)).fetchone() is not None

    def shards(self, digest: str) -> list[Shard]:
        """The shards of a fingerprint, in the order of their numbers."""
        query = "SELECT shard, sha256, rows, dim FROM shards WHERE fingerprint = ? ORDER BY shard"
        return [Shard(*row) for row in self._connection.execute(query, (digest,))]

    def shard_files(self) -> set[str]:
        """sha256 of every referenced shard."""
        return {sha for (sha,) in self._connection.execute("SELECT sha256 FROM shards")}

    def embedded(self, digest: str) -> Iterator[Embedded]:
        """Recommendable papers that have a vector, by paper id."""
        query = f"""
            SELECT row, paper_id, shard, position FROM papers AS p
            JOIN embeddings AS e ON e.fingerprint = ? AND e.text_hash = p.text_hash
            WHERE {RECOMMENDABLE} ORDER BY paper_id"""
        return map(Embedded._make, self._connection.execute(query, (digest,)))

    def vector_place(self, digest: str, text_hash: bytes) -> tuple[str, int, int, int] | None:
        """Where one text's vector lies: (sha256 of the shard, its rows, its dim, position), or None."""
        query = """SELECT sha256, rows, dim, position FROM embeddings JOIN shards USING (shard)
                   WHERE embeddings.fingerprint = ? AND text_hash = ?"""
        found = self._connection.execute(query, (digest, text_hash)).fetchone()
        return tuple(found) if found else None

    def rows_of(self, shard: int, position: int) -> list[tuple[int, str]]:
        """(row, paper id) of the recommendable papers whose text has this vector, by paper id."""
        query = f"""SELECT row, paper_id FROM embeddings JOIN papers USING (text_hash)
                    WHERE shard = ? AND position = ? AND {RECOMMENDABLE} ORDER BY paper_id"""
        return self._connection.execute(query, (shard, position)).fetchall()

    def vector_count(self, digest: str) -> int:
        """How many distinct texts have a vector."""
        query = "SELECT count(*) FROM embeddings WHERE fingerprint = ?"
        return int(self._connection.execute(query, (digest,)).fetchone()[0])

    def replace_lists(self, lists: Iterable[tuple[int, bytes]]) -> None:
        """Put these (row, packed neighbours) in place of every stored list. Call inside a transaction."""
        self._connection.execute("DELETE FROM related")
        self._connection.executemany("INSERT INTO related (row, neighbors) VALUES (?, ?)", lists)

    def neighbors(self, row: int) -> list[tuple[int, float]] | None:
        """The stored list of a paper: (row, score), best first; None where the last build has none for it."""
        found = self._connection.execute("SELECT neighbors FROM related WHERE row = ?", (row,)).fetchone()
        return unpack_neighbors(found[0]) if found else None

    def listed(self) -> Iterator[tuple[int, str]]:
        """(row, paper id) of every paper that has a list, by paper id."""
        yield from self._connection.execute(
            f"SELECT row, paper_id FROM papers JOIN related USING (row) WHERE {RECOMMENDABLE} ORDER BY paper_id"
        )

    def add_build(self, build: Build) -> None:
        """Make `build` the current one. Call inside the transaction that replaces the lists."""
        self._connection.execute("DELETE FROM builds")
        self._connection.execute(
            "INSERT INTO builds (created, fingerprint, kind, search_file, papers, k, revision)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                build.created,
                build.fingerprint,
                build.kind,
                build.search_file,
                build.papers,
                build.k,
                build.revision,
            ),
        )

    def build(self) -> Build | None:
        """The current build, or None before the first."""
        query = "SELECT created, fingerprint, kind, search_file, papers, k, revision FROM builds ORDER BY build"
        found = self._connection.execute(f"{query} DESC LIMIT 1").fetchone()
        return Build(*found) if found else None
