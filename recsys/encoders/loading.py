"""An encoder by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from recsys import registry
from recsys.encoders.base import FP32, Encoder, EncoderSettings, Fingerprint
from recsys.errors import FingerprintMismatch

GENERAL = "sentence-transformers"
"""The registry's name for any folder or hub id."""


def encoder_class(name: str) -> Any:  # noqa: ANN401 - a class that follows `Encoder`
    """The class behind an alias, or that of any folder or hub id; importing it loads no model and no torch."""
    return registry.load(registry.ENCODERS, name if name in registry.ENCODERS else GENERAL)


def load_reader(made_by: Fingerprint) -> Encoder:
    """The encoder of an index, to encode what is looked up there: on the CPU, without torch where that can be, in fp32.

    Raises:
        EncoderUnavailable: it cannot be loaded.
        FingerprintMismatch: the encoder of that name is no longer the one that made the vectors.
    """
    asked = EncoderSettings(made_by.encoder, "cpu", precision=FP32, max_length=made_by.max_length)
    backend = "torch" if encoder_class(made_by.encoder).needs_torch(asked) else "numpy"
    encoder = load_encoder(replace(asked, backend=backend))
    if differences := made_by.differences(replace(encoder.fingerprint, arithmetic=made_by.arithmetic)):
        raise FingerprintMismatch(
            f"the encoder {made_by.encoder} is not the one that made this index ({', '.join(differences)} differ)",
            "recsys update --replace-vectors",
        )
    return encoder


def load_encoder(settings: EncoderSettings) -> Encoder:
    """Load the encoder that `settings.encoder` names.

    Raises:
        EncoderUnavailable: files absent, unsafe or not what was pinned; device absent.
        NetworkError: a download that was allowed failed.
    """
    encoder: Encoder = encoder_class(settings.encoder)(settings)
    return encoder
