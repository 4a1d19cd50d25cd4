"""Batches by token budget: texts of like length together, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Tokens = Sequence[Sequence[int]]
"""Token ids of each text, those that begin and end it among them."""

STEP = 16
"""Widths are multiples of this: some runtimes prepare themselves for each new shape, and keep what they prepared."""


class Batch(NamedTuple):
    """Texts that go through a model together.

    Attributes:
        places: of the b texts among all.
        ids: (b, width) int64 token ids, 0 beyond a text's end.
        mask: (b, width) int64, 1 where there is a token.
    """

    places: list[int]
    ids: npt.NDArray[np.int64]
    mask: npt.NDArray[np.int64]


def batches(tokens: Tokens, budget: int) -> Iterator[Batch]:
    """All texts, longest first, in batches of at most `budget` tokens, padding among them; one text at least.

    Longest first, so that memory that does not suffice fails at once. What is in a batch follows from the texts alone.
    """
    import numpy as np

    order = sorted(range(len(tokens)), key=lambda place: (-len(tokens[place]), place))
    start = 0
    while start < len(order):
        width = -(-max(1, len(tokens[order[start]])) // STEP) * STEP
        places = order[start : start + max(1, budget // width)]
        ids = np.zeros((len(places), width), dtype=np.int64)
        mask = np.zeros((len(places), width), dtype=np.int64)
        for row, place in enumerate(places):
            ids[row, : len(tokens[place])] = tokens[place]
            mask[row, : len(tokens[place])] = 1
        yield Batch(places, ids, mask)
        start += len(places)


def encode_tokens(
    tokens: Tokens,
    forward: Callable[[Batch], npt.NDArray[np.float32]],
    dim: int,
    budget: int,
    advance: Callable[[int], None] = lambda _: None,
) -> npt.NDArray[np.float32]:
    """The (n, dim) float32 unit vectors of tokenised texts, in their order; a row that has no direction is NaN.

    Args:
        tokens: of n texts.
        forward: gives the (b, dim) vectors of a batch, of any norm.
        dim: vector length.
        budget: tokens of a batch, padding among them.
        advance: told after every batch how many texts more are done.
    """
    import numpy as np

    raw = np.empty((len(tokens), dim), dtype=np.float64)
    for batch in batches(tokens, budget):
        raw[batch.places] = forward(batch)
        advance(len(batch.places))
    norms = np.linalg.norm(raw, axis=1, keepdims=True)
    norms[norms == 0] = np.nan
    vectors: npt.NDArray[np.float32] = np.ascontiguousarray(raw / norms, dtype=np.float32)
    return vectors
