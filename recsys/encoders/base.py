"""The contract of an encoder: texts in, unit vectors out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from recsys.errors import IndexDamaged
from recsys.text.tex import RECIPE_VERSION
from recsys.vectors import DTYPE

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


FP32 = "fp32"
"""The precision that all others are measured against."""


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """What a user chooses.

    Attributes:
        encoder: an alias of the registry, a folder, or a hub id `org/name[@revision]`; empty for the index's own.
        device: `auto`, `cpu`, `cuda`, `cuda:N` or `mps`.
        backend: a name of `registry.BACKENDS`; `auto` takes the fastest that is installed and fits the model.
        precision: `fp32`, or what a backend can do beside it; `auto` is `fp32` until a faster one was found true to it.
        batch_tokens: tokens of a forward pass, padding among them; 0 takes what is fastest on the device.
        max_length: tokens kept of each text; 0 takes the encoder's own default (512 for MiniLM).
        allow_download: whether a hub id may be fetched; otherwise only the local cache is read.
    """

    encoder: str = ""
    device: str = "auto"
    backend: str = "auto"
    precision: str = "auto"
    batch_tokens: int = 0
    max_length: int = 0
    allow_download: bool = False


class EncoderOptions(TypedDict, total=False):
    """The fields of `EncoderSettings`, as keyword arguments."""

    encoder: str
    device: str
    backend: str
    precision: str
    batch_tokens: int
    max_length: int
    allow_download: bool


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Everything that decides the value of a vector; vectors of two fingerprints never meet.

    Attributes:
        encoder: the name it was asked for by; shown, not part of the digest (the same bytes under another name agree).
        weights: sha256 over the model's files (weights, tokenizer, configuration), hex.
        dim: vector length.
        max_length: tokens kept of each text.
        modules: the model's stages, e.g. `Transformer>Pooling>Normalize`.
        prompts: texts put before documents and queries, as JSON.
        separator: what stands between title and abstract.
        text_recipe: version of the embedding view (`recsys.text.tex.RECIPE_VERSION`).
        dtype: of the stored vectors.
        arithmetic: what they were computed in: `fp32`, in which all backends agree within 1e-5, or the backend and its
            precision, e.g. `openvino bf16`.
    """

    encoder: str
    weights: str
    dim: int
    max_length: int
    modules: str
    prompts: str
    separator: str
    text_recipe: int = RECIPE_VERSION
    dtype: str = DTYPE
    arithmetic: str = FP32

    @property
    def digest(self) -> str:
        """sha256 of the canonical JSON of all fields but `encoder` (and `arithmetic` where it is plain), hex."""
        fields = {name: value for name, value in asdict(self).items() if name != "encoder"}
        if self.arithmetic == FP32:
            del fields["arithmetic"]
        return sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()

    def to_json(self) -> str:
        """Canonical JSON, to store."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Fingerprint:
        """The inverse of `to_json`.

        Raises:
            IndexDamaged: the text is not a fingerprint of this version of recsys.
        """
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise IndexDamaged(
                "the vectors there were made by another version of recsys", "ingest into a new folder with --index"
            ) from error

    def differences(self, other: Fingerprint) -> dict[str, tuple[Any, Any]]:
        """The fields of the digest in which the two differ: name -> (mine, theirs)."""
        mine, theirs = asdict(self), asdict(other)
        return {k: (v, theirs[k]) for k, v in mine.items() if k != "encoder" and v != theirs[k]}


class Encoder(Protocol):
    """A loaded encoder. Constructing one (`__init__(settings)`) may be slow; encoding is deterministic per batch.

    Attributes:
        fingerprint: what its vectors depend on.
        device: where it runs, e.g. `cpu`, `cuda:0`.
    """

    fingerprint: Fingerprint
    device: str

    def __init__(self, settings: EncoderSettings) -> None:
        """Load the encoder.

        Raises:
            EncoderUnavailable: files absent, unsafe, or not what was pinned; device absent.
        """
        ...

    @classmethod
    def needs_torch(cls, settings: EncoderSettings) -> bool:
        """Whether only torch can compute it, which must not share a process with faiss; loads nothing heavy."""
        ...

    @classmethod
    def precisions(cls, settings: EncoderSettings) -> tuple[str, ...]:
        """What it may be able to compute in beside `fp32`, by the backend that the settings lead to."""
        ...

    def prepare(self, texts: Sequence[str]) -> Sequence[Any]:
        """What `encode_prepared` takes: work that can be done ahead, in another thread, while a model computes."""
        ...

    def encode_prepared(
        self, prepared: Sequence[Any], advance: Callable[[int], None] = lambda _: None
    ) -> npt.NDArray[np.float32]:
        """Vectors of documents that were prepared, as `encode` gives them; `advance` is told how many more are done."""
        ...

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vectors of documents.

        Returns:
            (len(texts), dim) float32, C order, rows of norm 1 (a row that could not be made is NaN), in the
            order of `texts`.
        """
        ...

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """How long each text is in the unit of `max_length`, before anything is cut."""
        ...

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """The (dim,) float32 unit vector of a query (with the model's query prompt where it has one)."""
        ...
