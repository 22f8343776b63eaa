"""Encoding what float64 can carry, and finding the rows that it cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.keys.random import Protective
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.lattice import RowDraws
from voile.signals.model.codec.side import SideLevels


def carried(
    codec: Codec,
    table: NDArray[Any],
    labels: NDArray[np.str_],
    at: SideLevels,
    draws: Protective | RowDraws,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Encode what float64 can carry; say which rows it cannot. O(n log n) where some cannot."""
    try:
        sent = codec.encode(table, labels, known=at, protective=draws)
        return sent, np.zeros(len(table), np.bool_)
    except RequestError as error:
        if codec.places is not None:
            remedy = "give more --places"
            raise RequestError(error.what, where="--places", instead=remedy) from None
        if len(table) == 1:
            return table, np.ones(1, dtype=np.bool_)
    half = len(table) // 2
    parts = np.arange(half), np.arange(half, len(table))
    shares = [draws.take(part) if isinstance(draws, RowDraws) else draws for part in parts]
    halves = [
        carried(codec, table[part], labels[part], at.take(part), share)
        for part, share in zip(parts, shares, strict=True)
    ]
    Z, far = zip(*halves, strict=True)
    return np.concatenate(Z), np.concatenate(far)
