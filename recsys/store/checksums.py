"""Checksums of rows: SQLite has none of its own, so a bit that rots in its file would be believed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from zlib import crc32


def checksum(fields: Sequence[object]) -> int:
    """CRC-32 of the fields' text; any single flipped bit, and any burst of up to 32, changes it."""
    return crc32("\0".join(map(str, fields)).encode("utf-8", "surrogatepass"))


def checksum_of_list(row: int, neighbors: bytes, text_hash: bytes, searchable: int) -> int:
    """CRC-32 of a stored related list."""
    return crc32(neighbors, crc32(text_hash, crc32(b"%d %d" % (row, searchable))))


def checksum_of_card(row: int, paper_id: str, before: bytes, after: bytes, text_hash: bytes) -> int:
    """CRC-32 of a stored card."""
    return crc32(text_hash, crc32(after, crc32(before, crc32(b"%d %b " % (row, paper_id.encode())))))


def digest_of_texts(text_hashes: Iterable[bytes]) -> bytes:
    """16 bytes (BLAKE2b) of text hashes in the order of their vectors: ties a shard's rows to their texts."""
    return blake2b(b"".join(text_hashes), digest_size=16).digest()
