"""What was built of the corpus: vectors by text, builds, and the stored related lists."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from recsys.errors import IndexDamaged
from recsys.store.checksums import checksum, checksum_of_list, digest_of_texts
from recsys.store.columns import columns
from recsys.store.corpus import LISTABLE, RECOMMENDABLE
from recsys.store.lookup import matching
from recsys.store.meta import Meta

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_BUILD = "created, fingerprint, kind, search_file, papers, k, revision, recall"
_USED = "(text_hash IN (SELECT text_hash FROM papers) OR text_hash IN (SELECT text_hash FROM related))"
_REPAIR = "recsys doctor --repair"


class Shard(NamedTuple):
    """One immutable file of vectors: `rows` x `dim`, named by the sha256 of its bytes."""

    shard: int
    sha256: str
    rows: int
    dim: int


class Embedded(NamedTuple):
    """A paper that takes part in lists, and where its vector lies."""

    row: int
    paper_id: str
    text_hash: bytes
    shard: int
    position: int


@dataclass(frozen=True)
class EmbeddedPapers:
    """The papers that take part in lists, by paper id, and where their vectors lie.

    Attributes:
        rows: (n,) int64.
        paper_ids: (n,) bytes.
        text_hashes: (n,) void, 16 bytes each.
        shards: (n,) int64, numbers of shards.
        positions: (n,) int64, rows of the shards.
    """

    rows: npt.NDArray[np.int64]
    paper_ids: npt.NDArray[np.bytes_]
    text_hashes: npt.NDArray[np.void]
    shards: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, which: npt.NDArray[Any]) -> EmbeddedPapers:
        """Some of them, in the order of `which`: places, or a mask."""
        every = (self.rows, self.paper_ids, self.text_hashes, self.shards, self.positions)
        return EmbeddedPapers(*(column[which] for column in every))

    def paper_id(self, place: int) -> str:
        """The id of one of them."""
        return bytes(self.paper_ids[place]).decode()


class StoredList(NamedTuple):
    """A related list as it is stored: packed neighbours, and the text that they were made of."""

    row: int
    neighbors: bytes
    text_hash: bytes
    searchable: bool


class Neighbors(NamedTuple):
    """Neighbours of one paper, best first: the `rows` of each, and the cosines."""

    rows: Sequence[int]
    scores: Sequence[float]

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, float]]) -> Neighbors:
        """Those of (row, score) pairs."""
        return cls([row for row, _ in pairs], [score for _, score in pairs])

    def pairs(self) -> list[tuple[int, float]]:
        """(row, score) of each."""
        return list(zip(self.rows, self.scores, strict=True))


@dataclass(frozen=True)
class ListEnds:
    """Where stored lists end, by row: nothing that is not in a list is above its end.

    Attributes:
        rows: (s,) int64, the papers'.
        text_hashes: (s,) void, 16 bytes each: as in `StoredList`.
        lengths: (s,) int64, entries.
        last: (s,) uint32, the last entry's row; 0 where there is none.
        scores: (s,) float32, its score; 0 where there is none.
    """

    rows: npt.NDArray[np.int64]
    text_hashes: npt.NDArray[np.void]
    lengths: npt.NDArray[np.int64]
    last: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.rows)


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
        recall: share of the true 20 nearest that lists hold, measured on a sample; 1 where the search is exact.
        number: grows with every build of an index.
    """

    created: str
    fingerprint: str
    kind: str
    search_file: str
    papers: int
    k: int
    revision: int
    recall: float = 1.0
    number: int = 0


def pack_neighbors(rows: Sequence[int], scores: Sequence[float]) -> bytes:
    """Rows (uint32) and scores (float32) of one list, best first, little endian."""
    return struct.pack(f"<{len(rows)}I{len(scores)}f", *rows, *scores)


def unpack_neighbors(blob: bytes) -> Neighbors:
    """The inverse of `pack_neighbors`."""
    k = len(blob) // 8
    numbers = struct.unpack(f"<{k}I{k}f", blob)
    return Neighbors(numbers[:k], numbers[k:])


class Built:
    """Vectors, builds and lists of one index, over an open connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._meta = Meta(connection)

    def fingerprint(self) -> str | None:
        """JSON of the fingerprint that this index's vectors have, or None before the first embedding."""
        return self._meta.get("fingerprint")

    def set_fingerprint(self, fingerprint: str) -> None:
        """Declare what the vectors of this index are made by (JSON)."""
        self._meta.set("fingerprint", fingerprint)

    def build_fingerprint(self) -> str | None:
        """JSON of the fingerprint of the published build: another than `fingerprint` while vectors are replaced."""
        return self._meta.get("build_fingerprint")

    def keep_only(self, digest: str) -> None:
        """Drop every vector of other fingerprints than the index's. Call inside the transaction of a build."""
        for table in ("embeddings", "quarantine", "shards"):
            self._connection.execute(f"DELETE FROM {table} WHERE fingerprint <> ?", (digest,))
        self._meta.set("build_fingerprint", self.fingerprint() or "")

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
        query = "INSERT OR IGNORE INTO shards (sha256, fingerprint, rows, dim) VALUES (?, ?, ?, ?)"
        self._connection.execute(query, (sha256, digest, len(text_hashes), dim))
        query = "SELECT shard FROM shards WHERE sha256 = ? AND fingerprint = ?"
        (shard,) = self._connection.execute(query, (sha256, digest)).fetchone()
        self._connection.executemany(
            "INSERT OR REPLACE INTO embeddings (fingerprint, text_hash, shard, position) VALUES (?, ?, ?, ?)",
            ((digest, text_hash, shard, position) for position, text_hash in enumerate(text_hashes)),
        )
        texts = self._digest_of_texts(shard)
        self._connection.execute("UPDATE shards SET texts = ? WHERE shard = ?", (texts, shard))

    def _digest_of_texts(self, shard: int) -> bytes:
        """Of the texts that a shard has vectors of; other texts with the very same vectors share their shard."""
        query = "SELECT text_hash FROM embeddings WHERE shard = ? ORDER BY position, text_hash"
        return digest_of_texts(text_hash for (text_hash,) in self._connection.execute(query, (shard,)))

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

    def check_shard(self, shard: Shard) -> None:
        """Check that the rows of a shard belong to the texts that they were made of.

        Raises:
            IndexDamaged: they do not.
        """
        (stored,) = self._connection.execute("SELECT texts FROM shards WHERE shard = ?", (shard.shard,)).fetchone()
        if self._digest_of_texts(shard.shard) != stored:
            raise _of_other_texts(shard)

    def check_shards(self, digest: str, some: Sequence[Shard]) -> None:
        """`check_shard` for several of a fingerprint, in one pass.

        Raises:
            IndexDamaged: the rows of one do not belong to the texts that they were made of.
        """
        import numpy as np

        stored = dict(self._connection.execute("SELECT shard, texts FROM shards WHERE fingerprint = ?", (digest,)))
        query = "SELECT shard, position, text_hash FROM embeddings WHERE fingerprint = ?"
        dtypes = {"shard": "int64", "position": "int64", "text_hash": "V16"}
        shards, positions, texts = columns(self._connection, query, (digest,), **dtypes)
        order = np.lexsort((texts.view("S16"), positions, shards))
        bounds = np.searchsorted(shards[order], [[shard.shard, shard.shard + 1] for shard in some]).tolist()
        for shard, (first, last) in zip(some, bounds, strict=True):
            if digest_of_texts([texts[order[first:last]].tobytes()]) != stored[shard.shard]:
                raise _of_other_texts(shard)

    def forget_shard(self, shard: Shard) -> int:
        """Drop a shard's vectors, so that their texts are encoded again; returns how many. Call inside a transaction.

        Lists made of them stay, but name no text any more, so that the next build makes them anew.
        """
        texts = "SELECT text_hash FROM embeddings WHERE shard = ?"
        rows = f"SELECT row FROM papers WHERE text_hash IN ({texts})"
        none = "text_hash = x'', checksum = checksum_of_list(row, neighbors, x'', searchable)"
        self._connection.execute(f"UPDATE related SET {none} WHERE row IN ({rows})", (shard.shard,))
        return self.drop_shards([shard])

    def shard_files(self) -> set[str]:
        """sha256 of every referenced shard."""
        return {sha for (sha,) in self._connection.execute("SELECT sha256 FROM shards")}

    def used(self, shard: Shard) -> list[tuple[int, bytes]]:
        """(position, text hash) of the vectors of a shard whose text a paper or a list has, by position."""
        query = f"SELECT position, text_hash FROM embeddings WHERE shard = ? AND {_USED} ORDER BY position, text_hash"
        return self._connection.execute(query, (shard.shard,)).fetchall()

    def use_counts(self, digest: str) -> dict[int, int]:
        """Shard number -> how many of its vectors have a text that a paper or a list has."""
        query = f"SELECT shard, count(*) FROM embeddings WHERE fingerprint = ? AND {_USED} GROUP BY shard"
        return dict(self._connection.execute(query, (digest,)))

    def drop_shards(self, shards: Iterable[Shard]) -> int:
        """Drop shards and the places of their vectors; returns how many vectors. Call inside a transaction."""
        dropped = 0
        for shard in shards:
            dropped += self._connection.execute("DELETE FROM embeddings WHERE shard = ?", (shard.shard,)).rowcount
            self._connection.execute("DELETE FROM shards WHERE shard = ?", (shard.shard,))
        return dropped

    def embedded(self, digest: str, *, folded: bool = True) -> EmbeddedPapers:
        """Recommendable papers that have a vector, by paper id.

        Args:
            digest: of the vectors' fingerprint.
            folded: whether papers that the build folds into others count too.
        """
        query = f"""
            SELECT papers.row, paper_id, text_hash, shard, position
            FROM embeddings CROSS JOIN papers INDEXED BY papers_recommendable USING (text_hash)
            WHERE fingerprint = ? AND {RECOMMENDABLE if folded else LISTABLE}"""
        dtypes = {"row": "int64", "paper_id": "S", "text_hash": "V16", "shard": "int64", "position": "int64"}
        papers = EmbeddedPapers(*columns(self._connection, query, (digest,), **dtypes))
        return papers.take(papers.paper_ids.argsort())

    def vector_place(self, digest: str, text_hash: bytes) -> tuple[Shard, int] | None:
        """Where one text's vector lies: (shard, position), or None."""
        query = """SELECT shard, sha256, rows, dim, position FROM embeddings JOIN shards USING (shard)
                   WHERE embeddings.fingerprint = ? AND text_hash = ?"""
        found = self._connection.execute(query, (digest, text_hash)).fetchone()
        return (Shard(*found[:4]), found[4]) if found else None

    def rows_of(self, shard: int, position: int, *, folded: bool = False) -> list[tuple[int, str]]:
        """(row, paper id) of the papers that the build lists with this vector, by paper id.

        Args:
            shard: number of the shard.
            position: row in it.
            folded: whether papers that are folded into others count too.
        """
        query = f"""
            SELECT papers.row, paper_id FROM embeddings JOIN papers USING (text_hash)
            LEFT JOIN related ON related.row = papers.row
            WHERE shard = ? AND position = ? AND {RECOMMENDABLE}
              AND (related.text_hash = papers.text_hash OR ? AND papers.row IN (SELECT row FROM works))
            ORDER BY paper_id"""
        return self._connection.execute(query, (shard, position, folded)).fetchall()

    def check_reachable(self, build: Build) -> None:
        """Check that every list's paper can be found from its vector, as a search must; reads all of their keys.

        Raises:
            IndexDamaged: one cannot: the way from vectors to papers is damaged.
        """
        listed = f"FROM related JOIN papers USING (row) WHERE {RECOMMENDABLE}"
        reachable = f"""
            FROM embeddings JOIN shards USING (shard) JOIN papers USING (text_hash) JOIN related USING (row)
            WHERE embeddings.fingerprint = ? AND related.text_hash = papers.text_hash AND {RECOMMENDABLE}"""
        left_out = f"SELECT row FROM related LEFT JOIN papers USING (row) WHERE ({RECOMMENDABLE}) IS NOT TRUE"
        self._check_left_out(row for (row,) in self._connection.execute(left_out))
        (wanted,) = self._connection.execute(f"SELECT count(*) {listed}").fetchone()
        (found,) = self._connection.execute(f"SELECT count(*) {reachable}", (build.fingerprint,)).fetchone()
        if self.list_count() != build.papers or found + len(self.changed(build.fingerprint)) != wanted:
            raise IndexDamaged("some papers cannot be found from their vectors", _REPAIR)

    def changed(self, digest: str) -> list[Embedded]:
        """Papers that the build lists with the vector of a text that they had then, and have no more."""
        return self._listed(digest, "related.text_hash <> papers.text_hash")

    def searchable(self, digest: str, rows: Sequence[int]) -> list[Embedded]:
        """Those of some papers that are listed with a vector that is in the build's search file, by paper id."""
        hits = json.dumps(rows)
        query = """
            SELECT row FROM cards WHERE row IN (SELECT value FROM json_each(?))
            AND row NOT IN (SELECT row FROM related) AND row NOT IN (SELECT row FROM works)"""
        for (row,) in self._connection.execute(query, (hits,)):
            raise _lost_list(row)
        return self._listed(digest, "searchable = 1 AND related.row IN (SELECT value FROM json_each(?))", hits)

    def unsearchable_rows(self) -> set[int]:
        """Rows of the lists whose vector is not in the build's search file."""
        return {row for (row,) in self._connection.execute("SELECT row FROM related WHERE searchable = 0")}

    def unsearchable(self, digest: str) -> list[Embedded]:
        """Papers that are listed with a vector that is not in the build's search file, by paper id."""
        return self._listed(digest, "searchable = 0")

    def _listed(self, digest: str, where: str, *values: object) -> list[Embedded]:
        query = f"""
            SELECT related.row, paper_id, related.text_hash, shard, position, {RECOMMENDABLE} FROM related
            LEFT JOIN papers USING (row) LEFT JOIN embeddings ON embeddings.text_hash = related.text_hash
            AND fingerprint = ? WHERE {where} ORDER BY paper_id"""
        found, left_out = list[Embedded](), list[int]()
        for row, *place, recommendable in self._connection.execute(query, (digest, *values)):
            if recommendable:
                found.append(Embedded(row, *place))
            else:
                left_out.append(row)
        self._check_left_out(left_out)
        if any(one.shard is None for one in found):
            raise IndexDamaged("a listed paper has no vector", _REPAIR)
        return found

    def folded(self, digest: str) -> list[Embedded]:
        """Recommendable papers that are folded into others and have a vector, by paper id."""
        query = f"""
            SELECT row, paper_id, papers.text_hash, shard, position FROM works
            JOIN papers USING (row) JOIN embeddings USING (text_hash)
            WHERE fingerprint = ? AND {RECOMMENDABLE} ORDER BY paper_id"""
        return list(map(Embedded._make, self._connection.execute(query, (digest,))))

    def listed_text(self, row: int) -> bytes | None:
        """The hash of the text whose vector a paper's list was made of; None where it has no list."""
        found = self._connection.execute("SELECT text_hash FROM related WHERE row = ?", (row,)).fetchone()
        return found[0] if found else None

    def vector_count(self, digest: str) -> int:
        """How many distinct texts have a vector."""
        query = "SELECT count(*) FROM embeddings WHERE fingerprint = ?"
        return int(self._connection.execute(query, (digest,)).fetchone()[0])

    def replace_lists(self, lists: Iterable[StoredList]) -> None:
        """Put these in place of every stored list. Call inside a transaction."""
        self._connection.execute("DELETE FROM related")
        self.put_lists(lists)

    def put_lists(self, lists: Iterable[StoredList]) -> None:
        """Put these in place of the stored lists of the same rows. Call inside a transaction."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO related (row, neighbors, text_hash, searchable, checksum) VALUES (?, ?, ?, ?, ?)",
            ((*one, checksum_of_list(*one)) for one in lists),
        )

    def drop_lists(self, rows: Iterable[int]) -> None:
        """Forget the lists of these rows. Call inside a transaction."""
        self._connection.executemany("DELETE FROM related WHERE row = ?", ((row,) for row in rows))

    def list_ends(self) -> ListEnds:
        """Where every stored list ends, by row. Not checked: what is read of a damaged list may be wrong."""
        query = """
            SELECT row, text_hash, length(neighbors) / 8 AS entries,
                substr(neighbors, length(neighbors) / 2 - 3, 4) AS last, substr(neighbors, -4) AS score FROM related"""
        dtypes = {"row": "int64", "text_hash": "V16", "entries": "int64", "last": "V4", "score": "V4"}
        rows, text_hashes, lengths, last, scores = columns(self._connection, query, (), **dtypes)
        order = rows.argsort()
        ends = (rows, text_hashes, lengths, last.view("<u4"), scores.view("<f4"))
        return ListEnds(*(column[order] for column in ends))

    def stored_lists(self, rows: Sequence[int] | None = None) -> Iterator[StoredList]:
        """The stored lists of some rows, or of all, by row, each checked against its checksum.

        Raises:
            IndexDamaged: one is not what was stored.
        """
        some = "" if rows is None else "WHERE row IN (SELECT value FROM json_each(?))"
        query = f"SELECT row, neighbors, text_hash, searchable, checksum FROM related {some} ORDER BY row"
        values = () if rows is None else (json.dumps(rows),)
        for row, neighbors, text_hash, searchable, stored in self._connection.execute(query, values):
            if checksum_of_list(row, neighbors, text_hash, searchable) != stored:
                raise _damaged_list(row)
            yield StoredList(row, neighbors, text_hash, bool(searchable))

    def mark_searchable(self) -> None:
        """Note that a new search file holds every listed vector. Call inside the transaction that publishes it."""
        all_of_them = "searchable = 1, checksum = checksum_of_list(row, neighbors, text_hash, 1)"
        self._connection.execute(f"UPDATE related SET {all_of_them}")

    def neighbors(self, row: int) -> Neighbors | None:
        """The stored list of a paper; None where the last build has none for it.

        Raises:
            IndexDamaged: it is not what was stored.
        """
        query = "SELECT neighbors, text_hash, searchable, checksum FROM related WHERE row = ?"
        found = self._connection.execute(query, (row,)).fetchone()
        if found is None:
            return None
        if checksum_of_list(row, *found[:-1]) != found[-1]:
            raise _damaged_list(row)
        return unpack_neighbors(found[0])

    def list_count(self) -> int:
        """How many lists are stored."""
        return int(self._connection.execute("SELECT count(*) FROM related").fetchone()[0])

    def listed(self) -> Iterator[tuple[int, str]]:
        """(row, paper id) of every paper that has a list, by paper id.

        Raises:
            IndexDamaged: in the end, where a list was left out without a reason.
        """
        query = f"SELECT row, paper_id FROM papers JOIN related USING (row) WHERE {RECOMMENDABLE} ORDER BY paper_id"
        found = set()
        for row, paper_id in self._connection.execute(query):
            found.add(row)
            yield row, paper_id
        left_out = [row for (row,) in self._connection.execute("SELECT row FROM related") if row not in found]
        self._check_left_out(left_out)
        if len(found) + len(list(self.stored_lists(left_out))) != self.list_count():
            raise IndexDamaged("some lists cannot be found by their rows", _REPAIR)

    def _check_left_out(self, rows: Iterable[int]) -> None:
        """Check that listed papers are left out because they are recommended no more: such have no card.

        Raises:
            IndexDamaged: one has a card.
        """
        for (row,) in matching(self._connection, "SELECT row FROM cards WHERE row", rows):
            raise _lost_list(row)

    def add_build(self, build: Build) -> None:
        """Make `build` the current one, under the next number. Call inside the transaction that replaces the lists."""
        fields = (
            build.created,
            build.fingerprint,
            build.kind,
            build.search_file,
            build.papers,
            build.k,
            build.revision,
            build.recall,
        )
        added = self._connection.execute(
            f"INSERT INTO builds ({_BUILD}, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*fields, checksum(fields))
        )
        self._connection.execute("DELETE FROM builds WHERE build < ?", (added.lastrowid,))

    def data_version(self) -> int:
        """A number that changes when another connection commits."""
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def build(self) -> Build | None:
        """The current build, or None before the first.

        Raises:
            IndexDamaged: it is not what was stored.
        """
        query = f"SELECT {_BUILD}, build, checksum FROM builds ORDER BY build DESC LIMIT 1"
        found = self._connection.execute(query).fetchone()
        if found is None:
            return None
        if checksum(found[:-2]) != found[-1]:
            raise IndexDamaged("the record of the build is damaged", _REPAIR)
        return Build(*found[:-1])


def _of_other_texts(shard: Shard) -> IndexDamaged:
    return IndexDamaged(f"the texts of shard {shard.sha256[:12]} are not those it was made of", _REPAIR)


def _damaged_list(row: int) -> IndexDamaged:
    return IndexDamaged(f"the related list at row {row} is damaged", _REPAIR)


def _lost_list(row: int) -> IndexDamaged:
    return IndexDamaged(f"the paper at row {row} and its list do not find each other", _REPAIR)
