from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recsys.encoders.batching import STEP, Batch, batches, encode_tokens

TOKENS = st.lists(st.lists(st.integers(1, 9), max_size=70), max_size=40)


def summed(batch: Batch) -> np.ndarray:
    """A model whose vector is that of the tokens' sum and count."""
    return np.stack([(batch.ids * batch.mask).sum(axis=1), batch.mask.sum(axis=1)], axis=1).astype(np.float32)


@given(TOKENS, st.integers(1, 500))
def test_every_text_is_in_one_batch_of_the_budget(tokens: list[list[int]], budget: int) -> None:
    found = list(batches(tokens, budget))
    assert sorted(place for batch in found for place in batch.places) == list(range(len(tokens)))
    widths = [batch.ids.shape[1] for batch in found]
    assert widths == sorted(widths, reverse=True)
    for batch in found:
        assert batch.ids.shape == batch.mask.shape == (len(batch.places), batch.ids.shape[1])
        assert batch.ids.size <= budget or len(batch.places) == 1
        assert batch.ids.shape[1] % STEP == 0
        for place, ids, mask in zip(batch.places, batch.ids, batch.mask, strict=True):
            assert ids[mask == 1].tolist() == tokens[place]


@given(TOKENS, st.integers(1, 500))
def test_vectors_are_in_the_order_of_the_texts(tokens: list[list[int]], budget: int) -> None:
    done: list[int] = []
    vectors = encode_tokens(tokens, summed, 2, budget, done.append)
    raw = np.array([[sum(text), len(text)] for text in tokens], dtype=float).reshape(-1, 2)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(vectors, raw / np.linalg.norm(raw, axis=1, keepdims=True), rtol=1e-6)
    assert sum(done) == len(tokens)
    assert vectors.dtype == np.float32


def test_little_of_a_batch_is_padding() -> None:
    """Lengths as real abstracts have them: 200 tokens, give or take 80."""
    lengths = np.clip(np.random.default_rng(0).normal(200, 80, 1024), 20, 512).astype(int)
    found = list(batches([[1] * int(length) for length in lengths], 2048))
    assert lengths.sum() / sum(batch.ids.size for batch in found) > 0.95
