"""Any sentence-transformers model: a folder, or a hub id from the local cache, computed by one of the backends."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recsys import registry
from recsys.encoders.backends.base import Backend
from recsys.encoders.base import FP32, EncoderSettings, Fingerprint
from recsys.encoders.batching import Tokens, encode_tokens
from recsys.encoders.devices import choose_device
from recsys.encoders.trust import check_folder, digest
from recsys.errors import EncoderUnavailable, NetworkError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_CHARACTERS = 6_000
"""Text beyond this is cut before tokenising: 512 word pieces are about 2,500 characters, and a 10 MB text would cost
the tokenizer 20 seconds."""


class SentenceTransformerEncoder:
    """A sentence-transformers model, loaded from safetensors, never with remote code.

    Args:
        settings: `encoder` is a folder, or a hub id `org/name[@revision]`.
    """

    def __init__(self, settings: EncoderSettings) -> None:
        folder = self._find(settings)
        check_folder(folder)
        name, precision = _backend(folder, settings), FP32 if settings.precision == "auto" else settings.precision
        backend: Backend = registry.load(registry.BACKENDS, name)(folder, settings, precision)
        self._backend = backend
        self._budget = settings.batch_tokens or backend.budget
        self.device = backend.device
        arithmetic = FP32 if precision == FP32 else f"{name} {precision}"
        self.fingerprint = _fingerprint(backend, settings.encoder, folder, arithmetic)

    @classmethod
    def needs_torch(cls, settings: EncoderSettings) -> bool:
        """See `Encoder.needs_torch`: whether no other backend can compute the model."""
        return fitting_backends(cls._find(settings), "cpu") == ["torch"]

    @classmethod
    def precisions(cls, settings: EncoderSettings) -> tuple[str, ...]:
        """See `Encoder.precisions`."""
        backend: type[Backend] = registry.load(registry.BACKENDS, _backend(cls._find(settings), settings))
        return tuple(precision for precision in backend.precisions if precision != FP32)

    @classmethod
    def _find(cls, settings: EncoderSettings) -> Path:
        return find_folder(settings)

    def prepare(self, texts: Sequence[str]) -> Tokens:
        """See `Encoder.prepare`: token ids."""
        return self._tokenize(texts, "document")

    def encode_prepared(
        self, prepared: Tokens, advance: Callable[[int], None] = lambda _: None
    ) -> npt.NDArray[np.float32]:
        """See `Encoder.encode_prepared`."""
        return encode_tokens(prepared, self._backend.forward, self._backend.dim, self._budget, advance)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """See `Encoder.encode`."""
        return self.encode_prepared(self.prepare(texts))

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """See `Encoder.lengths`: tokens, with those that begin and end a text."""
        return self._backend.lengths([text[:MAX_CHARACTERS] for text in texts])

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """See `Encoder.encode_query`."""
        vector: npt.NDArray[np.float32] = self.encode_prepared(self._tokenize([text], "query"))[0]
        return vector

    def _tokenize(self, texts: Sequence[str], role: str) -> Tokens:
        prompt = self._backend.prompts.get(role, "")
        return self._backend.tokenize([prompt + text[:MAX_CHARACTERS] for text in texts]) if texts else []


def fitting_backends(folder: Path, device: str) -> list[str]:
    """Names of the backends that can compute the model of a folder there, fastest first."""
    fitting = [name for name in registry.BACKENDS if registry.load(registry.BACKENDS, name).fits(folder)]
    return fitting if device == "cpu" else [name for name in fitting if name == "torch"]


def _backend(folder: Path, settings: EncoderSettings) -> str:
    if settings.backend == "auto":
        return fitting_backends(folder, choose_device(settings.device))[0]
    if settings.backend not in registry.BACKENDS:
        known = ", ".join(registry.BACKENDS)
        raise EncoderUnavailable(f"no backend {settings.backend!r}", f"use --backend with one of: auto, {known}")
    return settings.backend


def _fingerprint(backend: Backend, name: str, folder: Path, arithmetic: str) -> Fingerprint:
    scientific = any(word in f"{name} {folder.name}".lower() for word in ("specter", "scincl"))
    return Fingerprint(
        encoder=str(folder.resolve()) if Path(name).expanduser().is_dir() else name,
        weights=digest(folder),
        dim=backend.dim,
        max_length=backend.max_length,
        modules=">".join(backend.modules),
        prompts=json.dumps(backend.prompts, sort_keys=True),
        separator=(backend.separator if scientific else "") or ". ",
        arithmetic=arithmetic,
    )


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
