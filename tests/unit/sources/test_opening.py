from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import zstandard

from recsys.errors import MissingExtra, UnreadableInput
from recsys.sources.base import peek
from recsys.sources.opening import expand, open_stream


def content(path: Path) -> bytes:
    with open_stream(str(path)) as (stream, _):
        return stream.read()


def until_damage(path: Path) -> tuple[bytes, str]:
    read = b""
    try:
        with open_stream(str(path)) as (stream, _):
            while chunk := stream.read1(1000):
                read += chunk
    except UnreadableInput as error:
        return read, error.message
    return read, ""


def test_paths_are_expanded_in_order(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.xml.gz", "notes.txt", "deep/c.CSV", "deep/d.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [str(tmp_path / name) for name in ("a.xml.gz", "b.jsonl", "deep/c.CSV", "deep/d.parquet")]
    assert expand([str(tmp_path)]) == found
    assert expand([str(tmp_path / "*.jsonl"), "-", str(tmp_path / "notes.txt")]) == [
        str(tmp_path / "b.jsonl"),
        "-",
        str(tmp_path / "notes.txt"),
    ]
    assert expand([str(tmp_path / "**/*.parquet")]) == [found[-1]]


@pytest.mark.parametrize("path", ["absent.jsonl", "absent*.jsonl", "empty"])
def test_nothing_there(tmp_path: Path, path: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableInput, match=path.replace("*", r"\*")):
        expand([str(tmp_path / path)])
    with pytest.raises(UnreadableInput, match="nothing to read"):
        expand([])


@pytest.mark.parametrize("cut", [20, 1000, 20_000])
def test_a_cut_gzip_gives_what_came_before(tmp_path: Path, cut: int) -> None:
    whole = os.urandom(30_000).hex().encode()
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(whole)[:cut])
    read, message = until_damage(path)
    assert whole.startswith(read)
    assert len(read) > 1.5 * cut - 1000
    assert "cut or damaged" in message


def test_damage_inside(tmp_path: Path) -> None:
    checked = zstandard.ZstdCompressor(write_checksum=True)
    for packed in (gzip.compress(os.urandom(9000)), checked.compress(os.urandom(9000))):
        path = tmp_path / "x"
        path.write_bytes(packed[:4000] + b"\xff" * 300 + packed[4300:])
        _, message = until_damage(path)
        assert str(path) in message
    path.write_bytes(b"\x1f\x8bnot gzip")
    assert until_damage(path)[1]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_bomb_is_stopped(tmp_path: Path, pack: object) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(pack(bytes(64 << 20)))  # type: ignore[operator]
    read, message = until_damage_size(path)
    assert "a bomb?" in message
    assert read < 32 << 20


def until_damage_size(path: Path) -> tuple[int, str]:
    size = 0
    try:
        with open_stream(str(path)) as (stream, _):
            while chunk := stream.read1(1 << 20):
                size += len(chunk)
    except UnreadableInput as error:
        return size, error.message
    return size, ""


def test_a_zip_bomb_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.json", bytes(64 << 20))
    assert "a bomb?" in until_damage_size(path)[1]


def test_zips_without_a_metadata_file(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.exe", b"MZ")
    with pytest.raises(UnreadableInput, match="no metadata file"):
        content(path)
    path.write_bytes(b"PK\x03\x04 damaged")
    with pytest.raises(UnreadableInput):
        content(path)


def test_a_zip_from_a_pipe_names_the_way_out(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("x.json", b"{}")
    command = [sys.executable, "-m", "recsys", "ingest", "-", "--index", str(tmp_path / "index")]
    child = subprocess.run(command, input=packed.getvalue(), capture_output=True, check=False)
    assert child.returncode == 1
    assert b"give its path" in child.stderr or b"from a pipe" in child.stderr
    assert b"Traceback" not in child.stderr


def test_zstandard_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.zst").write_bytes(zstandard.compress(b"{}"))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra) as caught:
        content(tmp_path / "x.zst")
    assert caught.value.hint == "pip install 'recsys-arxiv[zstd]'"


def test_a_folder_or_an_unreadable_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="cannot open"):
        content(tmp_path)


def test_lines_that_end_with_a_carriage_return_alone(tmp_path: Path) -> None:
    path = tmp_path / "old-mac.jsonl"
    path.write_bytes(b'{"a": 1}\r{"b": 2}\r')
    assert content(path) == b'{"a": 1}\n{"b": 2}\n'


def test_the_head_stays_in_the_stream(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"x" * 100_000))
    with open_stream(str(path)) as (stream, filename):
        assert len(peek(stream)) == 65_536
        assert len(stream.read()) == 100_000
        assert filename == "x"
    assert peek(io.BytesIO(b"abc")) == b""
