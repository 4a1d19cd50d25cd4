"""An encoder by its name."""

from __future__ import annotations

from typing import Any

from recsys import registry
from recsys.encoders.base import Encoder, EncoderSettings

GENERAL = "sentence-transformers"
"""The registry's name for any folder or hub id."""


def encoder_class(name: str) -> Any:  # noqa: ANN401 - a class that follows `Encoder`
    """The class behind an alias, or that of any folder or hub id; importing it loads no model and no torch."""
    return registry.load(registry.ENCODERS, name if name in registry.ENCODERS else GENERAL)


def load_encoder(settings: EncoderSettings) -> Encoder:
    """Load the encoder that `settings.encoder` names.

    Raises:
        EncoderUnavailable: files absent, unsafe or not what was pinned; device absent.
        NetworkError: a download that was allowed failed.
    """
    encoder: Encoder = encoder_class(settings.encoder)(settings)
    return encoder
