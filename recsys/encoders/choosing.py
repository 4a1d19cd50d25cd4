"""Which precision: the fastest that is true to fp32 on the user's own texts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from recsys.encoders.base import FP32, Encoder, EncoderSettings
from recsys.encoders.loading import encoder_class, load_encoder
from recsys.errors import EncoderUnavailable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SAMPLE = 512
"""Texts that are compared."""

TRUE = 0.99
"""Share of the 20 nearest of each text that must be the same."""

_NEAREST = 20
_FASTER = 1.1
"""Times that another precision must be as fast as fp32 to be worth leaving it."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was measured of a precision.

    Attributes:
        arithmetic: backend and precision, as in the fingerprint.
        speedup: times as fast as fp32 on the same backend.
        overlap: share of the 20 nearest of each text, among the sample, that are those of fp32.
    """

    arithmetic: str
    speedup: float
    overlap: float

    @property
    def is_good(self) -> bool:
        """Whether to take it."""
        return self.overlap >= TRUE and self.speedup >= _FASTER

    def __str__(self) -> str:
        return f"{self.arithmetic}: {self.speedup:.2f} x as fast as fp32, {self.overlap:.1%} of the 20 nearest the same"


def choose(settings: EncoderSettings, texts: Sequence[str]) -> tuple[EncoderSettings, list[Choice]]:
    """Try every precision of the backend on some texts; returns the settings to use, and what was measured.

    Args:
        settings: with precision `auto`.
        texts: a sample of those that will be encoded.

    Raises:
        EncoderUnavailable: the encoder cannot be loaded.
    """
    plain = load_encoder(replace(settings, precision=FP32))
    reference, needed = _timed(plain, texts)
    tried: dict[str, Choice] = {}
    for precision in encoder_class(settings.encoder).precisions(settings):
        try:
            other = load_encoder(replace(settings, precision=precision))
        except EncoderUnavailable:
            continue
        vectors, seconds = _timed(other, texts)
        tried[precision] = Choice(other.fingerprint.arithmetic, needed / seconds, overlap(reference, vectors))
    good = [precision for precision, choice in tried.items() if choice.is_good]
    best = max(good, key=lambda precision: tried[precision].speedup, default=FP32)
    return replace(settings, precision=best), list(tried.values())


def overlap(reference: npt.NDArray[np.float32], vectors: npt.NDArray[np.float32], k: int = _NEAREST) -> float:
    """The share of each row's k nearest other rows in `reference` that are among its k nearest in `vectors`.

    Args:
        reference: (n, dim) float32 unit rows.
        vectors: (n, dim') float32 unit rows of the same things.
        k: at least 1; lowered to n - 1.
    """
    one, other = _nearest(reference, k), _nearest(vectors, k)
    same = (one[:, :, None] == other[:, None, :]).any(axis=2)
    return float(same.mean()) if same.size else 1.0


def _nearest(vectors: npt.NDArray[np.float32], k: int) -> npt.NDArray[np.int64]:
    import numpy as np

    scores = vectors @ vectors.T
    np.fill_diagonal(scores, -np.inf)
    return np.argsort(-scores, axis=1, kind="stable")[:, : min(k, len(vectors) - 1)]


def _timed(encoder: Encoder, texts: Sequence[str]) -> tuple[npt.NDArray[np.float32], float]:
    """Vectors and seconds; what is prepared at the first use of a shape is not counted."""
    prepared = encoder.prepare(texts)
    encoder.encode_prepared(prepared[:: max(1, len(prepared) // 32)])
    start = time.perf_counter()
    vectors = encoder.encode_prepared(prepared)
    return vectors, time.perf_counter() - start
