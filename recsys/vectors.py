"""Vector shards: immutable `.npy` files of unit rows, float16 on disk, float32 in memory.

float16 halves the disk and the read; it moves a cosine of two 384-dimensional unit vectors by about 1e-5. Rows are
normalised again when they are read, so that equal texts have score 1.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from recsys import files
from recsys.errors import IndexDamaged

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DTYPE = "float16"
"""How vectors are stored; part of the fingerprint."""

_SUFFIX = ".npy"
_REPAIR = "recsys update encodes its texts again"
_UNIT_TOLERANCE = 1e-3


def finite_unit_rows(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """(n,) mask: which rows of (n, dim) are finite and of norm 1 within 1e-3."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
    good: npt.NDArray[np.bool_] = np.abs(norms - 1) <= _UNIT_TOLERANCE  # false for NaN and Inf too
    return good


def write_shard(folder: Path, vectors: npt.NDArray[np.float32]) -> str:
    """Write (n, dim) unit rows as one immutable file, on disk when this returns.

    Returns:
        sha256 of the file, hex: its name.

    Raises:
        ValueError: a row is not finite or not of norm 1; the message names the first.
    """
    import numpy as np

    good = finite_unit_rows(vectors)
    if not good.all():
        raise ValueError(f"row {int(np.argmin(good))} is not finite and of norm 1")
    return write_stored(folder, vectors.astype(DTYPE))


def write_stored(folder: Path, stored: npt.NDArray[np.float16]) -> str:
    """Write (n, dim) rows that are already as they are stored; returns the file's sha256."""
    import numpy as np

    content = io.BytesIO()
    np.save(content, np.ascontiguousarray(stored), allow_pickle=False)
    return files.publish(folder, _SUFFIX, lambda stream: _write(stream, content.getbuffer()))


def _write(stream: BinaryIO, content: memoryview) -> None:
    stream.write(content)


def read_shard(folder: Path, sha256: str, *, rows: int, dim: int) -> npt.NDArray[np.float32]:
    """The (rows, dim) float32 unit rows of a shard, after checking its hash and shape.

    Raises:
        IndexDamaged: the file is absent, differs from what was published, or has another shape.
    """
    return unit_rows(read_stored(folder, sha256, rows=rows, dim=dim))


def unit_rows(stored: npt.NDArray[np.float16]) -> npt.NDArray[np.float32]:
    """The (n, dim) float32 unit rows of vectors as they are stored."""
    import numpy as np

    vectors = stored.astype(np.float32)
    vectors /= np.sqrt(np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64))[:, None]
    return vectors


def read_stored(folder: Path, sha256: str, *, rows: int, dim: int) -> npt.NDArray[np.float16]:
    """The (rows, dim) float16 rows of a shard as they are stored; checks and errors are those of `read_shard`."""
    import numpy as np

    content = io.BytesIO(files.content(folder, sha256, _SUFFIX, _REPAIR))
    stored: npt.NDArray[np.float16] = np.load(content, allow_pickle=False)
    if stored.shape != (rows, dim) or stored.dtype != DTYPE:
        wanted = f"({rows}, {dim}) {DTYPE}"
        raise IndexDamaged(f"shard {sha256} holds {stored.shape} {stored.dtype}, the index says {wanted}", _REPAIR)
    return stored


def check_file(folder: Path, sha256: str) -> None:
    """Check that a shard is the file that was published.

    Raises:
        IndexDamaged: it is absent, or differs.
    """
    files.verified(folder, sha256, _SUFFIX, _REPAIR)


def sweep(folder: Path, keep: set[str]) -> list[str]:
    """Remove shards that nothing references; returns their names, sorted."""
    return files.sweep(folder, keep, _SUFFIX)
