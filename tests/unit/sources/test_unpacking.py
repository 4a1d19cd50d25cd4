from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import zstandard

from recsys.errors import UnreadableInput
from recsys.sources.opening import expand, open_stream

TEXT = b"".join(b'{"id": "%d", "title": "%x"}\n' % (n, n * 7_919) for n in range(20_000))


def unpack(path: Path) -> tuple[bytes, str]:
    """What could be read, and what was then said of the rest."""
    read = b""
    try:
        with open_stream(str(path)) as (stream, _):
            while chunk := stream.read1(1 << 16):
                read += chunk
    except UnreadableInput as error:
        return read, error.message
    return read, ""


def zipped(content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("x.json", content)
    return out.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bz2": partial(bz2.compress, compresslevel=1),  # blocks of 100 kB: nothing of a cut block can be read
    "xz": lzma.compress,
    "zstd": zstandard.compress,
    "zip": zipped,
}


def test_a_large_zip_is_no_bomb(tmp_path: Path) -> None:
    """Compressed bytes of a zip are read past the counter of the others: its own size is what counts."""
    path = tmp_path / "snapshot.zip"
    content = TEXT * 40
    path.write_bytes(zipped(content, zipfile.ZIP_STORED))
    assert len(content) > 25_000_000
    assert unpack(path) == (content, "")


@pytest.mark.parametrize("packing", ["gzip", "bz2", "xz", "zstd"])
def test_what_comes_before_a_cut_is_read_and_the_cut_is_told(tmp_path: Path, packing: str) -> None:
    packed = PACKERS[packing](TEXT)
    path = tmp_path / "cut"
    path.write_bytes(packed[: len(packed) * 9 // 10])
    read, message = unpack(path)
    assert TEXT.startswith(read)
    assert len(read) > len(TEXT) // 2
    assert f"{path} is cut or damaged after {len(read):,} bytes" in message


def test_zstandard_frames_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "frames.zst"
    path.write_bytes(zstandard.compress(TEXT) + zstandard.compress(b"") + zstandard.compress(b"the end"))
    assert unpack(path) == (TEXT + b"the end", "")
    path.write_bytes(zstandard.compress(TEXT) + b"no frame")
    read, message = unpack(path)
    assert read == TEXT
    assert "cut or damaged" in message


def test_a_wrong_checksum_is_damage_not_padding(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[-6] ^= 0xFF
    path = tmp_path / "x.gz"
    path.write_bytes(packed)
    read, message = unpack(path)
    assert read == TEXT
    assert "CRC check failed" in message


@pytest.mark.parametrize(("local", "central", "value"), [(6, 8, 1), (8, 10, 99)], ids=["encrypted", "method"])
def test_zips_that_cannot_be_unpacked(tmp_path: Path, local: int, central: int, value: int) -> None:
    packed = bytearray(zipped(TEXT))
    packed[local] = packed[packed.find(b"PK\x01\x02") + central] = value
    path = tmp_path / "x.zip"
    path.write_bytes(packed)
    assert "cannot be unpacked" in unpack(path)[1]


@pytest.mark.parametrize("packing", PACKERS)
def test_damage_anywhere_is_one_line(tmp_path: Path, packing: str) -> None:
    chance = random.Random(7)
    packed = PACKERS[packing](TEXT[:20_000])
    path = tmp_path / "x"
    for _ in range(150):
        damaged = bytearray(packed)
        for _ in range(chance.randint(1, 3)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged[: chance.choice((len(damaged), chance.randrange(1, len(damaged))))])
        read, message = unpack(path)
        assert read or message


def test_paths_that_the_system_refuses() -> None:
    with pytest.raises(UnreadableInput, match="cannot open x"):
        expand(["x" * 5_000])
