from __future__ import annotations

import numpy as np
import pytest

from recsys.neighbors import neighbors_of
from recsys.recall import evenly, recall


def test_recall_is_the_share_of_entries_as_near_as_the_true_twentieth() -> None:
    rng = np.random.default_rng(3)
    embeddings = rng.normal(size=(300, 16)).astype(np.float32)
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    own = evenly(300, 50)
    found = neighbors_of(embeddings, own, 40).scores
    assert recall(embeddings, own, found) == 1
    assert recall(embeddings, own, found[:, 5:]) == pytest.approx(15 / 20)
    assert recall(embeddings, own, found[:, :5]) == pytest.approx(5 / 20)
    short = found.copy()
    short[:10, 10:] = -np.inf
    assert recall(embeddings, own, short) == pytest.approx((10 * 0.5 + 40) / 50)


@pytest.mark.parametrize("n", [0, 1])
def test_where_nothing_can_be_found_nothing_is_missed(n: int) -> None:
    embeddings = np.ones((n, 1), dtype=np.float32)
    assert recall(embeddings, evenly(n), np.empty((n, 20), dtype=np.float32)) == 1


def test_a_sample_is_spread_evenly() -> None:
    assert evenly(7, 10).tolist() == list(range(7))
    assert evenly(10, 4).tolist() == [0, 2, 5, 7]
