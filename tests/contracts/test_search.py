"""Every search kind against brute-force NumPy values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt
import pytest

from recsys import registry
from recsys.errors import IndexDamaged
from recsys.vectors import finite_unit_rows
from tests.overlap import share_found

Matrix = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]


def save(index: Any, path: Path) -> None:
    with path.open("wb") as stream:
        index.save(stream)


def unit(rows: npt.NDArray[Any]) -> Matrix:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def clustered(n: int, dim: int = 48, seed: int = 0) -> Matrix:
    random = np.random.default_rng(seed)
    centres = unit(random.normal(size=(20, dim)))
    return unit(centres[random.integers(20, size=n)] + 0.6 * unit(random.normal(size=(n, dim))))


def brute_force(embeddings: Matrix, ids: Ids, queries: Matrix, k: int) -> tuple[Ids, Matrix]:
    scores = queries.astype(np.float64) @ embeddings.T.astype(np.float64)
    order = np.lexsort((np.broadcast_to(ids, scores.shape), -scores), axis=1)[:, :k]
    return ids[order], np.take_along_axis(scores, order, axis=1).astype(np.float32)


@pytest.fixture(params=registry.SEARCH)
def kind(request: pytest.FixtureRequest) -> Any:
    return registry.load(registry.SEARCH, request.param)


@pytest.fixture(scope="module")
def data() -> tuple[Matrix, Ids, Matrix]:
    ids = np.random.default_rng(1).permutation(10**12 + np.arange(3000, dtype=np.int64) * 7)
    return clustered(3000), ids, clustered(50, seed=2)


def test_values(kind: Any, data: tuple[Matrix, Ids, Matrix]) -> None:
    embeddings, ids, queries = data
    index = kind.build(embeddings, ids)
    assert (index.size, index.dim) == (3000, 48)
    found = index.search(queries, 20)
    wanted, scores = brute_force(embeddings, ids, queries, 20)
    assert found.ids.shape == found.scores.shape == (50, 20)
    assert (found.ids.dtype, found.scores.dtype) == (np.int64, np.float32)
    place = {paper: row for row, paper in enumerate(ids.tolist())}
    true = np.einsum("qkd,qd->qk", embeddings[np.vectorize(place.get)(found.ids)], queries)
    np.testing.assert_allclose(found.scores, true, atol=1e-5)
    assert (np.diff(found.scores, axis=1) <= 0).all()
    if index.exact:
        np.testing.assert_array_equal(found.ids, wanted)
        np.testing.assert_allclose(found.scores, scores, atol=1e-6)
    assert share_found(found.ids, wanted) >= 0.95


def test_a_vector_finds_itself_first(kind: Any, data: tuple[Matrix, Ids, Matrix]) -> None:
    embeddings, ids, _ = data
    found = kind.build(embeddings, ids).search(embeddings[:200], 1)
    assert (found.ids[:, 0] == ids[:200]).mean() >= (1 if kind.exact else 0.97)
    np.testing.assert_allclose(found.scores, 1, atol=1e-5 if kind.exact else 0.3)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_few_vectors(kind: Any, n: int) -> None:
    embeddings, ids = clustered(n + 1)[:n], np.arange(n, dtype=np.int64) + 5
    found = kind.build(embeddings, ids).search(clustered(3, seed=3), 40)
    wanted, scores = brute_force(embeddings, ids, clustered(3, seed=3), 40)
    np.testing.assert_array_equal(found.ids, wanted)
    np.testing.assert_allclose(found.scores, scores, atol=1e-5)


def test_no_queries(kind: Any, data: tuple[Matrix, Ids, Matrix]) -> None:
    found = kind.build(*data[:2]).search(data[2][:0], 3)
    assert found.ids.shape == (0, 3)


def test_equal_vectors_come_in_the_order_of_their_ids(kind: Any) -> None:
    embeddings = np.repeat(clustered(2), 100, axis=0)
    ids = np.random.default_rng(0).permutation(200).astype(np.int64)
    found = kind.build(embeddings, ids).search(embeddings[:1], 30)
    if kind.exact:
        assert found.ids[0].tolist() == sorted(ids[:100].tolist())[:30]
    assert found.ids[0].tolist() == sorted(found.ids[0].tolist())
    np.testing.assert_allclose(found.scores, 1, atol=1e-5)


def test_a_saved_index_answers_the_same_and_plain_faiss_opens_it(
    kind: Any, data: tuple[Matrix, Ids, Matrix], tmp_path: Path
) -> None:
    index = kind.build(*data[:2])
    save(index, tmp_path / "x.faiss")
    loaded = kind.load(tmp_path / "x.faiss")
    before, after = index.search(data[2], 10), loaded.search(data[2], 10)
    np.testing.assert_array_equal(before.ids, after.ids)
    np.testing.assert_array_equal(before.scores, after.scores)
    plain = faiss.read_index(str(tmp_path / "x.faiss"))
    assert (plain.ntotal, plain.metric_type) == (3000, faiss.METRIC_INNER_PRODUCT)


def test_building_twice_is_the_same(kind: Any, data: tuple[Matrix, Ids, Matrix]) -> None:
    first, second = (kind.build(*data[:2]).search(data[2], 20) for _ in range(2))
    if kind.kind == "hnsw":  # built by several threads: FAISS's graph depends on their order
        assert share_found(first.ids, second.ids) > 0.95
    else:
        np.testing.assert_array_equal(first.ids, second.ids)


@pytest.mark.parametrize("damage", ["cut", "empty", "garbage", "other kind", "other metric", "bare"])
def test_other_files_are_refused(kind: Any, data: tuple[Matrix, Ids, Matrix], tmp_path: Path, damage: str) -> None:
    path = tmp_path / "x.faiss"
    save(kind.build(*data[:2]), path)
    content = path.read_bytes()
    other = registry.load(registry.SEARCH, next(name for name in registry.SEARCH if name != kind.kind))
    if damage == "other kind":
        save(other.build(*data[:2]), path)
    elif damage in ("other metric", "bare"):
        factory = kind.factory(3000) if damage == "bare" else f"IDMap2,{kind.factory(3000)}"
        metric = faiss.METRIC_L2 if damage == "other metric" else faiss.METRIC_INNER_PRODUCT
        faiss.write_index(faiss.index_factory(48, factory, metric), str(path))
    else:
        path.write_bytes({"cut": content[:-100], "empty": b"", "garbage": b"IxMp" + bytes(range(256)) * 40}[damage])
    with pytest.raises(IndexDamaged, match="x.faiss"):
        kind.load(path)


ROW = clustered(4)


@pytest.mark.parametrize(
    ("embeddings", "ids", "says"),
    [
        (ROW.astype(np.float64), np.arange(4), "float64"),
        (ROW[0], np.arange(1), r"\(48,\)"),
        (ROW, np.arange(3), r"ids must be \(4,\) int64, not \(3,\)"),
        (ROW, np.arange(4, dtype=np.int32), "int32"),
        (ROW, np.array([0, 1, 1, 2]), "distinct"),
        (ROW, np.array([0, 1, -1, 2]), "not negative"),
        (ROW * np.array([[1], [1], [np.nan], [1]], dtype=np.float32), np.array([7, 8, 9, 10]), "id 9"),
        (ROW * np.array([[1], [np.inf], [1], [1]], dtype=np.float32), np.array([7, 8, 9, 10]), "id 8"),
        (ROW * np.array([[0], [1], [1], [1]], dtype=np.float32), np.array([7, 8, 9, 10]), "id 7"),
    ],
)
def test_bad_vectors_are_refused_by_name(kind: Any, embeddings: Matrix, ids: Ids, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        kind.build(embeddings, ids)


@pytest.mark.parametrize(
    ("queries", "k", "says"),
    [
        (ROW[:, :40], 3, "dimension 40, the index has 48"),
        (ROW.astype(np.float64), 3, "float64"),
        (ROW * np.float32(np.nan), 3, "not finite"),
        (ROW, 0, "at least 1"),
    ],
)
def test_bad_queries_are_refused(kind: Any, queries: Matrix, k: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        kind.build(ROW, np.arange(4)).search(queries, k)


def test_without_the_poisoned_rows_answers_are_those_of_the_clean_ones(kind: Any) -> None:
    embeddings = clustered(2000)
    random = np.random.default_rng(5)
    bad = random.choice(2000, 20, replace=False)
    poisoned = embeddings.copy()
    poisoned[bad, 3] = random.choice([np.nan, np.inf, -np.inf, 5.0], 20)
    good = finite_unit_rows(poisoned)
    assert sorted(np.flatnonzero(~good).tolist()) == sorted(bad.tolist())
    ids = np.arange(2000)
    found = kind.build(poisoned[good], ids[good]).search(embeddings[:30], 10)
    wanted, _ = brute_force(embeddings[good], ids[good], embeddings[:30], 10)
    assert share_found(found.ids, wanted) >= (1 if kind.exact else 0.95)


def test_strided_rows_are_fine(kind: Any) -> None:
    wide = np.ascontiguousarray(np.repeat(clustered(100), 2, axis=1))[:, ::2]
    found = kind.build(wide, np.arange(100)).search(wide[:3], 1)
    np.testing.assert_allclose(found.scores, 1, atol=1e-5)
