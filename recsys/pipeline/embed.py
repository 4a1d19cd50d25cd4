"""Embed: a vector for every text that has none yet, in immutable shards; stops and resumes at any shard."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from recsys.encoders.base import FP32, Encoder, EncoderOptions, EncoderSettings, Fingerprint
from recsys.encoders.choosing import SAMPLE, choose
from recsys.encoders.loading import load_encoder
from recsys.errors import FingerprintMismatch, IndexDamaged
from recsys.files import require_space
from recsys.paper import Paper
from recsys.pipeline.ahead import one_ahead
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
_WORTH_MEASURING = 10 * SAMPLE
"""Texts from which on a faster precision saves more time than it takes to measure it."""

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
        tried: what was measured of other precisions than fp32, where that was asked for.
    """

    encoded: int
    reused: int
    quarantined: tuple[str, ...]
    fingerprint: Fingerprint
    tried: tuple[str, ...] = ()

    def __str__(self) -> str:
        bad = f", no vector for {', '.join(self.quarantined[:5])}" if self.quarantined else ""
        more = " …" if len(self.quarantined) > 5 else ""
        other = f" in {self.fingerprint.arithmetic}" if self.fingerprint.arithmetic != FP32 else ""
        model = f"{self.fingerprint.encoder}{other}"
        made = f"encoded {self.encoded:,} texts with {model}, reused {self.reused:,}{bad}{more}"
        return "\n".join([made, *self.tried])


def embed(
    index: str | Path,
    *,
    replace_vectors: bool = False,
    wait: bool = False,
    progress: Progress | None = None,
    **options: Unpack[EncoderOptions],
) -> EmbedReport:
    """Encode the papers that have an abstract, are not withdrawn and have no vector of their present text.

    Args:
        index: the index folder.
        replace_vectors: make vectors anew where another encoder made those there are; those, and the lists made of
            them, stay until the next index is published.
        wait: whether to wait for another writer instead of refusing.
        progress: told how many texts were encoded.
        options: see `EncoderSettings`. What is not given is as the index has it; at first the encoder is `minilm`, and
            where there are many texts, precision `auto` is measured on some of them.

    Raises:
        IndexMissing: nothing was ingested there.
        FingerprintMismatch: the index has vectors of another encoder, length or text recipe.
        EncoderUnavailable: the encoder cannot be loaded.
        IndexBusy: another process is writing.
    """
    folder = Path(index)
    with writing(folder, wait=wait) as connection:
        built = Built(connection)
        settings = complete(EncoderSettings(**options), built.fingerprint())
        tried: tuple[str, ...] = ()
        if built.fingerprint() is None or replace_vectors:
            settings, tried = _with_precision(settings, Corpus(connection), progress or Silent())
        loaded = load_encoder(settings)
        _claim(connection, built, loaded.fingerprint, replace_vectors)
        _drop_damaged(connection, folder, loaded.fingerprint.digest)
        reused = built.vector_count(loaded.fingerprint.digest)
        encoded = _embed_pending(connection, folder, loaded, progress or Silent())
        quarantined = tuple(built.quarantined(loaded.fingerprint.digest))
    return EmbedReport(encoded, reused, quarantined, loaded.fingerprint, tried)


def complete(asked: EncoderSettings, stored: str | None) -> EncoderSettings:
    """Fill in what was not asked for from the index's stored fingerprint, else from the default encoder."""
    if stored is None:
        return replace(asked, encoder=asked.encoder or DEFAULT_ENCODER)
    made_by = Fingerprint.from_json(stored)
    if asked.encoder not in ("", made_by.encoder):
        return asked
    own_backend, _, own_precision = made_by.arithmetic.rpartition(" ")
    return replace(
        asked,
        encoder=made_by.encoder,
        backend=own_backend if own_backend and asked.backend == "auto" else asked.backend,
        precision=own_precision if asked.precision == "auto" else asked.precision,
        max_length=asked.max_length or made_by.max_length,
    )


def _with_precision(
    settings: EncoderSettings, corpus: Corpus, progress: Progress
) -> tuple[EncoderSettings, tuple[str, ...]]:
    """Measure which precision to take, if that is open and saves more time than it costs; and what was found."""
    rows = corpus.recommendable_rows() if settings.precision == "auto" else []
    if len(rows) < _WORTH_MEASURING:
        return settings, ()
    papers = corpus.papers_in_order(rows[:: len(rows) // SAMPLE][:SAMPLE])
    texts = [embedding_text(paper.title, paper.abstract) for paper in papers]
    progress.start("comparing precisions", None)
    settings, tried = choose(settings, texts)
    return settings, tuple(map(str, tried))


def _embed_pending(connection: sqlite3.Connection, folder: Path, encoder: Encoder, progress: Progress) -> int:
    built = Built(connection)
    pending = built.pending(encoder.fingerprint.digest)
    require_space(folder, len(pending) * (2 * encoder.fingerprint.dim + _ROW_OVERHEAD), "the vectors")
    progress.start("encoding", len(pending))
    parts = (pending[start : start + SHARD_ROWS] for start in range(0, len(pending), SHARD_ROWS))
    papers = map(Corpus(connection).papers_in_order, parts)
    encoded = 0
    for hashes, prepared in one_ahead(partial(_prepare, encoder), papers):
        embeddings = encoder.encode_prepared(prepared, progress.advance)
        encoded += _publish(connection, folder, encoder.fingerprint, hashes, embeddings)
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


def _prepare(encoder: Encoder, papers: list[Paper]) -> tuple[list[bytes], Sequence[Any]]:
    """The text hashes of some papers, and their texts as the encoder takes them."""
    separator = encoder.fingerprint.separator
    texts = [embedding_text(paper.title, paper.abstract, separator) for paper in papers]
    return [paper.text_hash for paper in papers], encoder.prepare(texts)


def _publish(
    connection: sqlite3.Connection,
    folder: Path,
    fingerprint: Fingerprint,
    hashes: list[bytes],
    embeddings: npt.NDArray[np.float32],
) -> int:
    """Write a shard, then reference it in one transaction; returns how many of its vectors are good."""
    good = finite_unit_rows(embeddings)
    kept = [text_hash for text_hash, ok in zip(hashes, good.tolist(), strict=True) if ok]
    sha256 = write_shard(folder / "vectors", embeddings[good]) if kept else ""
    with transaction(connection):
        built = Built(connection)
        if kept:
            built.add_shard(fingerprint.digest, sha256, fingerprint.dim, kept)
        bad = (text_hash for text_hash, ok in zip(hashes, good.tolist(), strict=True) if not ok)
        built.add_quarantine(fingerprint.digest, bad)
    return len(kept)
