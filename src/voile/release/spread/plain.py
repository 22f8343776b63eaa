"""Encode values as bytes that contain only data, so that reading them runs no code."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from io import BytesIO
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import DamagedError
from voile.data.files.own_files import fitting

ITSELF = (type(None), bool, int, float, str)
TREE, WHAT = "tree", "a file of the run"


class PlainPacker:
    """An encoder of numbers, text, lists, arrays, rows and a few classes as bytes.

    The bytes are an npz file without pickles. It contains a JSON tree, and the arrays and batches
    of rows to which the tree refers.

    Parameters
    ----------
    classes : the dataclasses and named tuples that may be encoded. Decoding creates no others.
    """

    def __init__(self, classes: Iterable[type]) -> None:
        self._classes: dict[str, type] = {one.__name__: one for one in classes}

    def pack(self, thing: Any) -> bytes:
        """Return an object as bytes.

        Raises
        ------
        TypeError : the object contains a type that cannot be encoded.
        """
        arrays: list[NDArray[Any]] = []
        tree = json.dumps(self._pack_thing(thing, arrays)).encode()
        held: dict[str, Any] = {str(n): one for n, one in enumerate(arrays)}
        held[TREE] = np.frombuffer(tree, np.uint8)
        file = BytesIO()
        np.savez(file, **held)
        return file.getvalue()

    def unpack(self, data: bytes) -> Any:
        """Return the object encoded in bytes.

        Raises
        ------
        DamagedError : the bytes were not written by `pack`.
        """
        try:
            with fitting(WHAT), np.load(BytesIO(data), allow_pickle=False) as file:
                return self._unpack_tree(json.loads(file[TREE].tobytes()), file)
        except (EOFError, BadZipFile, pa.ArrowException):
            raise DamagedError(f"{WHAT} is damaged") from None

    def _pack_thing(self, thing: Any, arrays: list[NDArray[Any]]) -> Any:
        kind = type(thing)
        if kind in ITSELF:
            return thing
        if kind is list:
            return self._pack_list(thing, arrays)
        if isinstance(thing, np.ndarray | np.generic):
            return {"array": _keep(np.asarray(thing), arrays)}
        if kind is pa.RecordBatch:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, thing.schema) as stream:
                stream.write_batch(thing)
            return {"rows": _keep(np.frombuffer(sink.getvalue(), np.uint8), arrays)}
        if kind in (tuple, set):
            return {kind.__name__: self._pack_list([*thing], arrays)}
        if kind in (dict, Counter):
            pairs = (self._pack_list([*part], arrays) for part in (thing.keys(), thing.values()))
            return {kind.__name__: [*pairs]}
        if self._classes.get(kind.__name__) is not kind:
            raise TypeError(f"a {kind.__name__} is not packed")
        parts = [getattr(thing, name) for name in _fields(kind)]
        return {kind.__name__: self._pack_list(parts, arrays)}

    def _pack_list(self, things: list[Any], arrays: list[NDArray[Any]]) -> Any:
        """Encode a list.

        Tuples of equal length become columns, because there may be many of them.
        """
        if things and {*map(type, things)} == {tuple} and len({*map(len, things)}) == 1:
            columns = [self._pack_list([*column], arrays) for column in zip(*things, strict=True)]
            return {"tuples": [len(things), columns]}
        return [self._pack_thing(one, arrays) for one in things]

    def _unpack_tree(self, tree: Any, file: Any) -> Any:
        if isinstance(tree, list):
            return [self._unpack_tree(one, file) for one in tree]
        if not isinstance(tree, dict):
            return tree
        [(kind, held)] = tree.items()
        match kind:
            case "array":
                return file[str(held)][()]
            case "rows":
                with pa.ipc.open_stream(file[str(held)].tobytes()) as stream:
                    batch = stream.read_next_batch()
                batch.validate(full=True)
                return batch
            case "tuples":
                rows, columns = held[0], [self._unpack_tree(one, file) for one in held[1]]
                return [*zip(*columns, strict=True)] if columns else [()] * rows
            case "tuple" | "set":
                return (tuple if kind == "tuple" else set)(self._unpack_tree(held, file))
            case "dict" | "Counter":
                keys, values = (self._unpack_tree(part, file) for part in held)
                return (dict if kind == "dict" else Counter)(dict(zip(keys, values, strict=True)))
            case _:
                return self._classes[kind](*self._unpack_tree(held, file))


def _keep(array: NDArray[Any], arrays: list[NDArray[Any]]) -> int:
    if array.dtype.hasobject:
        raise TypeError("an array of objects is not packed")
    arrays.append(array)
    return len(arrays) - 1


def _fields(kind: type) -> Iterable[str]:
    return [one.name for one in fields(kind)] if is_dataclass(kind) else kind._fields  # type: ignore[attr-defined]
