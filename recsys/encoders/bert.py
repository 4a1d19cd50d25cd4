"""BERT from its safetensors, without torch: what most sentence-transformers models are, all-MiniLM-L6-v2 among them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys.errors import EncoderUnavailable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from recsys.encoders.batching import Tokens

_NEEDED = ("modules.json", "config.json", "tokenizer.json", "model.safetensors")
_PLAIN = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
_STAGES = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
_POOLINGS = {"cls", "mean"}


@dataclass(frozen=True)
class Bert:
    """A folder of sentence-transformers that is a BERT with mean or first-token pooling, and nothing more.

    Attributes:
        folder: where it lies.
        stages: its modules, e.g. `["Transformer", "Pooling", "Normalize"]`.
        pooling: `mean` over the tokens, or `cls`: the first one.
        layers: how many.
        heads: attention heads of a layer.
        dim: vector length; the model's hidden size.
        positions: the most tokens that it can read.
        own_length: tokens that it reads by its own settings.
        epsilon: of its layer norms.
        prompts: by name; put before texts.
    """

    folder: Path
    stages: tuple[str, ...]
    pooling: str
    layers: int
    heads: int
    dim: int
    positions: int
    own_length: int
    epsilon: float
    prompts: dict[str, str]

    @classmethod
    def find(cls, folder: Path) -> Bert | None:
        """The BERT in a model folder that was checked; None where it holds another kind of model."""
        if not all((folder / name).is_file() for name in _NEEDED):
            return None
        config = _json(folder / "config.json")
        stages = [module["type"].rpartition(".")[2] for module in _json(folder / "modules.json")]
        if stages not in _STAGES or any(config.get(key, value) != value for key, value in _PLAIN.items()):
            return None
        pooling = _pooling(_json(folder / "1_Pooling" / "config.json"))
        settings = _json(folder / "config_sentence_transformers.json")
        if pooling not in _POOLINGS or settings.get("default_prompt_name") or "model_type" not in config:
            return None
        return cls(
            folder,
            tuple(stages),
            pooling,
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            dim=config["hidden_size"],
            positions=config["max_position_embeddings"],
            own_length=_json(folder / "sentence_bert_config.json").get("max_seq_length") or 0,
            epsilon=config["layer_norm_eps"],
            prompts={"query": "", "document": ""} | settings.get("prompts", {}),
        )

    @cached_property
    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """Arrays by name, without the prefix that some files have; float32.

        Raises:
            EncoderUnavailable: the file cannot be read.
        """
        import numpy as np
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            arrays = load_file(self.folder / "model.safetensors")
        except (OSError, SafetensorError, KeyError) as error:
            raise EncoderUnavailable(f"cannot load {self.folder}: {error}") from error
        return {name.removeprefix("bert."): array.astype(np.float32, copy=False) for name, array in arrays.items()}

    @property
    def separator(self) -> str:
        """The token that stands between two texts."""
        token = _json(self.folder / "special_tokens_map.json").get("sep_token", "[SEP]")
        return str(token["content"] if isinstance(token, dict) else token)


class BertTokenizer:
    """Texts to the token ids of a BERT.

    Args:
        bert: the model.
        max_length: tokens kept of each text.
    """

    def __init__(self, bert: Bert, max_length: int) -> None:
        from tokenizers import Tokenizer

        try:
            self._whole = Tokenizer.from_file(str(bert.folder / "tokenizer.json"))
            self._cut = Tokenizer.from_file(str(bert.folder / "tokenizer.json"))
        except Exception as error:  # the library raises nothing more special
            raise EncoderUnavailable(f"cannot load {bert.folder}: {error}") from error
        self._whole.no_padding()
        self._whole.no_truncation()
        self._cut.no_padding()
        self._cut.enable_truncation(max_length)

    def tokenize(self, texts: Sequence[str]) -> Tokens:
        """Token ids of each text, cut to the length."""
        return [encoding.ids for encoding in self._cut.encode_batch_fast(list(texts))]

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has, before anything is cut."""
        return [len(encoding.ids) for encoding in self._whole.encode_batch_fast(list(texts))]


def _pooling(config: dict[str, Any]) -> str:
    """The one way in which tokens are pooled; empty where there are several, or none."""
    if "pooling_mode" in config:
        return str(config["pooling_mode"])
    modes = [key for key, on in config.items() if key.startswith("pooling_mode_") and on is True]
    return modes[0].removeprefix("pooling_mode_").split("_")[0] if len(modes) == 1 and "sqrt" not in modes[0] else ""


def _json(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
