from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from recsys import registry
from recsys.encoders.base import Encoder, EncoderSettings, Fingerprint
from recsys.encoders.loading import load_encoder
from recsys.encoders.process import encode_apart

TEXTS = [
    "Robots learn to grasp unknown objects from touch alone.",
    "A robot hand learns grasping of unfamiliar objects by touch.",
    "We measure the mass of a distant galaxy cluster by gravitational lensing.",
    "Colourings of sparse random graphs undergo a sharp threshold.",
]
ALIASES = [name for name in registry.ENCODERS if name != "sentence-transformers"]


@pytest.fixture(scope="module", params=ALIASES)
def encoder(request: pytest.FixtureRequest) -> Encoder:
    return load_encoder(EncoderSettings(request.param, device="cpu"))


def test_unit_rows_in_order(encoder: Encoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (4, encoder.fingerprint.dim)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(encoder.encode(TEXTS[::-1])[::-1], vectors, atol=1e-5)
    assert encoder.encode([]).shape == (0, encoder.fingerprint.dim)


def test_a_text_has_one_vector_whatever_is_beside_it(encoder: Encoder) -> None:
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(encoder.encode([*TEXTS, "filler " * 300])[:4], alone, atol=1e-5)


def test_near_texts_are_nearer_than_far_ones(encoder: Encoder) -> None:
    scores = encoder.encode(TEXTS) @ encoder.encode(TEXTS).T
    assert scores[0, 1] > 0.05 + max(scores[0, 2], scores[0, 3])


def test_queries_live_in_the_same_space(encoder: Encoder) -> None:
    query = encoder.encode_query("touch based grasping robots")
    assert query.shape == (encoder.fingerprint.dim,)
    assert int(np.argmax(encoder.encode(TEXTS) @ query)) in (0, 1)


def test_length_decides_what_is_read(encoder: Encoder) -> None:
    name = encoder.fingerprint.encoder
    short = load_encoder(EncoderSettings(name, device="cpu", max_length=16))
    longer = f"{TEXTS[0]} {TEXTS[2]}"
    other = f"{TEXTS[0]} {TEXTS[3]}"
    assert short.fingerprint.digest != encoder.fingerprint.digest
    assert encoder.encode([longer])[0] @ encoder.encode([other])[0] < 0.99
    tail = " tail" * 60
    np.testing.assert_allclose(
        short.encode([TEXTS[0] * 3 + tail]), short.encode([TEXTS[0] * 3 + tail + " more"]), atol=1e-6
    )


def test_hostile_texts_give_a_vector_or_nan(encoder: Encoder) -> None:
    texts = ["", " ", "\ufffd", "a" * 1_000_000, "$" * 100_000, "\U0001f600" * 500, "]]>\x7f"]
    vectors = encoder.encode(texts)
    norms = np.linalg.norm(vectors, axis=1)
    assert all(np.isnan(norm) or abs(norm - 1) < 1e-5 for norm in norms)


def test_the_fingerprint_survives_json_and_processes(encoder: Encoder) -> None:
    made = encoder.fingerprint
    assert Fingerprint.from_json(made.to_json()) == made
    script = (
        "from recsys.encoders.base import EncoderSettings; from recsys.encoders.loading import load_encoder\n"
        f"print(load_encoder(EncoderSettings({made.encoder!r}, device='cpu')).fingerprint.digest)"
    )
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == made.digest


@pytest.mark.parametrize("query", [True, False])
def test_encoding_apart_gives_the_same_vector(encoder: Encoder, query: bool) -> None:
    here = encoder.encode_query(TEXTS[0]) if query else encoder.encode([TEXTS[0]])[0]
    np.testing.assert_allclose(encode_apart(TEXTS[0], encoder.fingerprint, query=query), here, atol=1e-6)


def test_work_can_be_prepared_ahead(encoder: Encoder) -> None:
    done: list[int] = []
    prepared = encoder.prepare(TEXTS)
    assert len(prepared) == len(TEXTS)
    np.testing.assert_array_equal(encoder.encode_prepared(prepared, done.append), encoder.encode(TEXTS))
    assert sum(done) == len(TEXTS)


@pytest.mark.parametrize("name", ALIASES)
def test_looking_up_needs_no_torch(name: str) -> None:
    script = (
        "import sys; from recsys.encoders.base import EncoderSettings, Fingerprint\n"
        "from recsys.encoders.loading import encoder_class, load_encoder\n"
        f"asked = EncoderSettings({name!r}, 'cpu', 'numpy')\n"
        "assert not encoder_class(asked.encoder).needs_torch(asked)\n"
        "load_encoder(asked).encode_query('touch')\n"
        "print({'torch', 'transformers', 'sentence_transformers', 'openvino'} & set(sys.modules))"
    )
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert child.stdout == "set()\n"
