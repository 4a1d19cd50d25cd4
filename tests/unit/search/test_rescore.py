from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from recsys.search import rescore


def test_scores_are_float64_products_of_the_right_rows() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(30, 8)).astype(np.float32)
    queries = random.normal(size=(5, 8)).astype(np.float32)
    candidates = random.integers(30, size=(5, 7))
    scores = rescore.true_scores(queries, candidates, rows.__getitem__)
    true = np.take_along_axis(queries.astype(np.float64) @ rows.T.astype(np.float64), candidates, axis=1)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, true, rtol=0, atol=1e-14)


@pytest.mark.parametrize("shape", [(0, 7), (5, 0), (0, 0)])
def test_nothing_to_score(shape: tuple[int, int]) -> None:
    rows = np.ones((3, 8), dtype=np.float32)
    candidates = np.zeros(shape, dtype=np.int64)
    assert rescore.true_scores(rows[:1].repeat(shape[0], axis=0), candidates, rows.__getitem__).shape == shape


def test_rows_are_gathered_in_bounded_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescore, "_ROWS_AT_ONCE", 20)
    rows = np.random.default_rng(1).normal(size=(50, 4)).astype(np.float32)
    sizes: list[int] = []

    def gather(wanted: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        sizes.append(len(wanted))
        return rows[wanted]

    candidates = np.random.default_rng(2).integers(50, size=(9, 6))
    scores = rescore.true_scores(rows[:9], candidates, gather)
    assert sizes == [18, 18, 18]
    np.testing.assert_allclose(scores, np.einsum("bcd,bd->bc", rows[candidates], rows[:9], dtype=np.float64))
