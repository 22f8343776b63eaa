"""Noise of whole numbers, drawn exactly: for differential privacy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from voile.keys.random import Protective


def discrete_laplace(
    shape: tuple[int, ...], scale: Fraction, protective: Protective
) -> NDArray[np.int64]:
    """Draw whole numbers y with chances in proportion to exp(-|y| / scale), exactly.

    No float takes part. O(scale) draws of chance each where scale is below 1, else O(1).

    Source: Canonne, Kamath, Steinke 2020, Algorithm 2.
    """
    t, s = scale.numerator, scale.denominator
    out = np.empty(shape, dtype=np.int64)
    for place in np.ndindex(shape):
        out[place] = _two_sided(t, s, protective)
    return out


def _two_sided(t: int, s: int, protective: Protective) -> int:
    while True:
        u = _below(t, protective)
        if not _falls(u, t, protective):
            continue
        v = 0
        while _falls(1, 1, protective):
            v += 1
        y = (u + t * v) // s
        if _below(2, protective) == 0:
            return y
        if y:
            return -y


def _falls(x: int, y: int, protective: Protective) -> bool:
    """Say yes with the chance exp(-x / y), 0 <= x <= y."""
    k = 1
    while _below(y * k, protective) < x:
        k += 1
    return k % 2 == 1


def _below(n: int, protective: Protective) -> int:
    """Draw a whole number from 0 to n - 1, each as likely."""
    bits = (n - 1).bit_length()
    size = (bits + 7) // 8
    while True:
        drawn = int.from_bytes(protective.bytes(size), "little") >> (8 * size - bits)
        if drawn < n:
            return drawn
