from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recsys.neighbors import all_neighbors, canonical_scores, default_kind, recall
from recsys.search.flat import FlatSearch
from recsys.search.hnsw import HnswSearch

Matrix = npt.NDArray[np.float32]


def unit_rows(n: int, seed: int, copies: int = 0, dim: int = 16) -> Matrix:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, dim))
    rows[: min(copies, n)] = rows[:1]
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def lists(embeddings: Matrix, k: int, **options: object) -> tuple[npt.NDArray[np.int64], Matrix]:
    ids = options.get("ids")
    index = FlatSearch.build(embeddings, np.arange(len(embeddings)) if ids is None else ids)  # type: ignore[arg-type]
    blocks = list(all_neighbors(embeddings, k, index, **options))  # type: ignore[arg-type]
    assert [block.start for block in blocks] == list(range(0, len(embeddings), int(options.get("block", 1024))))  # type: ignore[call-overload]
    return np.concatenate([b.positions for b in blocks]), np.concatenate([b.scores for b in blocks])


def reference(embeddings: Matrix, k: int) -> tuple[npt.NDArray[np.int64], Matrix]:
    """Plain: every pair in float64, rounded, self left out, ties by position."""
    scores = np.round(embeddings.astype(np.float64) @ embeddings.astype(np.float64).T, 6)
    np.fill_diagonal(scores, -np.inf)
    order = np.argsort(-scores, axis=1, kind="stable")[:, : min(k, len(embeddings) - 1)]
    return order, np.take_along_axis(scores, order, axis=1).astype(np.float32)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 120),
    copies=st.integers(0, 90),
    k=st.integers(1, 60),
    block=st.sampled_from([1, 7, 64, 1024]),
    seed=st.integers(0, 10_000),
)
def test_equal_to_the_reference_whatever_the_block(n: int, copies: int, k: int, block: int, seed: int) -> None:
    embeddings = unit_rows(n, seed, copies)
    ids = np.random.default_rng(seed).permutation(10 * n)[:n].astype(np.int64)
    wanted, scores = reference(embeddings, k)
    for options in ({"block": block}, {"block": block, "ids": ids}):
        positions, values = lists(embeddings, k, **options)
        np.testing.assert_array_equal(positions, wanted)
        np.testing.assert_array_equal(values, scores)


def test_order_of_rows_does_not_matter() -> None:
    embeddings = unit_rows(300, 1)
    order = np.random.default_rng(2).permutation(300)
    straight, scores = lists(embeddings, 10)
    shuffled, values = lists(np.ascontiguousarray(embeddings[order]), 10)
    np.testing.assert_array_equal(values, scores[order])
    np.testing.assert_array_equal(order[shuffled], straight[order])


def test_nothing_and_too_little() -> None:
    assert list(all_neighbors(unit_rows(0, 0), 5, FlatSearch.build(unit_rows(0, 0), np.arange(0)))) == []
    positions, scores = lists(unit_rows(1, 0), 5)
    assert positions.shape == scores.shape == (1, 0)


def test_more_copies_than_any_margin() -> None:
    positions, scores = lists(unit_rows(500, 3, copies=400), 20)
    assert positions[0].tolist() == list(range(1, 21))
    assert positions[399].tolist() == list(range(20))
    np.testing.assert_array_equal(scores[:400], 1)


def test_an_approximate_index_gives_true_scores() -> None:
    embeddings = unit_rows(2000, 4, dim=32)
    (block,) = all_neighbors(embeddings, 10, HnswSearch.build(embeddings, np.arange(2000)), block=2000)
    wanted, _ = reference(embeddings, 10)
    assert recall(block.positions, wanted) > 0.95
    own = np.arange(2000)[:, None]
    assert not (block.positions == own).any()
    true = np.einsum("bkd,bd->bk", embeddings[block.positions].astype(np.float64), embeddings.astype(np.float64))
    np.testing.assert_array_equal(block.scores, np.round(true, 6).astype(np.float32))


class _Sparse:
    """A search that finds only the query itself and one more."""

    exact = False
    size = 50

    def search(self, queries: Matrix, k: int) -> tuple[npt.NDArray[np.int64], Matrix]:
        from recsys.search.base import Neighbors

        ids = np.full((len(queries), k), -1)
        ids[:, 0] = 3
        return Neighbors(ids, np.where(ids < 0, -np.inf, 1).astype(np.float32))


def test_what_was_not_found_stays_minus_one() -> None:
    embeddings = unit_rows(50, 5)
    (block,) = all_neighbors(embeddings, 4, _Sparse())  # type: ignore[arg-type]
    assert block.positions[0].tolist() == [3, -1, -1, -1]
    assert block.positions[3].tolist() == [-1, -1, -1, -1]
    assert np.isneginf(block.scores[3]).all()


def test_canonical_scores_are_those_of_the_lists() -> None:
    embeddings = unit_rows(200, 6, copies=30)
    scores = canonical_scores(embeddings, embeddings[0])
    positions, listed = lists(embeddings, 40)
    np.testing.assert_array_equal(scores[positions[0]], listed[0])
    assert (scores[:30] == 1).all()
    assert scores.dtype == np.float32


@pytest.mark.parametrize(("n", "kind"), [(0, "flat"), (300_000, "flat"), (300_001, "hnsw")])
def test_default_kind(n: int, kind: str) -> None:
    assert default_kind(n) == kind


def test_recall_by_hand() -> None:
    exact = np.array([[1, 2], [3, -1], [-1, -1]])
    assert recall(np.array([[2, 9], [3, 4], [1, 2]]), exact) == pytest.approx((0.5 + 1 + 0) / 3)
    assert recall(exact[:0], exact[:0]) == 1
