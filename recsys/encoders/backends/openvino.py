"""BERT in OpenVINO: the fastest on x86 CPUs, the more so in bfloat16 where the CPU computes it.

The graph is made here from the safetensors, operation by operation, so that neither torch nor a converter is needed.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from recsys.encoders.backends.bert import BertBackend
from recsys.encoders.base import FP32, EncoderSettings
from recsys.encoders.batching import Batch
from recsys.encoders.bert import Bert
from recsys.errors import EncoderUnavailable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_NEEDS = {"bf16": "BF16", "int8": "INT8"}
"""What OpenVINO must say that the CPU can do, for each precision beside fp32."""

_CLOSED = -1e9
"""Added to the attention paid to padding."""


class OpenVinoBackend(BertBackend):
    """A BERT compiled for this CPU."""

    precisions: ClassVar[tuple[str, ...]] = (FP32, "bf16", "int8")

    @classmethod
    def fits(cls, folder: Path) -> bool:
        """See `Backend.fits`."""
        return find_spec("openvino") is not None and super().fits(folder)

    def __init__(self, folder: Path, settings: EncoderSettings, precision: str) -> None:
        super().__init__(folder, settings, precision)
        try:
            import openvino
        except ImportError as error:
            raise EncoderUnavailable("OpenVINO is not installed", "pip install 'recsys-arxiv[fast]'") from error
        able = openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if _NEEDS.get(precision, "FP32") not in able:
            raise EncoderUnavailable(f"this CPU does not compute {precision}", "use --precision fp32")
        options = {"INFERENCE_PRECISION_HINT": "f32" if precision == FP32 or "BF16" not in able else "bf16"}
        if precision == "int8":  # each token's states are rounded by their own largest value, whatever is beside it
            options["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = str(self.dim)
        graph = (_Int8Graph if precision == "int8" else _Graph)(self._bert)
        self._compiled = openvino.Core().compile_model(graph.model(), "CPU", options)

    def forward(self, batch: Batch) -> npt.NDArray[np.float32]:
        """See `Backend.forward`."""
        import numpy as np

        found = self._compiled([batch.ids.astype(np.int32), batch.mask.astype(np.float32)])
        vectors: npt.NDArray[np.float32] = found[0]
        return vectors


class _Graph:
    """The operations of a BERT: token ids (b, l) int32 and mask (b, l) float32 -> vectors (b, dim) float32."""

    def __init__(self, bert: Bert) -> None:
        from openvino import opset13

        self._bert = bert
        self._ops: Any = opset13

    def model(self) -> Any:  # noqa: ANN401 - openvino has no types
        import openvino

        ops = self._ops
        ids = ops.parameter([-1, -1], openvino.Type.i32, name="ids")
        mask = ops.parameter([-1, -1], openvino.Type.f32, name="mask")
        closed = ops.multiply(ops.subtract(mask, self._number(1.0)), self._number(-_CLOSED))
        closed = ops.unsqueeze(closed, self._whole([1, 2]))
        states = self._embedded(ids)
        for layer in range(self._bert.layers):
            states = self._layer(states, closed, f"encoder.layer.{layer}")
        return openvino.Model([ops.result(self._pooled(states, mask))], [ids, mask], "bert")

    def _embedded(self, ids: Any) -> Any:  # noqa: ANN401
        ops, weights = self._ops, self._bert.weights
        words = ops.gather(self._weight("embeddings.word_embeddings.weight"), ids, self._whole(0))
        places = (
            weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        )
        width = ops.gather(ops.shape_of(ids), self._whole([1]), self._whole(0))
        first = ops.slice(ops.constant(places), self._whole([0]), width, self._whole([1]), self._whole([0]))
        return self._normalized(ops.add(words, first), "embeddings.LayerNorm")

    def _layer(self, states: Any, closed: Any, name: str) -> Any:  # noqa: ANN401
        ops = self._ops
        attended = self._attention(states, closed, f"{name}.attention.self")
        states = ops.add(states, self._dense(attended, f"{name}.attention.output.dense"))
        states = self._normalized(states, f"{name}.attention.output.LayerNorm")
        inner = ops.gelu(self._dense(states, f"{name}.intermediate.dense"), "erf")
        states = ops.add(states, self._dense(inner, f"{name}.output.dense"))
        return self._normalized(states, f"{name}.output.LayerNorm")

    def _attention(self, states: Any, closed: Any, name: str) -> Any:  # noqa: ANN401
        ops, bert = self._ops, self._bert
        shape, order = self._whole([0, 0, bert.heads, bert.dim // bert.heads]), self._whole([0, 2, 1, 3])
        query, key, value = (
            ops.transpose(ops.reshape(self._dense(states, f"{name}.{role}"), shape, True), order)
            for role in ("query", "key", "value")
        )
        attended = ops.scaled_dot_product_attention(query, key, value, closed, causal=False)
        return ops.reshape(ops.transpose(attended, order), self._whole([0, 0, bert.dim]), True)

    def _pooled(self, states: Any, mask: Any) -> Any:  # noqa: ANN401
        ops = self._ops
        if self._bert.pooling == "cls":
            return ops.gather(states, self._whole(0), self._whole(1))
        open_ = ops.unsqueeze(mask, self._whole(2))
        total = ops.reduce_sum(ops.multiply(states, open_), self._whole(1), False)
        return ops.divide(total, ops.reduce_sum(open_, self._whole(1), False))

    def _dense(self, states: Any, name: str) -> Any:  # noqa: ANN401
        ops = self._ops
        product = ops.matmul(states, self._matrix(f"{name}.weight"), False, True)
        return ops.add(product, self._weight(f"{name}.bias"))

    def _normalized(self, states: Any, name: str) -> Any:  # noqa: ANN401
        ops = self._ops
        unit = ops.mvn(states, self._whole([-1]), True, self._bert.epsilon, "inside_sqrt")
        return ops.add(ops.multiply(unit, self._weight(f"{name}.weight")), self._weight(f"{name}.bias"))

    def _matrix(self, name: str) -> Any:  # noqa: ANN401
        return self._weight(name)

    def _weight(self, name: str) -> Any:  # noqa: ANN401
        return self._ops.constant(self._bert.weights[name])

    def _number(self, value: float) -> Any:  # noqa: ANN401
        import numpy as np

        return self._ops.constant(np.float32(value))

    def _whole(self, value: int | list[int]) -> Any:  # noqa: ANN401
        import numpy as np

        return self._ops.constant(np.array(value, dtype=np.int64))


class _Int8Graph(_Graph):
    """The same with the matrices of the layers rounded to 8 bits, each row by its own largest value."""

    def _matrix(self, name: str) -> Any:  # noqa: ANN401
        import numpy as np

        ops, matrix = self._ops, self._bert.weights[name]
        scale = np.abs(matrix).max(axis=1, keepdims=True) / np.float32(np.iinfo(np.int8).max)
        rounded = ops.constant(np.round(matrix / scale).astype(np.int8))
        return ops.multiply(ops.convert(rounded, "f32"), ops.constant(scale))
