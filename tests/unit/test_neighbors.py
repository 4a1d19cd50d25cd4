"""Lists of every paper and of some, against a plain float64 reference, on values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recsys import neighbors
from recsys.allpairs.exact import exact_lists, tiles_of
from recsys.allpairs.products import NumpyProduct, OpenVinoProduct, Product, TorchProduct, choose_product
from recsys.allpairs.tiles import Tile
from recsys.errors import EncoderUnavailable
from recsys.neighbors import all_neighbors, canonical_scores, default_kind, neighbors_of
from recsys.search.hnsw import HnswSearch
from tests.overlap import share_found

Matrix = npt.NDArray[np.float32]


def unit_rows(n: int, seed: int, copies: int = 0, dim: int = 16) -> Matrix:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, dim))
    rows[: min(copies, n)] = rows[:1]
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def lists(
    embeddings: Matrix, k: int, product: Product | None = None, block: int = 2048
) -> tuple[npt.NDArray[np.int64], Matrix]:
    blocks = list(exact_lists(embeddings, k, product=product, block=block))
    assert [one.start for one in blocks] == list(range(0, len(embeddings), block))
    return np.concatenate([one.positions for one in blocks]), np.concatenate([one.scores for one in blocks])


def reference(embeddings: Matrix, k: int) -> tuple[npt.NDArray[np.int64], Matrix]:
    """Plain: every pair in float64, rounded, self left out, ties by position."""
    scores = np.round(embeddings.astype(np.float64) @ embeddings.astype(np.float64).T, 6)
    np.fill_diagonal(scores, -np.inf)
    order = np.argsort(-scores, axis=1, kind="stable")[:, : min(k, len(embeddings) - 1)]
    return order, np.take_along_axis(scores, order, axis=1).astype(np.float32)


class Rough:
    """A product that is off by as much as it says, either way."""

    name = "rough"
    error = 0.02

    def __init__(self, embeddings: Matrix) -> None:
        self._exact = NumpyProduct(embeddings)

    def __call__(self, rows: slice, columns: slice) -> Matrix:
        scores = self._exact(rows, columns)
        off = np.random.default_rng(rows.start + columns.start).uniform(-self.error, self.error, scores.shape)
        return (scores + off).astype(np.float32)


@settings(max_examples=100, deadline=None)
@given(
    n=st.integers(1, 120),
    copies=st.integers(0, 90),
    k=st.integers(1, 60),
    block=st.sampled_from([1, 7, 64, 2048]),
    rough=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_equal_to_the_reference_whatever_the_block_and_the_product(
    n: int, copies: int, k: int, block: int, rough: bool, seed: int
) -> None:
    embeddings = unit_rows(n, seed, copies)
    positions, values = lists(embeddings, k, (Rough if rough else NumpyProduct)(embeddings), block)
    wanted, scores = reference(embeddings, k)
    np.testing.assert_array_equal(positions, wanted)
    np.testing.assert_array_equal(values, scores)
    some = neighbors_of(embeddings, np.arange(0, n, 3), k)
    np.testing.assert_array_equal(some.positions[:, : wanted.shape[1]], wanted[::3])
    np.testing.assert_array_equal(some.scores[:, : wanted.shape[1]], scores[::3])
    assert (some.positions[:, wanted.shape[1] :] == -1).all()


@pytest.mark.parametrize("kind", ["numpy", "openvino", "torch", "cuda", "chosen", "rough"])
def test_equal_to_the_reference_where_lists_are_much_longer_than_kept(kind: str) -> None:
    embeddings = np.concatenate([unit_rows(6000, 7, copies=200, dim=96), unit_rows(500, 8, dim=96)])
    if kind == "openvino":
        pytest.importorskip("openvino", reason="needs the extra [fast]")
    if kind == "cuda" and not torch.cuda.is_available():
        pytest.skip("NO GPU HERE: lists made on CUDA were not compared with the reference")
    product = {
        "numpy": lambda: NumpyProduct(embeddings),
        "openvino": lambda: OpenVinoProduct(embeddings, 2),
        "torch": lambda: TorchProduct(embeddings, "cpu"),
        "cuda": lambda: choose_product(embeddings, 2, "cuda"),
        "chosen": lambda: choose_product(embeddings, 2),
        "rough": lambda: Rough(embeddings),
    }[kind]()
    positions, values = lists(embeddings, 40, product, 1000)
    wanted, scores = reference(embeddings, 40)
    np.testing.assert_array_equal(positions, wanted)
    np.testing.assert_array_equal(values, scores)


@pytest.mark.parametrize("dim", [16, 384])
def test_no_product_is_further_off_than_it_says(dim: int) -> None:
    pytest.importorskip("openvino", reason="needs the extra [fast]")
    embeddings = unit_rows(3000, 9, copies=10, dim=dim)
    true = embeddings.astype(np.float64) @ embeddings.astype(np.float64).T
    for product in (NumpyProduct(embeddings), OpenVinoProduct(embeddings, 2), TorchProduct(embeddings, "cpu")):
        off = np.abs(product(slice(0, 1000), slice(500, 3000)) - true[:1000, 500:]).max()
        assert off <= product.error, product.name


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(EncoderUnavailable, match="no device 'cuda:99'"):
        choose_product(unit_rows(3, 1), 1, "cuda:99")


def test_every_two_blocks_are_compared_once() -> None:
    compared: list[Tile] = []
    list(exact_lists(unit_rows(100, 1), 5, block=16, done=compared.append))
    assert sorted(compared) == [(row, column) for row in range(7) for column in range(row, 7)]
    assert tiles_of(100, 16) == len(compared)


def test_order_of_rows_does_not_matter() -> None:
    embeddings = unit_rows(300, 1)
    order = np.random.default_rng(2).permutation(300)
    straight, scores = lists(embeddings, 10)
    shuffled, values = lists(np.ascontiguousarray(embeddings[order]), 10)
    np.testing.assert_array_equal(values, scores[order])
    np.testing.assert_array_equal(order[shuffled], straight[order])


def test_nothing_and_too_little() -> None:
    assert list(exact_lists(unit_rows(0, 0), 5)) == []
    positions, scores = lists(unit_rows(1, 0), 5)
    assert positions.shape == scores.shape == (1, 0)
    assert neighbors_of(unit_rows(1, 0), np.arange(1), 5).positions.tolist() == [[-1] * 5]


def test_a_failing_product_ends_all_threads() -> None:
    class Failing(Rough):
        def __call__(self, rows: slice, columns: slice) -> Matrix:
            raise MemoryError

    with pytest.raises(MemoryError):
        list(exact_lists(unit_rows(300, 1), 5, product=Failing(unit_rows(300, 1)), block=16))


def test_more_copies_than_any_margin() -> None:
    positions, scores = lists(unit_rows(500, 3, copies=400), 20)
    assert positions[0].tolist() == list(range(1, 21))
    assert positions[399].tolist() == list(range(20))
    np.testing.assert_array_equal(scores[:400], 1)


def test_an_approximate_index_gives_true_scores() -> None:
    embeddings = unit_rows(2000, 4, dim=32)
    (block,) = all_neighbors(embeddings, 10, HnswSearch.build(embeddings, np.arange(2000)), block=2000)
    wanted, _ = reference(embeddings, 10)
    assert share_found(block.positions, wanted) > 0.95
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


def test_default_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [default_kind(n) for n in (0, 300_000, 300_001)] == ["flat", "flat", "nndescent"]
    monkeypatch.setattr(neighbors, "find_spec", lambda name: None)
    assert [default_kind(n) for n in (300_000, 300_001)] == ["flat", "hnsw"]


def test_share_found_by_hand() -> None:
    exact = np.array([[1, 2], [3, -1], [-1, -1]])
    assert share_found(np.array([[2, 9], [3, 4], [1, 2]]), exact) == pytest.approx((0.5 + 1 + 0) / 3)
    assert share_found(exact[:0], exact[:0]) == 1
