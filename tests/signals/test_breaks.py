"""The rounding lattice gives the class away without dither, and nothing with it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.signals.made_up import METHODS, fitted

from voile.evidence import Rate
from voile.signals.bases import BASES


class NoDither:
    """Bytes that put every dithered point in the middle of its cell."""

    def bytes(self, n):
        return np.full(n // 8, 1 << 63, dtype="<u8").tobytes()


def guesses(map, codec, Z, finer=1):
    """Decode with every class's map; say which one's result lies nearest to a lattice.

    The lattice has cells `finer` times as small as the readings'.
    """
    off = []
    for which in range(len(map.classes_)):
        V = codec.inverse(np.ascontiguousarray(Z.T), which)
        places = np.stack(
            [x * col.per / col.step * finer for x, col in zip(V, codec.columns, strict=True)]
        )
        off.append(np.abs(places - np.rint(places)).sum(axis=0))
    return np.argmin(off, axis=0)


def truth(map, n, seed):
    """Readings that look alike in all classes but for the lattice: each class as often."""
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 3, n)
    return np.round(
        rng.gamma([4.0, 3.0], [[2.0, 1.0], [3.5, 0.6], [6.0, 2.0]][0], (n, 2)) + 1, 1
    ), c


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("base", BASES)
def test_the_lattice_tells_all_without_dither(method, base):
    map = fitted(method)
    codec = map.codec(base=base, strength=1.0)
    X, c = truth(map, 400, 1)
    Z = codec.encode(X, map.classes_[c], protective=NoDither())
    assert (guesses(map, codec, Z) == c).mean() > 0.99


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("finer", [1, 2, 2**10, 2**20, 2**30, 2**36])
def test_the_lattice_tells_nothing_with_dither(method, finer):
    """Nor does a finer one: the dither has no lattice of its own above float64's."""
    map = fitted(method)
    X, c = truth(map, 4000, 2)
    Z = map.encode(X, map.classes_[c])
    right = guesses(map, map.codec_, Z, finer) == c
    low, high = Rate(int(right.sum()), len(c)).interval(3.5)
    assert low <= 1 / 3 <= high
