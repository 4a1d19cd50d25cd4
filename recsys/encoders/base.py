"""The contract of an encoder: texts in, unit vectors out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from recsys.errors import IndexDamaged
from recsys.text.tex import RECIPE_VERSION
from recsys.vectors import DTYPE

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """What a user chooses.

    Attributes:
        encoder: an alias of the registry, a folder, or a hub id `org/name[@revision]`.
        device: `auto`, `cpu`, `cuda`, `cuda:N` or `mps`.
        batch_size: texts per forward pass.
        max_length: tokens kept of each text; 0 takes the encoder's own default (512 for MiniLM).
        allow_download: whether a hub id may be fetched; otherwise only the local cache is read.
    """

    encoder: str = "minilm"
    device: str = "auto"
    batch_size: int = 32
    max_length: int = 0
    allow_download: bool = False


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

    @property
    def digest(self) -> str:
        """sha256 of the canonical JSON of all fields but `encoder`, hex."""
        fields = {name: value for name, value in asdict(self).items() if name != "encoder"}
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
        needs_process: whether it loads torch, so that it must not share a process with faiss.
        fingerprint: what its vectors depend on.
        device: where it runs, e.g. `cpu`, `cuda:0`.
    """

    needs_process: ClassVar[bool]
    fingerprint: Fingerprint
    device: str

    def __init__(self, settings: EncoderSettings) -> None:
        """Load the encoder.

        Raises:
            EncoderUnavailable: files absent, unsafe, or not what was pinned; device absent.
        """
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
