"""Encode one text for a caller that must not load torch: in a child process, where the encoder needs one."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from recsys import errors
from recsys.encoders.base import EncoderSettings, Fingerprint
from recsys.encoders.loading import encoder_class, load_reader
from recsys.errors import RecsysError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def encode_apart(text: str, made_by: Fingerprint, *, query: bool) -> npt.NDArray[np.float32]:
    """The (dim,) float32 unit vector of a text, by the encoder that made an index's vectors.

    Args:
        text: a query, or a document's embedding text.
        made_by: the index's fingerprint.
        query: whether the text is a query.

    Raises:
        EncoderUnavailable: the encoder cannot be loaded.
        FingerprintMismatch: the encoder of that name is no longer the one that made the vectors.
    """
    import numpy as np

    asked = EncoderSettings(made_by.encoder, max_length=made_by.max_length)
    if not encoder_class(made_by.encoder).needs_torch(asked):
        return _encode(text, made_by, query)
    request = json.dumps({"text": text, "made_by": asdict(made_by), "query": query})
    child = subprocess.run(
        [sys.executable, "-m", "recsys.encoders.process"], input=request.encode(), capture_output=True, check=False
    )
    if child.returncode:
        raise _error(child.stderr)
    return np.frombuffer(child.stdout, dtype="<f4")


def _encode(text: str, made_by: Fingerprint, query: bool) -> npt.NDArray[np.float32]:
    import numpy as np

    encoder = load_reader(made_by)
    vector = encoder.encode_query(text) if query else encoder.encode([text])[0]
    if not np.isfinite(vector).all():
        raise RecsysError(f"no vector can be made of {errors.excerpt(text)}", "use words")
    return vector


def _error(stderr: bytes) -> RecsysError:
    """The error that the child described on the last line of its stderr."""
    lines = stderr.decode(errors="replace").strip().splitlines() or ["no message"]
    try:
        return errors.from_dict(json.loads(lines[-1]))
    except ValueError:
        return RecsysError(f"the encoder's process failed: {lines[-1]}")


def _child() -> None:
    """The child: a request as JSON on stdin; the vector's bytes on stdout, or an error as JSON on stderr."""
    request = json.loads(sys.stdin.buffer.read())
    try:
        vector = _encode(request["text"], Fingerprint(**request["made_by"]), request["query"])
    except RecsysError as error:
        sys.stderr.write(f"\n{json.dumps(error.to_dict())}\n")
        sys.exit(error.exit_code)
    sys.stdout.buffer.write(vector.astype("<f4").tobytes())


if __name__ == "__main__":
    _child()
