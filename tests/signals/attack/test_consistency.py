"""The consistency adversary finds the class where maps leave a relation, and nothing elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from tests.signals.attack.test_breaks import NoDither
from tests.signals.made_up import fitted, readings

from voile.signals import PrivacyMap
from voile.signals.attack.consistency import DecodedMessages, infer_by_consistency
from voile.signals.model.codec.lattice import ValueLattice


def pressures(n, seed):
    """Return systolic and diastolic pressure, and the classes."""
    rng = np.random.default_rng(seed)
    c = np.arange(n) % 2
    return np.round(rng.normal(np.stack([124 + 18 * c, 77 + 7 * c], 1), [12, 8])), c


def attack(map, X, c, codec=None, **draws):
    codec = codec or map.codec_
    Z = codec.encode(X, map.classes_[c], **draws)
    heard = DecodedMessages.of(codec, Z, codec.levels(None, len(Z)), np.zeros((len(Z), 0)))
    people = np.arange(len(Z))
    half = len(Z) // 2
    return infer_by_consistency(heard, c, people[:half], [people[half:]], 0)[0]


def test_without_dither_the_lattice_gives_the_class_away():
    map = fitted("transport")
    X, c = readings(600, 4)
    c = np.searchsorted(map.classes_, c)
    found = attack(map, X, c, protective=NoDither())
    assert found.balanced > 0.95
    assert attack(map, X, c).low < found.permuted < 0.45


def test_decodings_lie_on_the_lattices_of_every_class():
    """The naive twin: each message decoded by itself."""
    map = fitted("transport")
    X, c = readings(40, 5)
    Z = map.encode(X, c)
    heard = DecodedMessages.of(map.codec_, Z, map.codec_.levels(None, 40), np.zeros((40, 0)))
    for which, label in enumerate(map.classes_):
        twin = np.array([map.codec_.decode(z[None], label)[0] for z in Z])
        assert (heard.readings[which] == twin).all()
    assert all(isinstance(one, ValueLattice) for one in map.codec_.columns)


def test_without_a_relation_it_finds_nothing():
    X, c = pressures(3000, 1)
    map = PrivacyMap(random_state=0).fit(X[:1500], c[:1500])
    found = attack(map, X[1500:], c[1500:])
    assert found.low < 0.5 < found.high + 0.03


@pytest.mark.parametrize("kind", ["a relation", "last digits"])
def test_it_finds_what_differs_by_class(kind):
    X, c = pressures(2400, 2)
    rng = np.random.default_rng(3)
    if kind == "a relation":
        X = np.column_stack([X, X.sum(axis=1) + 5 * c])
    else:
        rounds = rng.random(len(X)) < np.where(c == 1, 0.8, 0.1)
        X[:, 0] = np.where(rounds, 10 * np.round(X[:, 0] / 10), X[:, 0])
    lifted = None if kind == "a relation" else {}
    map = PrivacyMap(random_state=0, relations=lifted).fit(X[:800], c[:800])
    found = attack(map, X[800:], c[800:])
    assert found.low > max(found.permuted, 0.55)
