"""Read a safetensors file: a size, a JSON header, and the bytes of the arrays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.reader.weights import Weights

KINDS: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
}


def read_safetensors(path: Path) -> dict[str, Weights]:
    """Return the floating-point arrays of a file by name.

    Raises
    ------
    RequestError : the file is incomplete, or of another format.
    """
    try:
        whole = np.memmap(path, np.uint8, mode="r")
        start = 8 + int(whole[:8].view("<u8")[0])
        header = json.loads(whole[8:start].tobytes())
        header.pop("__metadata__", None)
        return {
            name: _read_array(whole[start:], **about)
            for name, about in header.items()
            if about["dtype"] in KINDS
        }
    except (AttributeError, KeyError, OSError, TypeError, ValueError):
        raise RequestError(
            "this is not a whole safetensors file", where=str(path), instead="download it again"
        ) from None


def _read_array(
    data: NDArray[np.uint8], dtype: str, shape: list[int], data_offsets: list[int]
) -> Weights:
    begin, end = data_offsets
    raw = data[begin:end].view(KINDS[dtype]).reshape(shape)
    if dtype == "BF16":  # the upper half of a 32-bit number
        raw = (raw.astype(np.uint32) << 16).view(np.float32)
    return np.array(raw, np.float32)
