"""Lists as arrays of positions, to and from the packed rows that the store keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from recsys.neighbors import Lists, empty_lists
from recsys.store.built import pack_neighbors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def pack(lists: Lists, rows: npt.NDArray[np.int64]) -> Iterator[bytes]:
    """Each list as the store keeps it; `rows` (n,) int64 are the rows of all positions."""
    import numpy as np

    full = np.atleast_1d((lists.positions >= 0).all(axis=1))
    numbers = np.hstack([rows[lists.positions].astype("<u4"), lists.scores.astype("<f4").view("<u4")])
    for whole, packed, positions, scores in zip(full.tolist(), numbers, *lists, strict=True):
        if whole:
            yield packed.tobytes()
        else:
            found = positions >= 0
            yield pack_neighbors(rows[positions[found]].tolist(), scores[found].tolist())


def unpack(packed: Sequence[bytes], k: int = 0) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Rows (n, k) int64 and scores (n, k) float32 of packed lists; -1 and -inf beyond a list's end.

    Args:
        packed: n lists.
        k: places; that of the longest list where it is 0.
    """
    import numpy as np

    lengths = np.array([len(one) // 8 for one in packed], dtype=np.int64)
    rows, scores = empty_lists(len(packed), k or int(lengths.max(initial=0)))
    for length in np.unique(lengths).tolist():
        these = np.flatnonzero(lengths == length)
        together = b"".join(packed[place] for place in these.tolist())
        numbers = np.frombuffer(together, dtype="<u4").reshape(len(these), 2 * length)
        rows[these, :length] = numbers[:, :length]
        scores[these, :length] = numbers[:, length:].view("<f4")
    return rows, scores
