"""The weights of an encoder of the BERT family, with the names of Hugging Face."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError

Weights = NDArray[np.float32]

WORDS = "embeddings.word_embeddings.weight"
PLACES = "embeddings.position_embeddings.weight"
TYPES = "embeddings.token_type_embeddings.weight"
LAYER = "encoder.layer.{}."
LINEAR = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


@dataclass(frozen=True, kw_only=True, eq=False)
class EncoderWeights:
    """The embeddings and the layers of an encoder."""

    # layers, heads: the numbers of layers and heads; a head has width / heads dimensions
    layers: int
    heads: int
    epsilon: float  # of the layer norms
    arrays: Mapping[str, Weights]

    def __post_init__(self) -> None:
        for name, shape in self._shapes().items():
            found = self.arrays.get(name)
            if found is None or found.shape != shape:
                raise RequestError(
                    f"the encoder's weights lack {name} of shape {shape}", instead=BERT_ONLY
                )

    @property
    def width(self) -> int:
        """The number of dimensions of a vector."""
        return int(self.arrays[WORDS].shape[1])

    @property
    def places(self) -> int:
        """The most word pieces that the encoder can read at once."""
        return len(self.arrays[PLACES])

    @property
    def pieces(self) -> int:
        """The number of word pieces that have a vector."""
        return len(self.arrays[WORDS])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        words, places = self.arrays.get(WORDS), self.arrays.get(PLACES)
        inner = self.arrays.get(LAYER.format(0) + "intermediate.dense.weight")
        if words is None or places is None or inner is None or words.ndim != 2:
            raise RequestError("these are not the weights of a BERT encoder", instead=BERT_ONLY)
        width, wide = words.shape[1], len(inner)
        if not self.heads or width % self.heads:
            raise RequestError(
                f"{width} numbers cannot be split into {self.heads} heads", instead=BERT_ONLY
            )
        shapes: dict[str, tuple[int, ...]] = {PLACES: (len(places), width)}
        norms = ["embeddings.LayerNorm"]
        for number in range(self.layers):
            layer = LAYER.format(number)
            norms += [layer + name for name in NORMS]
            for name in LINEAR:
                out = wide if name.startswith("intermediate") else width
                into = wide if name == "output.dense" else width
                shapes |= {f"{layer}{name}.weight": (out, into), f"{layer}{name}.bias": (out,)}
        for norm in norms:
            shapes |= {f"{norm}.weight": (width,), f"{norm}.bias": (width,)}
        return shapes


BERT_ONLY = "give a BERT encoder with absolute positions, for instance multilingual-e5-small"


def weights_of(config: Mapping[str, Any], arrays: Mapping[str, Weights]) -> EncoderWeights:
    """Return the weights that a `config.json` describes.

    Raises
    ------
    RequestError : the encoder has another architecture, or weights are absent.
    """
    kind = config.get("model_type")
    positions = config.get("position_embedding_type", "absolute")
    if kind != "bert" or positions != "absolute" or config.get("hidden_act", "gelu") != "gelu":
        raise RequestError(
            f"the encoder is of architecture {kind}, and the reader needs bert with absolute "
            "positions and gelu",
            instead=BERT_ONLY,
        )
    try:
        layers, heads = int(config["num_hidden_layers"]), int(config["num_attention_heads"])
        epsilon = float(config.get("layer_norm_eps", 1e-12))
    except (KeyError, TypeError, ValueError):
        raise RequestError(
            "config.json lacks num_hidden_layers or num_attention_heads", instead=BERT_ONLY
        ) from None
    named = {name.removeprefix("bert."): array for name, array in arrays.items()}
    return EncoderWeights(layers=layers, heads=heads, epsilon=epsilon, arrays=named)
