from __future__ import annotations

import numpy as np
import pytest

from recsys.encoders import choosing
from recsys.encoders.base import FP32, EncoderSettings
from recsys.encoders.choosing import Choice, choose, overlap
from recsys.encoders.loading import encoder_class


def test_overlap_is_the_share_of_the_same_neighbours() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((60, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    turned = vectors @ np.linalg.qr(rng.standard_normal((8, 8)))[0].astype(np.float32)
    assert overlap(vectors, turned) == 1.0
    other = vectors[rng.permutation(60)]
    plain = []
    for row in range(60):
        near = [set(np.argsort(-(of @ of[row]))[:21].tolist()) - {row} for of in (vectors, other)]
        plain.append(len(near[0] & near[1]) / 20)
    assert overlap(vectors, other) == pytest.approx(np.mean(plain))
    assert overlap(vectors[:1], other[:1]) == 1.0


@pytest.mark.parametrize(
    ("speedup", "found", "good"), [(2.0, 0.995, True), (2.0, 0.98, False), (1.05, 1.0, False), (1.1, 0.99, True)]
)
def test_a_precision_must_be_faster_and_true(speedup: float, found: float, good: bool) -> None:
    assert Choice("openvino bf16", speedup, found).is_good is good


def test_the_fastest_true_precision_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = EncoderSettings("minilm", "cpu")
    texts = [f"Paper {number} about {'graphs' if number % 2 else 'stars'} number {number * 7}" for number in range(64)]
    settings, tried = choose(asked, texts)
    can = encoder_class("minilm").precisions(asked)
    assert len(tried) <= len(can)
    good = {choice.arithmetic.split()[1]: choice.speedup for choice in tried if choice.is_good}
    assert settings.precision == max(good, key=good.__getitem__, default=FP32)
    monkeypatch.setattr(choosing, "TRUE", 1.1)
    assert choose(asked, texts)[0].precision == FP32


def test_an_encoder_of_one_precision_has_no_choice() -> None:
    settings, tried = choose(EncoderSettings("hashing"), ["one text", "another text"])
    assert (settings.precision, tried) == (FP32, [])
