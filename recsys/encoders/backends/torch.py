"""Any sentence-transformers model in torch: the reference, and the way onto a GPU."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from recsys.encoders.base import FP32, EncoderSettings
from recsys.encoders.batching import Batch, Tokens
from recsys.encoders.devices import choose_device
from recsys.errors import EncoderUnavailable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from sentence_transformers import SentenceTransformer

_CPU_BUDGET, _GPU_BUDGET = 2048, 1 << 16
_BF16_INSTRUCTIONS = {"avx512_bf16", "amx_bf16"}


class TorchBackend:
    """A sentence-transformers model, loaded from safetensors, never with remote code; see `Backend`."""

    precisions: ClassVar[tuple[str, ...]] = (FP32, "bf16", "fp16")

    @classmethod
    def fits(cls, folder: Path) -> bool:
        """See `Backend.fits`: everything."""
        return True

    def __init__(self, folder: Path, settings: EncoderSettings, precision: str) -> None:
        import torch

        self.device = choose_device(settings.device)
        _check_precision(precision, self.device)
        self._model = _load(folder, self.device)
        if precision != FP32:
            self._model = self._model.to(torch.bfloat16 if precision == "bf16" else torch.float16)
        self._model.max_seq_length = self.max_length = _max_length(self._model, settings)
        self.dim = int(self._model.get_embedding_dimension() or 0)
        self.modules = tuple(type(module).__name__ for module in self._model)
        self.prompts = {name: str(prompt) for name, prompt in self._model.prompts.items()}
        self.separator = getattr(self._model.tokenizer, "sep_token", "") or ""
        self.budget = _CPU_BUDGET if self.device == "cpu" else _GPU_BUDGET

    def tokenize(self, texts: Sequence[str]) -> Tokens:
        """See `Backend.tokenize`."""
        return self._ids(texts, truncation=True, max_length=self.max_length)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """See `Backend.lengths`."""
        return list(map(len, self._ids(texts, truncation=False)))

    def _ids(self, texts: Sequence[str], **options: Any) -> Tokens:  # noqa: ANN401 - the tokenizer's own
        tokens: Tokens = self._model.tokenizer(list(texts), padding=False, verbose=False, **options)["input_ids"]
        return tokens

    def forward(self, batch: Batch) -> npt.NDArray[np.float32]:
        """See `Backend.forward`."""
        import torch

        features = {
            "input_ids": torch.from_numpy(batch.ids).to(self.device),
            "attention_mask": torch.from_numpy(batch.mask).to(self.device),
        }
        with torch.inference_mode():
            vectors: npt.NDArray[np.float32] = self._model(features)["sentence_embedding"].float().cpu().numpy()
        return vectors


def _check_precision(precision: str, device: str) -> None:
    """Refuse what a CPU has no instructions for: it would be a hundred times slower, not faster."""
    import torch

    able = [name for name, has in torch.cpu.get_capabilities().items() if has and name in _BF16_INSTRUCTIONS]
    if device == "cpu" and precision != FP32 and not (precision == "bf16" and able):
        raise EncoderUnavailable(f"this CPU does not compute {precision}", "use --precision fp32")


def _load(folder: Path, device: str) -> SentenceTransformer:
    """Load quietly and offline."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    from safetensors import SafetensorError
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return SentenceTransformer(
                str(folder),
                device=device,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            raise EncoderUnavailable(f"cannot load {folder}: {str(error).splitlines()[0]}") from error


def _max_length(model: SentenceTransformer, settings: EncoderSettings) -> int:
    """The length asked for, or the model's own; never more than its positions."""
    configuration = getattr(getattr(model[0], "auto_model", None), "config", None)
    positions = getattr(configuration, "max_position_embeddings", 0)
    length = settings.max_length or model.max_seq_length or positions
    if positions and length > positions:
        raise EncoderUnavailable(f"{settings.encoder} reads at most {positions} tokens, asked were {length}")
    return int(length)
