"""A tiny encoder with random weights, as the files that people have."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from scipy.special import erf

from voile.documents.reader.weights import LAYER, LINEAR, NORMS

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *(f"##{x}" for x in LETTERS), *".,'-[]"]
WIDTH, HEADS, LAYERS, WIDE, PLACES = 32, 2, 3, 64, 140
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "layer_norm_eps": 1e-12,
}
EPSILON = 1e-12


def make_weights(seed=0):
    """Return random weights by their names."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return rng.normal(0, 0.3, shape).astype(np.float32)

    found = {
        "embeddings.word_embeddings.weight": draw(len(PIECES), WIDTH),
        "embeddings.position_embeddings.weight": draw(PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": draw(2, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for number in range(LAYERS):
        layer = LAYER.format(number)
        norms += [layer + name for name in NORMS]
        for name in LINEAR:
            out = WIDE if name.startswith("intermediate") else WIDTH
            into = WIDE if name == "output.dense" else WIDTH
            found |= {f"{layer}{name}.weight": draw(out, into), f"{layer}{name}.bias": draw(out)}
    for norm in norms:
        found |= {f"{norm}.weight": 1 + draw(WIDTH), f"{norm}.bias": draw(WIDTH)}
    return found


def tokenizer():
    """Return a WordPiece tokenizer of single letters."""
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    around = [{"SpecialToken": {"id": name, "type_id": 0}} for name in ("[CLS]", "[SEP]")]
    single = [around[0], {"Sequence": {"id": "A", "type_id": 0}}, around[1]]
    named = {
        name: {"id": name, "ids": [PIECES.index(name)], "tokens": [name]}
        for name in ("[CLS]", "[SEP]")
    }
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": PIECES.index(name), "content": name, "special": True, **special}
            for name in ("[CLS]", "[SEP]")
        ],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": single,
            "pair": single,
            "special_tokens": named,
        },
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: number for number, piece in enumerate(PIECES)},
        },
    }


def write_folder(folder, weights=None, config=CONFIG, tokens=None):
    """Write a folder of Hugging Face's form, with safetensors."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokens or tokenizer()))
    write_safetensors(folder / "model.safetensors", weights or make_weights())
    return folder


def write_safetensors(path, weights):
    header, data = {}, b""
    for name, array in weights.items():
        begin = len(data)
        data += array.tobytes()
        places = [begin, len(data)]
        header[f"bert.{name}"] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": places,
        }
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_wheel(path: Path, folder: Path) -> Path:
    """Write a wheel with an archive of the folder, as one package has it."""
    inner = path.with_name("model.zip")
    with ZipFile(inner, "w") as held:
        for file in folder.iterdir():
            held.write(file, file.name)
    with ZipFile(path, "w") as held:
        held.write(inner, "package/model.zip")
        held.writestr("package/__init__.py", "raise SystemExit")
    return path


def run_layers(weights, numbers, layers):
    """Return the vectors of pieces as NumPy computes them, in 64 bits and without windows."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}

    def norm(x, name):
        spread = np.sqrt(x.var(axis=-1, keepdims=True) + EPSILON)
        centred = (x - x.mean(axis=-1, keepdims=True)) / spread
        return centred * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][numbers]
    x = x + w["embeddings.position_embeddings.weight"][: len(numbers)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for number in range(layers):
        layer = LAYER.format(number)
        query, key, value = (
            linear(x, f"{layer}attention.self.{one}").reshape(len(x), HEADS, -1).transpose(1, 0, 2)
            for one in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(WIDTH / HEADS)
        chances = np.exp(scores - scores.max(axis=-1, keepdims=True))
        chances /= chances.sum(axis=-1, keepdims=True)
        seen = (chances @ value).transpose(1, 0, 2).reshape(len(x), -1)
        seen = linear(seen, f"{layer}attention.output.dense")
        x = norm(x + seen, f"{layer}attention.output.LayerNorm")
        inner = linear(x, f"{layer}intermediate.dense")
        inner = inner * (1 + erf(inner / np.sqrt(2))) / 2
        x = norm(x + linear(inner, f"{layer}output.dense"), f"{layer}output.LayerNorm")
    return x
