"""BERT in NumPy: starts in a fraction of a second where torch takes many, for one query at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys.encoders.backends.bert import BertBackend
from recsys.encoders.batching import Batch

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_CLOSED = -1e9
"""Added to the attention paid to padding."""


class NumpyBackend(BertBackend):
    """A BERT by matrix products alone (Devlin et al. 2019), in float32."""

    def forward(self, batch: Batch) -> npt.NDArray[np.float32]:
        """See `Backend.forward`."""
        import numpy as np

        weights, mask = self._bert.weights, batch.mask.astype(np.float32)
        states = weights["embeddings.word_embeddings.weight"][batch.ids]
        states += weights["embeddings.position_embeddings.weight"][: batch.ids.shape[1]]
        states += weights["embeddings.token_type_embeddings.weight"][0]
        states = self._normalized(states, "embeddings.LayerNorm")
        closed = ((1 - mask) * np.float32(_CLOSED))[:, None, None, :]
        for layer in range(self._bert.layers):
            states = self._layer(states, closed, f"encoder.layer.{layer}")
        if self._bert.pooling == "cls":
            return np.ascontiguousarray(states[:, 0])
        pooled: npt.NDArray[np.float32] = np.einsum("bld,bl->bd", states, mask) / mask.sum(axis=1, keepdims=True)
        return pooled

    def _layer(
        self, states: npt.NDArray[np.float32], closed: npt.NDArray[np.float32], name: str
    ) -> npt.NDArray[np.float32]:
        from scipy.special import erf

        attended = self._attention(states, closed, f"{name}.attention.self")
        states = states + self._dense(attended, f"{name}.attention.output.dense")
        states = self._normalized(states, f"{name}.attention.output.LayerNorm")
        inner = self._dense(states, f"{name}.intermediate.dense")
        inner *= (1 + erf(inner * 0.5**0.5)) / 2  # GELU, Hendrycks & Gimpel 2016
        return self._normalized(states + self._dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _attention(
        self, states: npt.NDArray[np.float32], closed: npt.NDArray[np.float32], name: str
    ) -> npt.NDArray[np.float32]:
        import numpy as np

        b, width, dim = states.shape
        heads, size = self._bert.heads, dim // self._bert.heads
        query, key, value = (
            self._dense(states, f"{name}.{role}").reshape(b, width, heads, size).transpose(0, 2, 1, 3)
            for role in ("query", "key", "value")
        )
        paid = query @ key.swapaxes(2, 3) * np.float32(size**-0.5) + closed
        paid = np.exp(paid - paid.max(axis=-1, keepdims=True))
        paid /= paid.sum(axis=-1, keepdims=True)
        attended: npt.NDArray[np.float32] = (paid @ value).transpose(0, 2, 1, 3).reshape(b, width, dim)
        return attended

    def _dense(self, states: npt.NDArray[np.float32], name: str) -> npt.NDArray[np.float32]:
        weights = self._bert.weights
        out: npt.NDArray[np.float32] = states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
        return out

    def _normalized(self, states: npt.NDArray[np.float32], name: str) -> npt.NDArray[np.float32]:
        import numpy as np

        weights = self._bert.weights
        centred = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(self._bert.epsilon))
        out: npt.NDArray[np.float32] = centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
        return out
