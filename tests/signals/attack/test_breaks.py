"""The rounding lattice gives the class away without dither, and nothing with it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.signals.made_up import METHODS, fitted, readings

from voile.core.evidence import Rate
from voile.signals.attack.breaks import equal
from voile.signals.model.maps.bases import BASES


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


def untouched(map, Z):
    """Take messages back and forth by every class's map; say whose leaves most bits alone."""
    off = []
    for which in range(len(map.classes_)):
        V = np.ascontiguousarray(Z.T)
        again = map.codec_.forward(map.codec_.inverse(V, which), which)
        off.append(np.abs(again - V).sum(axis=0))
    return np.argmin(off, axis=0)


def test_float64_s_own_lattice_tells_nothing():
    """Unrounded, the last bits of a message tell of the class that made it."""
    map = fitted("gamma")
    X, c = readings(12_000, 3)
    c = np.searchsorted(map.classes_, c)
    rows = equal(c)
    X, c = X[rows], c[rows]
    plain = np.empty_like(X)
    spread = X + np.random.default_rng(1).uniform(-0.05, 0.05, X.shape)
    for which in range(3):
        V = np.ascontiguousarray(spread[c == which].T)
        plain[c == which] = map.codec_.forward(V, which).T
    rates = [
        Rate(int((untouched(map, Z) == c).sum()), len(c))
        for Z in (plain, map.encode(X, map.classes_[c]))
    ]
    assert rates[0].interval(3.5)[0] > 0.4
    low, high = rates[1].interval(3.5)
    assert low <= 1 / 3 <= high
