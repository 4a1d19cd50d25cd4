"""Lists by nearest-neighbour descent, against exact ones."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
import pytest

from recsys.allpairs.descent import descent_lists
from recsys.allpairs.exact import exact_lists
from recsys.errors import MissingExtra
from recsys.neighbors import Block
from tests.overlap import share_found


def clusters(n: int) -> npt.NDArray[np.float32]:
    """Unit rows around 50 centres, as texts lie around subjects."""
    random = np.random.default_rng(5)
    rows = random.normal(size=(50, 24))[random.integers(50, size=n)] + 0.5 * random.normal(size=(n, 24))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def together(blocks: list[Block]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    return np.concatenate([block.positions for block in blocks]), np.concatenate([block.scores for block in blocks])


def test_nearly_the_exact_lists_with_their_very_scores_and_the_same_again() -> None:
    embeddings = clusters(9000)
    positions, scores = together(list(descent_lists(embeddings, 20)))
    exact, best = together(list(exact_lists(embeddings, 20)))
    assert share_found(positions, exact) > 0.99
    same = positions == exact
    np.testing.assert_array_equal(scores[same], best[same])
    assert not (positions == np.arange(9000)[:, None]).any()
    assert (np.diff(scores, axis=1) <= 0).all()
    again = together(list(descent_lists(embeddings, 20)))
    assert share_found(again[0], positions) > 0.999


def test_few_papers_are_compared_exactly() -> None:
    embeddings = clusters(300)
    for one, other in zip(descent_lists(embeddings, 20), exact_lists(embeddings, 20), strict=True):
        np.testing.assert_array_equal(one.positions, other.positions)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(MissingExtra, match="descent") as caught:
        list(descent_lists(clusters(10), 2))
    assert "recsys-arxiv[descent]" in caught.value.hint
