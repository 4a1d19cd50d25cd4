from __future__ import annotations

import stat
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import pytest

from recsys.errors import IndexDamaged
from recsys.files import hash_of, publish, replacing, sweep, verified


def test_a_published_file_is_named_by_its_content(tmp_path: Path) -> None:
    name = publish(tmp_path / "new", ".bin", lambda stream: stream.write(b"abc") and None)
    assert name == sha256(b"abc").hexdigest()
    assert (tmp_path / "new" / f"{name}.bin").read_bytes() == b"abc"
    assert hash_of(verified(tmp_path / "new", name, ".bin", "recsys update")) == name
    assert publish(tmp_path / "new", ".bin", lambda stream: stream.write(b"abc") and None) == name
    assert len(list((tmp_path / "new").iterdir())) == 1


def test_a_failed_publication_leaves_nothing(tmp_path: Path) -> None:
    def fail(stream: BinaryIO) -> None:
        stream.write(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        publish(tmp_path, ".bin", fail)
    assert list(tmp_path.iterdir()) == []


def test_damage_is_named(tmp_path: Path) -> None:
    name = publish(tmp_path, ".bin", lambda stream: stream.write(b"abc") and None)
    (tmp_path / f"{name}.bin").write_bytes(b"abd")
    with pytest.raises(IndexDamaged, match="not the file that was published") as caught:
        verified(tmp_path, name, ".bin", "recsys update")
    assert caught.value.hint == "recsys update"
    (tmp_path / f"{name}.bin").unlink()
    with pytest.raises(IndexDamaged, match="No such file"):
        verified(tmp_path, name, ".bin", "recsys update")


def test_sweep_keeps_what_is_referenced_and_what_is_foreign(tmp_path: Path) -> None:
    for name in ("keep.bin", "drop.bin", ".tmp-1.bin", "notes.txt"):
        (tmp_path / name).touch()
    assert sweep(tmp_path, {"keep"}, ".bin") == [".tmp-1.bin", "drop.bin"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["keep.bin", "notes.txt"]
    assert sweep(tmp_path / "absent", set(), ".bin") == []


def test_replacing_is_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    with replacing(path) as stream:
        stream.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [found.name for found in tmp_path.iterdir()] == ["out.txt"]
    assert stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600
