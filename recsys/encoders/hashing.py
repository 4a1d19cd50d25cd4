"""Hashed words: an encoder that needs no model, for trials, tests and as a lexical baseline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING
from zlib import crc32

from recsys.encoders.base import EncoderSettings, Fingerprint

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_DIM = 512
_WORD = re.compile(r"[^\W_]{3,}")
_MAX_LENGTH = 512


class HashingEncoder:
    """Words and pairs of words, hashed to 512 signed buckets (Weinberger et al. 2009), counts damped by a square root.

    The hash is CRC-32, so vectors are the same in every process and on every machine. `max_length` counts words.
    """

    def __init__(self, settings: EncoderSettings) -> None:
        self.device = "cpu"
        self._max_length = settings.max_length or _MAX_LENGTH
        self.fingerprint = Fingerprint("hashing", "crc32", _DIM, self._max_length, "words>pairs>sqrt", "{}", ". ")

    @classmethod
    def needs_torch(cls, settings: EncoderSettings) -> bool:
        """See `Encoder.needs_torch`."""
        return False

    @classmethod
    def precisions(cls, settings: EncoderSettings) -> tuple[str, ...]:
        """See `Encoder.precisions`."""
        return ()

    def prepare(self, texts: Sequence[str]) -> list[Counter[str]]:
        """See `Encoder.prepare`: how often each word and pair of words is in each text."""
        return list(map(self._terms, texts))

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """See `Encoder.encode`; a text without words gives a row of NaN."""
        return self.encode_prepared(self.prepare(texts))

    def encode_prepared(
        self, prepared: Sequence[Counter[str]], advance: Callable[[int], None] = lambda _: None
    ) -> npt.NDArray[np.float32]:
        """See `Encoder.encode_prepared`."""
        import numpy as np

        vectors = np.zeros((len(prepared), _DIM), dtype=np.float64)
        for vector, terms in zip(vectors, prepared, strict=True):
            advance(1)
            for term, count in terms.items():
                hashed = crc32(term.encode())
                vector[hashed % _DIM] += count**0.5 if hashed & 0x80000000 else -(count**0.5)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        norms[norms == 0] = np.nan
        unit: npt.NDArray[np.float32] = (vectors / norms).astype(np.float32)
        return unit

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """See `Encoder.lengths`: words."""
        return [len(_WORD.findall(text)) for text in texts]

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """See `Encoder.encode_query`."""
        vector: npt.NDArray[np.float32] = self.encode([text])[0]
        return vector

    def _terms(self, text: str) -> Counter[str]:
        words = _WORD.findall(text.lower())[: self._max_length]
        return Counter([*words, *(f"{first} {second}" for first, second in pairwise(words))])
