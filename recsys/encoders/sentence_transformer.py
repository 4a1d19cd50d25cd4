"""Any sentence-transformers model: a folder, or a hub id from the local cache."""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from recsys.encoders.base import EncoderSettings, Fingerprint
from recsys.encoders.devices import choose_device
from recsys.encoders.trust import check_folder, digest
from recsys.errors import EncoderUnavailable, NetworkError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from sentence_transformers import SentenceTransformer

MAX_CHARACTERS = 6_000
"""Text beyond this is cut before tokenising: 512 word pieces are about 2,500 characters, and a 10 MB text would cost
the tokenizer 20 seconds."""


class SentenceTransformerEncoder:
    """A sentence-transformers model, loaded from safetensors, never with remote code.

    Args:
        settings: `encoder` is a folder, or a hub id `org/name[@revision]`.
    """

    needs_process: ClassVar[bool] = True

    def __init__(self, settings: EncoderSettings) -> None:
        folder = find_folder(settings)
        check_folder(folder)
        self.device = choose_device(settings.device)
        self._batch_size = settings.batch_size
        self._model = _load(folder, self.device)
        self._model.max_seq_length = _max_length(self._model, settings)
        self.fingerprint = _fingerprint(self._model, settings.encoder, folder)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """See `Encoder.encode`."""
        return self._unit(self._model.encode_document, texts)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """See `Encoder.lengths`: tokens, with those that begin and end a text."""
        capped = [text[:MAX_CHARACTERS] for text in texts]
        return list(map(len, self._model.tokenizer(capped, truncation=False, verbose=False)["input_ids"]))

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """See `Encoder.encode_query`."""
        vector: npt.NDArray[np.float32] = self._unit(self._model.encode_query, [text])[0]
        return vector

    def _unit(self, encode: Any, texts: Sequence[str]) -> npt.NDArray[np.float32]:  # noqa: ANN401 - a bound method
        import numpy as np

        if not texts:
            return np.empty((0, self.fingerprint.dim), dtype=np.float32)
        capped = [text[:MAX_CHARACTERS] for text in texts]
        raw = encode(capped, batch_size=self._batch_size, show_progress_bar=False).astype(np.float64)
        norms = np.linalg.norm(raw, axis=1, keepdims=True)
        norms[norms == 0] = np.nan
        vectors: npt.NDArray[np.float32] = np.ascontiguousarray(raw / norms, dtype=np.float32)
        return vectors


def find_folder(settings: EncoderSettings) -> Path:
    """The folder of a model: the path itself, or the hub's cache, filled first where downloading is allowed.

    Raises:
        EncoderUnavailable: neither a folder nor in the cache.
        NetworkError: the download failed.
    """
    folder = Path(settings.encoder).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    name, _, revision = settings.encoder.partition("@")
    offline = not settings.allow_download
    try:
        return Path(snapshot_download(name, revision=revision or None, local_files_only=offline))
    except HFValidationError as error:
        raise EncoderUnavailable(f"no encoder {settings.encoder!r}: no alias, folder or hub id") from error
    except LocalEntryNotFoundError as error:
        if settings.allow_download:
            raise NetworkError(f"cannot fetch {settings.encoder!r}: {error}") from error
        hint = "pass --allow-download to fetch it, or give a folder"
        raise EncoderUnavailable(
            f"{settings.encoder!r} is neither a folder nor in the local hub cache", hint
        ) from error
    except OSError as error:
        raise NetworkError(f"cannot fetch {settings.encoder!r}: {error}") from error


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


def _fingerprint(model: SentenceTransformer, name: str, folder: Path) -> Fingerprint:
    scientific = any(word in f"{name} {folder.name}".lower() for word in ("specter", "scincl"))
    separator = getattr(model.tokenizer, "sep_token", "") if scientific else ""
    return Fingerprint(
        encoder=str(folder.resolve()) if Path(name).expanduser().is_dir() else name,
        weights=digest(folder),
        dim=int(model.get_embedding_dimension() or 0),
        max_length=int(model.max_seq_length or 0),
        modules=">".join(type(module).__name__ for module in model),
        prompts=json.dumps(model.prompts, sort_keys=True),
        separator=separator or ". ",
    )
