"""Read the weights of an encoder that was exported to ONNX from a Hugging Face model.

An export gives embeddings, norms and biases the names of the model. It stores the weights of a
linear part transposed, under a number. The name of the node that multiplies by them contains the
name of the part.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from voile.core.errors import RequestError
from voile.core.lazy import library
from voile.documents.reader.weights import Weights

PART = re.compile(r"/(encoder/layer\.\d+/\S+)/MatMul")


def read_onnx(path: Path) -> dict[str, Weights]:
    """Return the weights, with their names in the model as keys.

    Raises
    ------
    RequestError : the file is not an ONNX model, or its weights are quantised.
    """
    onnx = library("onnx", "reader")
    try:
        graph = onnx.load(str(path)).graph
    except Exception:  # the library raises no narrower exception
        raise RequestError("this is not an ONNX model", where=str(path)) from None
    floats = {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16}
    found: dict[str, Weights] = {
        one.name: np.asarray(onnx.numpy_helper.to_array(one), np.float32)
        for one in graph.initializer
        if one.data_type in floats
    }
    for node in graph.node:
        part = PART.search(node.name)
        if part and node.op_type == "MatMul" and node.input[1] in found:
            found[part[1].replace("/", ".") + ".weight"] = found[node.input[1]].T
    if not any(name.endswith("attention.self.query.weight") for name in found):
        raise RequestError(
            "the ONNX model's weights are quantised or unnamed",
            where=str(path),
            instead="give model.safetensors, or an export with 32-bit weights",
        )
    return found
