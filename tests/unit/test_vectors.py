from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from recsys.errors import IndexDamaged
from recsys.vectors import finite_unit_rows, read_shard, sweep, write_shard


@pytest.fixture
def unit() -> npt.NDArray[np.float32]:
    rows = np.random.default_rng(0).normal(size=(50, 384))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_what_is_read_is_what_was_written(tmp_path: Path, unit: npt.NDArray[np.float32]) -> None:
    sha256 = write_shard(tmp_path, unit)
    vectors = read_shard(tmp_path, sha256, rows=50, dim=384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, unit, atol=2e-4)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(vectors @ vectors.T, unit @ unit.T, atol=5e-5)
    assert (tmp_path / f"{sha256}.npy").stat().st_size < 50 * 384 * 2 + 256


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, 1.1])
def test_bad_rows_are_never_written(tmp_path: Path, unit: npt.NDArray[np.float32], value: float) -> None:
    unit[7] = unit[7] * value if value else 0
    assert np.flatnonzero(~finite_unit_rows(unit)).tolist() == [7]
    with pytest.raises(ValueError, match="row 7 is not finite"):
        write_shard(tmp_path, unit)
    assert list(tmp_path.iterdir()) == []


def test_damage_is_found(tmp_path: Path, unit: npt.NDArray[np.float32]) -> None:
    sha256 = write_shard(tmp_path, unit)
    path = tmp_path / f"{sha256}.npy"
    content = path.read_bytes()
    for damaged in (content[:-1], content + b"x", content[:300] + b"\0\0" + content[302:], b""):
        path.write_bytes(damaged)
        with pytest.raises(IndexDamaged, match=sha256):
            read_shard(tmp_path, sha256, rows=50, dim=384)
    path.write_bytes(content)
    with pytest.raises(IndexDamaged, match=r"\(50, 384\) float16, the index says \(51, 384\)"):
        read_shard(tmp_path, sha256, rows=51, dim=384)


def test_sweep(tmp_path: Path, unit: npt.NDArray[np.float32]) -> None:
    kept, dropped = write_shard(tmp_path, unit), write_shard(tmp_path, unit[:10])
    assert sweep(tmp_path, {kept}) == [f"{dropped}.npy"]
    assert [path.stem for path in tmp_path.iterdir()] == [kept]
