"""Frames fitted to side columns: what they find where the truth is known, and their tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.signals.fitting.methods.conditional_fit import (
    SideBasis,
    fit_own,
    fit_shared,
    normal_likelihoods,
)
from voile.signals.information.conditional import conditional_information
from voile.signals.information.mutual import mutual_information
from voile.signals.model.codec.conditional import OCTAVE, UNIT
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.side import NameLevels, NumberGrid, read_levels

AGE = NumberGrid(ValueLattice(1, 1), first=2, width=2, nodes=9)
SEX = NameLevels(np.array(["f", "m"]))
SIDE = (AGE, SEX)
ORDER = np.array([0, 1])


def cells(n, rng):
    known = np.empty((n, 2), dtype=object)
    known[:, 0], known[:, 1] = rng.integers(2, 19, n), rng.choice(["f", "m"], n)
    known[rng.random(n) < 0.05, 0] = None
    return known


def grown(n, seed, turn=0.0):
    """Draw two columns in a frame that depends on age; class 1 turns against it by `turn`."""
    rng = np.random.default_rng(seed)
    known, c = cells(n, rng), rng.integers(0, 2, n)
    age = np.array([10 if a is None else a for a in known[:, 0]], dtype=float)
    w = rng.normal(size=(2, n)) + np.array([[1.5], [-1.0]]) * c + turn * c * (age - 10) / 5
    spread = np.exp(age / 20)
    first = 3 + age + spread * w[0]
    return np.stack([first, age + 0.7 * w[0] + spread * w[1]]), c, known, spread


def fitted(seed, turn=0.0, n=4000):
    Y, c, known, spread = grown(n, seed, turn)
    levels, splits = read_levels(known, SIDE, n), np.arange(n) % 3
    shared, _ = fit_shared(Y, c, ORDER, SIDE, levels, splits)
    return shared, levels, shared.at(levels).inverse(Y), c, splits, spread


@given(st.integers(0, 1000), st.booleans())
@settings(max_examples=30, deadline=None)
def test_tables_are_the_functions_at_each_level(seed, pairs):
    """Rows on the grid's nodes read the functions' sums, whichever way they are reached."""
    rng = np.random.default_rng(seed)
    known = cells(200, rng)
    levels = read_levels(known, SIDE, 200)
    basis = SideBasis.of(SIDE, levels, pairs=pairs)
    P = basis.rows(levels)
    weights = rng.normal(size=(P.shape[1], 1))
    total = np.zeros(200)
    for (a, b), table in zip(basis.terms, basis.tables(weights), strict=True):
        for row in range(200):
            parts = [(levels.left[a, row], 1 - levels.share[a, row] / SIDE[a].width)]
            parts += [(levels.left[a, row] + 1, levels.share[a, row] / SIDE[a].width)]
            for i, share in parts:
                if share:
                    at = i if b < 0 else i * SIDE[b].levels + levels.left[b, row]
                    total[row] += share * table[0, at]
    assert np.allclose(total, (P @ weights)[:, 0])
    assert np.allclose(P[:, : basis.at_levels[0].shape[1]].mean(axis=0), 0, atol=1e-9)


def test_a_frame_is_found_though_classes_differ():
    shared, levels, W, c, _, spread = fitted(1)
    total = shared.side.look_up_sums(levels)
    logs = total[2] / OCTAVE * np.log(2)
    apart = logs - np.log(spread)
    assert apart.std() < 0.08
    assert np.corrcoef(total[0] * UNIT, np.log(spread))[0, 1] > 0.95
    age = np.log(spread) * 20
    for k in range(2):  # within a class nothing follows age, neither level nor spread
        own = W[:, c == k] - W[:, c == k].mean(axis=1, keepdims=True)
        for row in (*own, *(own**2), own[0] * own[1]):
            assert abs(np.corrcoef(row, age[c == k])[0, 1]) < 0.06


@pytest.mark.parametrize(("turn", "adds"), [(0.0, False), (0.8, True)])
def test_a_class_adds_something_only_where_it_does(turn, adds):
    _, levels, W, c, splits, _ = fitted(2, turn)
    own = fit_own(W, c, ORDER, SIDE, levels, splits)
    left = W.copy()
    for k, step in enumerate(own):
        rows = np.flatnonzero(c == k)
        if step is not None:
            left[:, rows] = step.at(levels.take(rows)).inverse(W[:, rows])
    assert any(step is not None for step in own) == adds
    shift = [abs(np.corrcoef(left[0, c == k], levels.left[0, c == k])[0, 1]) for k in range(2)]
    assert max(shift) < 0.15


def test_likelihood_of_a_normal_law():
    from scipy.stats import multivariate_normal

    own, tried = np.random.default_rng(0).normal(size=(2, 2, 300))
    law = multivariate_normal(own.mean(axis=1), np.cov(own))
    expected = law.logpdf(tried.T).sum() + 300 * np.log(2 * np.pi)
    assert np.isclose(normal_likelihoods(own, tried).sum(), expected)


def test_what_messages_add_to_what_is_known():
    """A class that K determines leaves nothing to add; one that needs both is found in both."""
    rng = np.random.default_rng(0)
    K = rng.integers(0, 2, 3000).astype(float)
    z = rng.normal(size=3000) + 0.0
    sign = (z > 0).astype(int)
    either = np.where(K == 1, sign, 1 - sign)
    assert abs(mutual_information(z, either, permutations=0).bits) < 0.03
    found = conditional_information(z, either, K[:, None], permutations=5)
    assert found.low < found.bits < found.high
    assert found.bits > 0.9 > found.null
    nothing = conditional_information(z, K.astype(int), K[:, None], permutations=5)
    assert abs(nothing.bits) < 0.02
