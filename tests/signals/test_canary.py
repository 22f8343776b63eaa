"""No entry of a fitted map is one person's value: planted readings are searched for in it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.signals.days import days
from tests.signals.made_up import METHODS, NAMES, readings

from voile.signals import PrivacyMap, SequenceMap
from voile.signals.fitting.methods.layers import LayerChain
from voile.signals.fitting.methods.transport import TransportMethod

CANARY = (7.1237, 2.3471)
LARGEST = (21.1237, 9.3471)


def planted(values):
    """One person of the smallest class has these readings, to four places; all others to one."""
    X, c = readings(600, 1)
    X[np.flatnonzero(c == NAMES[0])[0]] = values
    return X, c


def forms(values):
    """A value as it is, and as maps work on it."""
    plain = np.array(values)
    return np.concatenate([plain, np.log(plain), np.log2(plain), plain / 1e-4, -plain])


def holds(arrays, values):
    entries = np.concatenate([np.ravel(a) for a in arrays.values() if a.dtype.kind in "fiu"])
    return bool(np.isclose(entries[:, None], forms(values), rtol=1e-7, atol=1e-7).any())


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("values", [CANARY, LARGEST])
def test_no_entry_is_one_person_s_reading(name, values):
    X, c = planted(values)
    map = PrivacyMap(METHODS[name], resolution=1e-4, random_state=0).fit(X, c)
    for base in ("normal", "uniform", "barycentre"):
        for strength in (0.5, 1.0):
            assert not holds(map.codec(base=base, strength=strength).to_arrays(), values)


def test_the_search_finds_what_is_there():
    assert holds({"knots": np.array([1.0, np.log(CANARY[0])])}, CANARY)
    assert not holds({"knots": np.array([7.124, 2.347])}, CANARY)


def test_no_entry_of_a_map_of_sequences_is():
    X, c, whose = days(300, 6, 1)
    X[0] = [171.3377, 83.4419]
    X[whose == whose[0], 0] = 171.3377
    X[whose == whose[0], 1] = np.round(83.4419 + np.arange(6) / 10, 4)
    quick = LayerChain(degree=3, spread=1)
    map = SequenceMap((0,), resolution=1e-4, settings=quick, random_state=0).fit(X, c, whose)
    assert not holds(map.codec_.to_arrays(), (171.3377, 83.4419))
    assert not holds(map.codec_.to_arrays(), (83.5419, 83.6419))


def test_one_person_moves_the_curves_of_a_small_class_by_little():
    """Of 120 people, one from end to end: no knot of transport shows where the person was."""
    how = TransportMethod(LayerChain())
    X, c = readings(600, 1)
    rare = np.flatnonzero(c == NAMES[0])
    moved = X.copy()
    moved[rare[0]] = X[rare].max(axis=0)
    X[rare[0]] = X[rare].min(axis=0)
    layers = [
        PrivacyMap(how, random_state=0).fit(readings, c).fitted_.layers[0][0]
        for readings in (X, moved)
    ]
    inner = np.abs(layers[0].grid) < 2.5
    assert 0 < np.abs(layers[0].curve - layers[1].curve)[:, inner].max() < 0.25
