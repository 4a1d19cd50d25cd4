from __future__ import annotations

from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt
import pytest

from recsys.errors import IndexDamaged
from recsys.search.faiss_index import FaissSearch
from recsys.search.flat import FlatSearch
from recsys.search.hnsw import HnswSearch
from recsys.search.ivf import IvfSearch
from tests.overlap import share_found

Matrix = npt.NDArray[np.float32]
KINDS = [FlatSearch, IvfSearch, HnswSearch]


def save(index: FaissSearch, path: Path) -> None:
    with path.open("wb") as stream:
        index.save(stream)


def unit_rows(n: int, dim: int, seed: int = 0) -> Matrix:
    rows = np.random.default_rng(seed).normal(size=(n, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("queries", [1, 19, 20, 64, 300])
@pytest.mark.parametrize(("n", "dim"), [(101, 48), (1000, 384), (4099, 384)])
def test_equal_vectors_come_in_id_order_whatever_blas_makes_of_them(n: int, dim: int, queries: int) -> None:
    random = np.random.default_rng(n)
    embeddings, ids = unit_rows(n, dim), random.permutation(n).astype(np.int64)
    equal = random.choice(n, 50, replace=False)
    embeddings[equal] = embeddings[equal[0]]
    found = FlatSearch.build(embeddings, ids).search(np.repeat(embeddings[equal[:1]], queries, axis=0), 30)
    np.testing.assert_array_equal(found.ids, np.tile(np.sort(ids[equal])[:30], (queries, 1)))
    assert (found.scores == found.scores[0, 0]).all()


def test_scores_that_differ_by_less_than_float32_errs_are_put_right() -> None:
    random = np.random.default_rng(0)
    base = unit_rows(1, 384)[0]
    embeddings = base + (1e-6 * random.normal(size=(400, 384))).astype(np.float32)
    embeddings[200:] = unit_rows(200, 384, seed=1)
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    queries = np.concatenate([base[None], unit_rows(40, 384, seed=2)])
    found = FlatSearch.build(embeddings, np.arange(400)).search(queries, 100)
    true = (queries[:1].astype(np.float64) @ embeddings.T.astype(np.float64)).astype(np.float32)[0]
    wanted = np.lexsort((np.arange(400), -true))[:100]
    np.testing.assert_array_equal(found.ids[0], wanted)
    np.testing.assert_array_equal(found.scores[0], true[wanted])


def test_only_the_queries_with_a_tie_are_searched_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    embeddings = unit_rows(2000, 32)
    embeddings[:100] = embeddings[0]
    index = FlatSearch.build(embeddings, np.arange(2000))
    asked: list[tuple[int, int]] = []
    search = index._index.search

    def count(queries: Matrix, width: int) -> Any:
        asked.append((len(queries), width))
        return search(queries, width)

    monkeypatch.setattr(index._index, "search", count)
    found = index.search(embeddings[98:108], 10)
    assert asked == [(10, 26), (2, 104)]
    assert found.ids[1].tolist() == list(range(10))
    assert found.ids[2, 0] == 100


@pytest.mark.parametrize(
    ("n", "cells", "probed"), [(0, 1, 1), (5, 1, 1), (780, 20, 16), (10_000, 256, 32), (1_000_000, 4000, 500)]
)
def test_ivf_cells_fit_the_vectors(n: int, cells: int, probed: int) -> None:
    index: Any = faiss.index_factory(8, IvfSearch.factory(n), faiss.METRIC_INNER_PRODUCT)
    IvfSearch.tune(index)
    assert (index.nlist, index.nprobe) == (cells, probed)
    assert n < 39 or n / cells >= 39


def test_training_on_few_vectors_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    IvfSearch.build(unit_rows(5, 8), np.arange(5))
    assert capfd.readouterr() == ("", "")


def test_hnsw_parameters_are_set_again_after_loading(tmp_path: Path) -> None:
    save(HnswSearch.build(unit_rows(50, 8), np.arange(50)), tmp_path / "x.faiss")
    loaded = HnswSearch.load(tmp_path / "x.faiss")  # named, as it owns what is looked at
    graph = faiss.downcast_index(loaded._index.index).hnsw
    assert (graph.efConstruction, graph.efSearch, graph.nb_neighbors(1)) == (200, 128, 32)
    assert [HnswSearch.effort(k).efSearch for k in (1, 64, 65, 500)] == [128, 128, 130, 1000]


def test_a_long_list_widens_the_beam() -> None:
    embeddings = unit_rows(3000, 96)
    index = HnswSearch.build(embeddings, np.arange(3000))
    found = index.search(embeddings[:100], 130)
    wanted = np.argsort(-(embeddings[:100] @ embeddings.T), axis=1)[:, :130]
    narrow = index._index.search(embeddings[:100], 130)[1]
    assert share_found(found.ids, wanted) > share_found(narrow, wanted)
    assert (found.ids >= 0).all()


def test_the_file_does_not_decide_how_much_is_probed(tmp_path: Path) -> None:
    path = tmp_path / "x.faiss"
    index = IvfSearch.build(unit_rows(2000, 8), np.arange(2000))
    faiss.downcast_index(index._index.index).nprobe = 1
    save(index, path)
    loaded = IvfSearch.load(path)
    assert faiss.downcast_index(loaded._index.index).nprobe == 16


def foreign(name: str) -> Any:
    """Files that FAISS opens gladly, and that are none of ours."""
    rows = unit_rows(50, 8)
    if name == "rotated":
        index = faiss.IndexPreTransform(faiss.RandomRotationMatrix(8, 8), faiss.IndexFlatIP(8))
        index.train(rows)
    elif name == "plain map":
        index = faiss.IndexIDMap(faiss.IndexFlatIP(8))
    else:
        index = faiss.index_factory(8, f"IDMap2,{name}", faiss.METRIC_L2)
        index.metric_type = faiss.METRIC_INNER_PRODUCT  # of the map only: inside it stays L2
        index.train(rows)
    return index


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (FlatSearch, "rotated"),
        (FlatSearch, "plain map"),
        (FlatSearch, "Flat"),
        (FlatSearch, "SQ8"),
        (IvfSearch, "IVF1,Flat"),
        (IvfSearch, "IVF1,SQ8"),
        (HnswSearch, "HNSW32"),
        (HnswSearch, "HNSW32,SQ8"),
    ],
)
def test_only_our_own_layout_is_taken(kind: type[FaissSearch], name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.faiss"
    faiss.write_index(foreign(name), str(path))
    with pytest.raises(IndexDamaged, match=rf"x\.faiss holds .* not IndexIDMap2 of {kind.index_class}"):
        kind.load(path)


@pytest.mark.parametrize("kind", KINDS)
def test_an_absent_file_and_a_folder_are_damage(kind: type[FaissSearch], tmp_path: Path) -> None:
    for path in (tmp_path / "absent.faiss", tmp_path):
        with pytest.raises(IndexDamaged, match="is not a search file"):
            kind.load(path)


@pytest.mark.parametrize("kind", KINDS)
def test_any_bytes_load_or_are_damage(kind: type[FaissSearch], tmp_path: Path) -> None:
    path = tmp_path / "x.faiss"
    save(kind.build(unit_rows(60, 8), np.arange(60)), path)
    good, random, refused = path.read_bytes(), np.random.default_rng(3), 0
    for attempt in range(200):
        bad = bytearray(good if attempt % 2 else good[: random.integers(len(good))])
        for place in random.integers(min(len(bad), 200) or 1, size=3 if bad else 0):
            bad[place] = random.integers(256)
        path.write_bytes(bad)
        try:
            kind.load(path)
        except IndexDamaged:
            refused += 1
    assert refused >= 100  # every truncated one


def test_the_limits_of_the_process_are_put_back(tmp_path: Path) -> None:
    path = tmp_path / "x.faiss"
    save(FlatSearch.build(unit_rows(5, 8), np.arange(5)), path)
    before = faiss.get_deserialization_vector_byte_limit(), faiss.get_deserialization_loop_limit()
    FlatSearch.load(path)
    path.write_bytes(b"garbage")
    with pytest.raises(IndexDamaged):
        FlatSearch.load(path)
    assert (faiss.get_deserialization_vector_byte_limit(), faiss.get_deserialization_loop_limit()) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_is_an_error(kind: type[FaissSearch]) -> None:
    with pytest.raises(OSError, match="No space left"):
        save(kind.build(unit_rows(60, 8), np.arange(60)), Path("/dev/full"))


def test_kinds_must_say_how_they_are_built() -> None:
    with pytest.raises(NotImplementedError):
        FaissSearch.factory(1)
    with pytest.raises(NotImplementedError):
        FaissSearch.tune(None)
