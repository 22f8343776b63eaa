"""Find the external weight files of an ONNX model by scanning its bytes, without loading a file.

A tensor may be stored outside the model's file, in a file that the model names.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from voile.core.errors import RequestError

MESSAGES: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": dict.fromkeys((5, 10), "tensor")
    | dict.fromkeys((6, 11), "graph")
    | dict.fromkeys((22, 23), "sparse"),
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
}
"""The messages of ONNX's protocol buffers that lead to tensors, by the fields that contain them."""
KEY, VALUE = 1, 2
VARINT, EIGHT, SIZED, FOUR = 0, 1, 2, 5


def outside_files(model: Path) -> list[str]:
    """Return the names of the files next to a model that contain its weights.

    Raises
    ------
    RequestError : the file is not an ONNX model, or it refers to a file outside its folder.
    """
    try:
        with model.open("rb") as file:
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        named = {bytes(place).decode() for place in _places(memoryview(whole), "model")}
    except (IndexError, OSError, RecursionError, ValueError):
        raise RequestError("this is not an ONNX model", where=str(model)) from None
    for name in named:
        if not _is_inside(name, model.parent):
            raise RequestError(
                "the model reads weights from outside of its folder",
                where=str(model),
                instead="put them next to it, and export it so",
            )
    return sorted(named)


def _is_inside(name: str, folder: Path) -> bool:
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or name.startswith(("/", "\\")) or ":" in name:
        return False
    return (folder / name).resolve().is_relative_to(folder.resolve())


def _places(message: memoryview, kind: str) -> Iterator[memoryview]:
    if kind == "entry":
        entry = dict(_fields(message))
        if bytes(entry.get(KEY, b"")) == b"location":
            yield entry.get(VALUE, memoryview(b""))
        return
    inner = MESSAGES[kind]
    for number, content in _fields(message):
        if number in inner:
            yield from _places(content, inner[number])


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield the number and the content of each length-delimited field."""
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at)
        wire = key & 7
        if wire == SIZED:
            size, at = _varint(message, at)
            if size > end - at:
                raise ValueError
            yield key >> 3, message[at : at + size]
            at += size
        elif wire == VARINT:
            _, at = _varint(message, at)
        elif wire in (EIGHT, FOUR):
            at += 8 if wire == EIGHT else 4
        else:
            raise ValueError


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
        if shift > 63:
            raise ValueError
