"""Embed: a vector for every text that has none yet, in immutable shards; stops and resumes at any shard."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from recsys.encoders.base import Encoder, EncoderSettings, Fingerprint
from recsys.encoders.loading import load_encoder
from recsys.errors import FingerprintMismatch, IndexDamaged
from recsys.files import require_space
from recsys.pipeline.compact import SHARD_ROWS, compact
from recsys.pipeline.progress import Progress, Silent
from recsys.store.built import Built
from recsys.store.connection import transaction, writing
from recsys.store.corpus import Corpus
from recsys.text.tex import embedding_text
from recsys.vectors import check_file, finite_unit_rows, sweep, write_shard

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_log = logging.getLogger(__name__)

DEFAULT_ENCODER = "minilm"
_ROW_OVERHEAD = 200
"""Bytes of a vector's row in the database and its index."""


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """What was embedded.

    Attributes:
        encoded: texts that got a vector now.
        reused: texts that had one already.
        quarantined: ids of all papers whose text gives no finite vector; they have no lists.
        fingerprint: what the vectors are made by.
    """

    encoded: int
    reused: int
    quarantined: tuple[str, ...]
    fingerprint: Fingerprint

    def __str__(self) -> str:
        bad = f", no vector for {', '.join(self.quarantined[:5])}" if self.quarantined else ""
        more = " …" if len(self.quarantined) > 5 else ""
        return f"encoded {self.encoded:,} texts with {self.fingerprint.encoder}, reused {self.reused:,}{bad}{more}"


def embed(
    index: str | Path,
    *,
    encoder: str | None = None,
    device: str = "auto",
    batch_size: int = 32,
    max_length: int = 0,
    allow_download: bool = False,
    replace_vectors: bool = False,
    wait: bool = False,
    progress: Progress | None = None,
) -> EmbedReport:
    """Encode the papers that have an abstract, are not withdrawn and have no vector of their present text.

    Args:
        index: the index folder.
        encoder: alias, folder or hub id; None keeps the index's own (`minilm` at first).
        device: `auto`, `cpu`, `cuda`, `cuda:N` or `mps`.
        batch_size: texts per forward pass.
        max_length: tokens kept of each text; 0 keeps the index's own, or takes the encoder's default.
        allow_download: whether a hub id may be fetched.
        replace_vectors: make vectors anew where another encoder made those there are; those, and the lists made of
            them, stay until the next index is published.
        wait: whether to wait for another writer instead of refusing.
        progress: told how many texts were encoded.

    Raises:
        IndexMissing: nothing was ingested there.
        FingerprintMismatch: the index has vectors of another encoder, length or text recipe.
        EncoderUnavailable: the encoder cannot be loaded.
        IndexBusy: another process is writing.
    """
    folder = Path(index)
    asked = EncoderSettings(encoder or "", device, batch_size, max_length, allow_download)
    with writing(folder, wait=wait) as connection:
        built = Built(connection)
        loaded = load_encoder(complete(asked, built.fingerprint()))
        _claim(connection, built, loaded.fingerprint, replace_vectors)
        _drop_damaged(connection, folder, loaded.fingerprint.digest)
        reused = built.vector_count(loaded.fingerprint.digest)
        encoded = _embed_pending(connection, folder, loaded, progress or Silent())
        quarantined = tuple(built.quarantined(loaded.fingerprint.digest))
    return EmbedReport(encoded, reused, quarantined, loaded.fingerprint)


def complete(asked: EncoderSettings, stored: str | None) -> EncoderSettings:
    """Fill in what was not asked for (an empty encoder) from the index's stored fingerprint, else the default."""
    if asked.encoder:
        return asked
    if stored is None:
        return replace(asked, encoder=DEFAULT_ENCODER)
    made_by = Fingerprint.from_json(stored)
    return replace(asked, encoder=made_by.encoder, max_length=asked.max_length or made_by.max_length)


def _embed_pending(connection: sqlite3.Connection, folder: Path, encoder: Encoder, progress: Progress) -> int:
    built = Built(connection)
    pending = built.pending(encoder.fingerprint.digest)
    require_space(folder, len(pending) * (2 * encoder.fingerprint.dim + _ROW_OVERHEAD), "the vectors")
    progress.start("encoding", len(pending))
    encoded = 0
    for start in range(0, len(pending), SHARD_ROWS):
        encoded += _embed_rows(connection, folder, encoder, pending[start : start + SHARD_ROWS], progress)
    compact(connection, folder, encoder.fingerprint.digest)
    sweep(folder / "vectors", built.shard_files())
    return encoded


def _claim(connection: sqlite3.Connection, built: Built, fingerprint: Fingerprint, replacing: bool) -> None:
    """Declare the index's fingerprint, or refuse where its vectors have another."""
    stored = built.fingerprint()
    known = Fingerprint.from_json(stored) if stored else fingerprint
    with transaction(connection):
        if known.digest != fingerprint.digest and not replacing:
            raise mismatch(known, fingerprint)
        built.set_fingerprint(fingerprint.to_json())


def _drop_damaged(connection: sqlite3.Connection, folder: Path, digest: str) -> None:
    """Forget shards that are absent or not what was written, so that their texts are encoded again."""
    built = Built(connection)
    for shard in built.shards(digest):
        try:
            built.check_shard(shard)
            check_file(folder / "vectors", shard.sha256)
        except IndexDamaged as error:
            with transaction(connection):
                dropped = built.forget_shard(shard)
            _log.warning("%s: encoding its %d texts again", error.message, dropped)


def mismatch(known: Fingerprint, other: Fingerprint) -> FingerprintMismatch:
    """The error that names both fingerprints and how they differ."""
    pairs = known.differences(other).items()
    differ = ", ".join(f"{name} {str(mine)[:12]} / {str(theirs)[:12]}" for name, (mine, theirs) in pairs)
    return FingerprintMismatch(
        f"this index has vectors of {known.encoder}, asked was {other.encoder} ({differ})",
        f"use another --index, or `recsys update --encoder {other.encoder} --replace-vectors` to encode all again",
    )


def _embed_rows(
    connection: sqlite3.Connection, folder: Path, encoder: Encoder, rows: Sequence[int], progress: Progress
) -> int:
    """Encode these rows' texts, write the shard, then reference it in one transaction."""
    papers = [paper for paper in map(Corpus(connection).paper_at, rows) if paper]
    hashes = [paper.text_hash for paper in papers]
    separator = encoder.fingerprint.separator
    texts = [embedding_text(paper.title, paper.abstract, separator) for paper in papers]
    embeddings = _encode(encoder, texts, progress)
    good = finite_unit_rows(embeddings)
    kept = [text_hash for text_hash, ok in zip(hashes, good.tolist(), strict=True) if ok]
    digest = encoder.fingerprint.digest
    sha256 = write_shard(folder / "vectors", embeddings[good]) if kept else ""
    with transaction(connection):
        built = Built(connection)
        if kept:
            built.add_shard(digest, sha256, encoder.fingerprint.dim, kept)
        built.add_quarantine(digest, (text_hash for text_hash, ok in zip(hashes, good.tolist(), strict=True) if not ok))
    return len(kept)


def _encode(encoder: Encoder, texts: Sequence[str], progress: Progress) -> npt.NDArray[np.float32]:
    """Encode in slices short enough for progress to be seen."""
    import numpy as np

    slices = []
    for start in range(0, len(texts), 128):
        some = texts[start : start + 128]
        slices.append(encoder.encode(some))
        progress.advance(len(some))
    return np.concatenate(slices)
