"""The files that an ONNX model names, wherever in it; ONNX's own messages say the same."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from voile.core.errors import RequestError
from voile.documents.model.classifiers.folders.onnx_parts import MESSAGES, outside_files

PROTOS = {
    "model": "ModelProto",
    "training": "TrainingInfoProto",
    "graph": "GraphProto",
    "function": "FunctionProto",
    "node": "NodeProto",
    "attribute": "AttributeProto",
    "sparse": "SparseTensorProto",
    "tensor": "TensorProto",
    "entry": "StringStringEntryProto",
}


def test_every_way_to_a_tensor_is_known():
    names = {proto: name for name, proto in PROTOS.items()}
    for name, fields in MESSAGES.items():
        described = getattr(onnx, PROTOS[name]).DESCRIPTOR.fields
        ways = {
            field.number: names[field.message_type.name]
            for field in described
            if field.message_type and field.message_type.name in names
        }
        entries = {number for number, kind in ways.items() if kind == "entry"}
        keep = {13} if name == "tensor" else set()
        expected = {n: kind for n, kind in ways.items() if n not in entries - keep}
        assert dict(fields) == expected, name


def tensor(place):
    one = numpy_helper.from_array(np.zeros(2, np.float32), "t")
    onnx.external_data_helper.set_external_data(one, place, offset=0, length=8)
    one.ClearField("raw_data")
    return one


def test_all_places_are_found(tmp_path):
    inner = helper.make_graph([], "inner", [], [], [tensor("c")])
    nodes = [
        helper.make_node("Constant", [], ["x"], value=tensor("a")),
        helper.make_node("If", ["b"], ["y"], then_branch=inner, else_branch=inner),
    ]
    graph = helper.make_graph(nodes, "outer", [], [], [tensor("b"), tensor("sub/d")])
    sparse = helper.make_sparse_tensor(tensor("e"), tensor("f"), [4])
    graph.sparse_initializer.append(sparse)
    step = helper.make_node("Constant", [], ["z"], value=tensor("g"))
    function = helper.make_function("own", "f", [], ["z"], [step], [helper.make_opsetid("", 17)])
    model = helper.make_model(graph, functions=[function])
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    assert outside_files(tmp_path / "model.onnx") == ["a", "b", "c", "e", "f", "g", "sub/d"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a model",
        b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x3a\x05ab",
        b"\x3b",
    ],
)
def test_what_is_no_model_is_refused(content, tmp_path):
    (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(RequestError, match="not an ONNX model"):
        outside_files(tmp_path / "model.onnx")


def test_a_model_within_a_model_without_end_is_refused(tmp_path):
    """Deeper than Python goes: graph in an attribute of a node of a graph."""
    content = b""
    for _ in range(400):
        for field in (0x32, 0x2A, 0x0A):  # attribute.g, node.attribute, graph.node
            content = bytes([field]) + varint(len(content)) + content
    (tmp_path / "model.onnx").write_bytes(b"\x3a" + varint(len(content)) + content)
    with pytest.raises(RequestError, match="not an ONNX model"):
        outside_files(tmp_path / "model.onnx")


def varint(number):
    parts = []
    while True:
        parts.append(number & 127 | (128 if number > 127 else 0))
        number >>= 7
        if not number:
            return bytes(parts)
