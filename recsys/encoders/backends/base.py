"""The contract of a backend: texts in, vectors of any norm out, by one runtime at one precision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from recsys.encoders.base import EncoderSettings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from recsys.encoders.batching import Batch, Tokens


class Backend(Protocol):
    """A model, loaded.

    Attributes:
        precisions: that it can compute in, `fp32` first.
        device: where it runs.
        dim: vector length.
        max_length: tokens kept of each text.
        modules: the model's stages.
        prompts: by name.
        separator: the model's own token between two texts.
        budget: tokens of a batch that it computes fastest, padding among them.
    """

    precisions: ClassVar[tuple[str, ...]]
    device: str
    dim: int
    max_length: int
    modules: tuple[str, ...]
    prompts: dict[str, str]
    separator: str
    budget: int

    @classmethod
    def fits(cls, folder: Path) -> bool:
        """Whether it is installed and can compute the model in this folder; imports nothing heavy."""
        ...

    def __init__(self, folder: Path, settings: EncoderSettings, precision: str) -> None:
        """Load a model from a folder that was checked.

        Raises:
            EncoderUnavailable: it cannot be loaded, or not at this precision or on this device.
        """
        ...

    def tokenize(self, texts: Sequence[str]) -> Tokens:
        """Token ids of each text, cut to `max_length`."""
        ...

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has, before anything is cut."""
        ...

    def forward(self, batch: Batch) -> npt.NDArray[np.float32]:
        """The (b, dim) float32 vectors of a batch, of any norm."""
        ...
