"""Build the ONNX graph of an encoder, up to the layer that is read, with 8-bit weights.

A linear part multiplies integers. Its input is quantised to 8 bits at run time. Its weights are
quantised in advance, with a scale for each output. Weights have 7 bits. So the processor's sums of
two products stay within 16 bits, and all processors give the same sums. The embeddings have 8 bits,
with a scale for each word piece. Positions are an input, since some versions of ONNX Runtime fuse a
graph that counts them incorrectly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.lazy import library
from voile.documents.reader.weights import LAYER, PLACES, TYPES, WORDS, EncoderWeights, Weights
from voile.documents.reader.windows import PIECES, POSITIONS, VECTORS

if TYPE_CHECKING:
    from collections.abc import Sequence

OPSET, IR = 20, 9


WEIGHT_LEVELS, WORD_LEVELS = 63, 127


def build_graph(weights: EncoderWeights, layer: int) -> bytes:
    """Return the ONNX model of the first layers of an encoder.

    Raises
    ------
    RequestError : the encoder has fewer layers, or the library onnx is not installed.
    """
    if not 1 <= layer <= weights.layers:
        raise RequestError(
            f"the encoder has no layer {layer}", instead=f"use 1 to {weights.layers}"
        )
    graph = _GraphParts(library("onnx", "reader"), weights)
    x = graph.add_embedding()
    for number in range(layer):
        x = graph.add_layer(x, LAYER.format(number))
    return graph.finish(x)


class _GraphParts:
    """The nodes and the weights of a graph under construction."""

    def __init__(self, onnx: Any, weights: EncoderWeights) -> None:
        self._onnx, self._weights = onnx, weights
        self._nodes: list[Any] = []
        self._stored: dict[str, Any] = {}

    def add_embedding(self) -> str:
        """Add the sum of the vectors of a piece and its position, normalised."""
        arrays = self._weights.arrays
        whole, scale = quantise_rows(arrays[WORDS], WORD_LEVELS)
        types = arrays[TYPES][0] if TYPES in arrays else np.float32(0)
        rows = self._node("Gather", self._store("words", whole), PIECES)
        scales = self._node("Gather", self._store("word scales", scale[:, None]), PIECES)
        words = self._node("Mul", self._node("Cast", rows, to=self._float), scales)
        places = self._store("positions' vectors", arrays[PLACES] + types)
        summed = self._node("Add", words, self._node("Gather", places, POSITIONS))
        return self._norm(summed, "embeddings.LayerNorm")

    def add_layer(self, x: str, layer: str) -> str:
        """Add one layer: attention, followed by two linear parts."""
        seen = self._linear(self._attend(x, layer), [layer + "attention.output.dense"])
        x = self._norm(self._node("Add", x, seen), layer + "attention.output.LayerNorm")
        inner = self._node("Gelu", self._linear(x, [layer + "intermediate.dense"]))
        out = self._linear(inner, [layer + "output.dense"])
        return self._norm(self._node("Add", x, out), layer + "output.LayerNorm")

    def finish(self, x: str) -> bytes:
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        self._nodes.append(helper.make_node("Identity", [x], [VECTORS]))
        inputs = [
            helper.make_tensor_value_info(name, kinds.INT64, ["p"]) for name in (PIECES, POSITIONS)
        ]
        shape = ["p", self._weights.width]
        output = helper.make_tensor_value_info(VECTORS, kinds.FLOAT, shape)
        graph = helper.make_graph(self._nodes, "reader", inputs, [output], [*self._stored.values()])
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="voile")
        model.ir_version = IR
        return bytes(model.SerializeToString(deterministic=True))

    def _attend(self, x: str, layer: str) -> str:
        """Add the attention of all heads over all pieces."""
        heads = self._weights.heads
        own = [f"{layer}attention.self.{name}" for name in ("query", "key", "value")]
        split = self._store("to heads", np.array([0, 3, heads, -1]))
        each = self._node("Reshape", self._linear(x, own), split)
        parts = self._nodes_of("Split", 3, each, axis=1, num_outputs=3)
        axis = self._store("axis 1", np.array([1]))
        query, key, value = (self._node("Squeeze", one, axis) for one in parts)
        query, value = (self._node("Transpose", one, perm=[1, 0, 2]) for one in (query, value))
        scores = self._node("MatMul", query, self._node("Transpose", key, perm=[1, 2, 0]))
        size = np.float32(self._weights.width // heads)
        scaled = self._node("Mul", scores, self._store("scale", 1 / np.sqrt(size)))
        seen = self._node("MatMul", self._node("Softmax", scaled, axis=-1), value)
        seen = self._node("Transpose", seen, perm=[1, 0, 2])
        return self._node("Reshape", seen, self._store("from heads", np.array([0, -1])))

    def _linear(self, x: str, names: Sequence[str]) -> str:
        """Add linear parts with the same input, and concatenate their outputs."""
        arrays = self._weights.arrays
        whole, scale = quantise_rows(
            np.concatenate([arrays[f"{name}.weight"] for name in names]), WEIGHT_LEVELS
        )
        bias = np.concatenate([arrays[f"{name}.bias"] for name in names])
        values, own_scale, zero = self._nodes_of("DynamicQuantizeLinear", 3, x)
        weights = self._store(f"{names[0]} weights", np.ascontiguousarray(whole.T))
        sums = self._node("MatMulInteger", values, weights, zero)
        scales = self._node("Mul", own_scale, self._store(f"{names[0]} scales", scale))
        found = self._node("Mul", self._node("Cast", sums, to=self._float), scales)
        return self._node("Add", found, self._store(f"{names[0]} bias", bias))

    def _norm(self, x: str, name: str) -> str:
        own = [
            self._store(f"{name}.{part}", self._weights.arrays[f"{name}.{part}"])
            for part in ("weight", "bias")
        ]
        return self._node("LayerNormalization", x, *own, epsilon=self._weights.epsilon, axis=-1)

    @property
    def _float(self) -> int:
        return int(self._onnx.TensorProto.FLOAT)

    def _store(self, name: str, array: NDArray[Any] | np.floating[Any]) -> str:
        if name not in self._stored:
            self._stored[name] = self._onnx.numpy_helper.from_array(np.asarray(array), name)
        return name

    def _node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        return self._nodes_of(kind, 1, *inputs, **attributes)[0]

    def _nodes_of(self, kind: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        names = [f"{kind} {len(self._nodes)} {number}" for number in range(outputs)]
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, names, **attributes))
        return names


def quantise_rows(array: Weights, levels: int) -> tuple[NDArray[np.int8], Weights]:
    """Return the rows as integers from -levels to levels, and the scale of each row.

    >>> whole, scale = quantise_rows(np.float32([[1, -2, 0.5]]), 4)
    >>> whole.tolist(), scale.tolist()
    ([[2, -4, 1]], [0.5])
    """
    scale = np.abs(array).max(axis=1).astype(np.float32) / np.float32(levels)
    safe = np.where(scale > 0, scale, np.float32(1))
    return np.rint(array / safe[:, None]).astype(np.int8), safe
