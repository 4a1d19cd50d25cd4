"""Inner products of blocks of unit vectors: the work of all-pairs lists, in the fastest arithmetic at hand.

No product need be exact, but each says how far it may be off, so that a list made of it can be.
"""

from __future__ import annotations

from importlib.util import find_spec
from threading import local
from typing import TYPE_CHECKING, Any, Protocol

from recsys.encoders.devices import choose_device
from recsys.search.rescore import NEAR

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_FLOAT32_SUM = 1e-5
"""How far the float32 sum of 4,096 products may be off for unit vectors, and what rounding the result adds."""

_WORTH_A_DEVICE = 20_000
"""Rows whose comparison takes the CPU longer than torch takes to start."""


class Product(Protocol):
    """What multiplies blocks of a matrix with each other.

    Attributes:
        name: for reports.
        error: no score is further than this from the true one.
    """

    name: str
    error: float

    def __call__(self, rows: slice, columns: slice) -> npt.NDArray[np.float32]:
        """(r, c) float32 scores of rows with rows; valid until this thread's next call."""
        ...


class NumpyProduct:
    """float32 by the BLAS that NumPy came with; of one matrix, or of one and another whose rows are the columns."""

    name = "numpy fp32"
    error = NEAR

    def __init__(self, embeddings: npt.NDArray[np.float32], others: npt.NDArray[np.float32] | None = None) -> None:
        self._embeddings = embeddings
        self._others = embeddings if others is None else others
        self._own = local()

    def __call__(self, rows: slice, columns: slice) -> npt.NDArray[np.float32]:
        """See `Product`."""
        import numpy as np

        left, right = self._embeddings[rows], self._others[columns]
        out = self._space(len(left) * len(right)).reshape(len(left), len(right))
        return np.matmul(left, right.T, out=out)

    def _space(self, size: int) -> npt.NDArray[np.float32]:
        """Memory used again by the same thread: fresh memory costs more than the product."""
        import numpy as np

        if getattr(self._own, "space", np.empty(0)).size < size:
            self._own.space = np.empty(size, dtype=np.float32)
        space: npt.NDArray[np.float32] = self._own.space[:size]
        return space


class OpenVinoProduct:
    """bfloat16 by OpenVINO, twice as fast as float32 on CPUs that have it.

    Rounding moves a vector x by some d(x), so a score by at most d(x) + d(y) + d(x) d(y); those are measured.
    """

    name = "openvino bf16"

    def __init__(self, embeddings: npt.NDArray[np.float32], threads: int) -> None:
        import openvino
        from openvino import opset13 as ops

        dim = embeddings.shape[1]
        left, right = (ops.parameter([-1, dim], openvino.Type.f32, name=name) for name in ("left", "right"))
        model = openvino.Model([ops.matmul(left, right, False, True)], [left, right], "product")
        options = {
            "INFERENCE_PRECISION_HINT": "bf16",
            "NUM_STREAMS": str(threads),
            "INFERENCE_NUM_THREADS": str(threads),
        }
        self._compiled: Any = openvino.Core().compile_model(model, "CPU", options)
        self._embeddings = embeddings
        self._own = local()
        moved = _moved_by_bfloat16(embeddings)
        self.error = 2 * moved + moved**2 + _FLOAT32_SUM

    def __call__(self, rows: slice, columns: slice) -> npt.NDArray[np.float32]:
        """See `Product`."""
        if not hasattr(self._own, "request"):
            self._own.request = self._compiled.create_infer_request()
        inputs = [self._embeddings[rows], self._embeddings[columns]]
        scores: npt.NDArray[np.float32] = self._own.request.infer(inputs, share_inputs=True, share_outputs=True)[0]
        return scores


class TorchProduct:
    """float32 by torch, on an accelerator: the matrix stays there, scores come back.

    Args:
        embeddings: (n, dim) float32; n x dim x 4 bytes of the device's memory.
        device: as torch calls it.
    """

    error = _FLOAT32_SUM

    def __init__(self, embeddings: npt.NDArray[np.float32], device: str) -> None:
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False  # ten bits of mantissa, where `error` promises more
        self.name = f"torch {device} fp32"
        self._embeddings = torch.from_numpy(embeddings).to(device)

    def __call__(self, rows: slice, columns: slice) -> npt.NDArray[np.float32]:
        """See `Product`."""
        scores: npt.NDArray[np.float32] = (self._embeddings[rows] @ self._embeddings[columns].T).cpu().numpy()
        return scores


def choose_product(embeddings: npt.NDArray[np.float32], threads: int, device: str = "auto") -> Product:
    """Torch on an accelerator; else OpenVINO in bfloat16 where it is installed and the CPU computes that; else NumPy.

    Args:
        embeddings: what is to be multiplied.
        threads: of the CPU.
        device: `cpu`, one that torch knows, or `auto`: an accelerator where there is one and enough to do.

    Raises:
        EncoderUnavailable: no such device here.
    """
    few = device == "auto" and len(embeddings) < _WORTH_A_DEVICE
    on = "cpu" if few else choose_device(device)
    if on != "cpu":
        return TorchProduct(embeddings, on)
    if find_spec("openvino") is not None:
        import openvino

        if "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
            return OpenVinoProduct(embeddings, threads)
    return NumpyProduct(embeddings)


def _moved_by_bfloat16(embeddings: npt.NDArray[np.float32]) -> float:
    """The longest way that rounding to bfloat16 (to nearest) moves a row."""
    import numpy as np

    longest = 0.0
    for start in range(0, len(embeddings), 4096):
        some = np.ascontiguousarray(embeddings[start : start + 4096])
        bits = some.view(np.uint32)
        rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).view(np.float32)
        longest = max(longest, float(np.linalg.norm(some - rounded, axis=1).max()))
    return longest
