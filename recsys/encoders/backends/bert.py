"""What the backends that compute a BERT without torch have in common."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from recsys.encoders.base import FP32, EncoderSettings
from recsys.encoders.batching import Tokens
from recsys.encoders.bert import Bert, BertTokenizer
from recsys.errors import EncoderUnavailable


class BertBackend:
    """A BERT on the CPU; see `Backend`."""

    precisions: ClassVar[tuple[str, ...]] = (FP32,)
    device = "cpu"
    budget = 2048

    @classmethod
    def fits(cls, folder: Path) -> bool:
        """See `Backend.fits`."""
        return Bert.find(folder) is not None

    def __init__(self, folder: Path, settings: EncoderSettings, precision: str) -> None:
        bert = Bert.find(folder)
        if bert is None:
            raise EncoderUnavailable(f"{folder} is not a plain BERT", "use --backend torch")
        if settings.device not in ("auto", "cpu"):
            raise EncoderUnavailable(f"this backend does not run on {settings.device!r}", "use --backend torch")
        if precision not in self.precisions:
            raise EncoderUnavailable(f"no precision {precision!r} here", f"use one of: {', '.join(self.precisions)}")
        self._bert = bert
        self.dim, self.modules, self.prompts = bert.dim, bert.stages, bert.prompts
        self.max_length = settings.max_length or bert.own_length or bert.positions
        if self.max_length > bert.positions:
            asked = f"{settings.encoder} reads at most {bert.positions} tokens, asked were {self.max_length}"
            raise EncoderUnavailable(asked)
        self.separator = bert.separator

    @cached_property
    def _tokenizer(self) -> BertTokenizer:
        return BertTokenizer(self._bert, self.max_length)

    def tokenize(self, texts: Sequence[str]) -> Tokens:
        """See `Backend.tokenize`."""
        return self._tokenizer.tokenize(texts)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """See `Backend.lengths`."""
        return self._tokenizer.lengths(texts)
