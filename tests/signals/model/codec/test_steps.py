"""Every step is injective at every strength, and straight beyond its ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from voile.signals.model.codec.pieces import FEW, LinearPieces
from voile.signals.model.codec.steps import (
    AffineMap,
    ColumnBend,
    KnotheRosenblatt,
    PieceCurve,
    between,
    mix,
)

GAPS = st.lists(st.floats(0.01, 5), min_size=2, max_size=12)
STRENGTHS = st.floats(0, 1)


def rising(gaps, start=-3.0):
    return start + np.cumsum(gaps)


@given(GAPS, st.data())
def test_pieces_equal_bisection_for_few_values_and_for_many(gaps, data):
    x = rising(gaps)
    y = np.array(data.draw(st.lists(st.floats(-9, 9), min_size=len(x), max_size=len(x))))
    v = np.linspace(x[0], x[-1], FEW + 7)
    pieces = LinearPieces(x, y)
    assert pieces.evaluate_at(v) == pytest.approx(np.interp(v, x, y), abs=1e-9)
    assert pieces.evaluate_at(v[:5]) == pytest.approx(np.interp(v[:5], x, y), abs=1e-9)
    assert pieces.evaluate_at(x) == pytest.approx(y, abs=1e-9)


def test_pieces_of_very_uneven_knots_are_found():
    x = np.geomspace(1e-6, 1e6, 300)
    v = np.exp(np.random.default_rng(0).uniform(np.log(1e-6), np.log(1e6), 5000))
    assert LinearPieces(x, np.log(x)).evaluate_at(v) == pytest.approx(
        np.interp(v, x, np.log(x)), rel=1e-12
    )


@given(GAPS, st.data(), st.booleans())
def test_a_curve_goes_on_straight_and_back(gaps, data, many):
    x = rising(gaps)
    y = rising(data.draw(st.lists(st.floats(0.01, 5), min_size=len(x), max_size=len(x))))
    curve = PieceCurve(x, y)
    v = np.linspace(x[0] - 50, x[-1] + 50, 2 * FEW if many else 40)
    out = curve(v)
    assert (np.diff(out) > 0).all()
    assert curve.inverse(out) == pytest.approx(v, abs=1e-9)
    assert np.diff(out[v > x[-1]], 2) == pytest.approx(0, abs=1e-9)
    assert np.diff(out[v < x[0]], 2) == pytest.approx(0, abs=1e-9)


@given(GAPS, GAPS, STRENGTHS)
@example([1.0, 1.2, 0.2], [0.2, 0.2, 2.0], 0.75)  # knots a rounding error apart
def test_between_two_curves_lies_a_curve(one, other, strength):
    a, b = PieceCurve(rising(one), rising(one[::-1])), PieceCurve(rising(other), 2 * rising(other))
    v = np.linspace(-60, 60, 101)
    both = (1 - strength) * a(v) + strength * b(v)
    assert between(a, b, strength)(v) == pytest.approx(both, abs=1e-9)


def random_kr(rng, d, g=21):
    grid = np.linspace(-3, 3, g)
    return KnotheRosenblatt(
        rng.permutation(d),
        grid,
        rng.normal(size=(d, d, g)),
        np.exp(rng.normal(size=(d, d, g))),
        np.sort(rng.normal(size=(d, g)), axis=1) + np.arange(g) * 0.01,
    )


@given(st.integers(0, 2**32), st.integers(1, 5), STRENGTHS)
def test_a_triangular_map_comes_back_at_every_strength(seed, d, strength):
    rng = np.random.default_rng(seed)
    step = random_kr(rng, d).at(strength)
    V = rng.normal(size=(d, 30)) * 3
    assert step.inverse(step.forward(V)) == pytest.approx(V, abs=1e-6)
    assert KnotheRosenblatt(**step.to_arrays()).forward(V) == pytest.approx(step.forward(V))


def test_a_triangular_map_at_strength_nought_changes_nothing():
    rng = np.random.default_rng(3)
    V = rng.normal(size=(3, 50))
    assert random_kr(rng, 3).at(0.0).forward(V) == pytest.approx(V)


def test_a_triangular_map_equals_its_definition():
    rng = np.random.default_rng(5)
    step = random_kr(rng, 3)
    V = rng.normal(size=(3, 4)) * 0.3
    naive = np.empty_like(V)
    for n in range(4):
        for place, j in enumerate(step.order):
            v = V[j, n]
            for i in step.order[:place]:
                v -= np.interp(naive[i, n], step.grid, step.mean[j, i])
            for i in step.order[:place]:
                v *= np.interp(naive[i, n], step.grid, step.scale[j, i])
            piece = np.clip(np.searchsorted(step.grid, v) - 1, 0, 19)
            (x0, x1), (y0, y1) = step.grid[piece : piece + 2], step.curve[j][piece : piece + 2]
            naive[j, n] = y0 + (v - x0) * (y1 - y0) / (x1 - x0)
    assert step.forward(V) == pytest.approx(naive)


def test_log_slope_is_the_derivative():
    rng = np.random.default_rng(6)
    step = random_kr(rng, 1)
    V, h = rng.uniform(-2, 2, (1, 200)), 1e-7
    Z = step.forward(V)
    numeric = np.log((step.forward(V + h) - Z) / h)
    # at a knot itself the slope differs from one side to the other
    assert np.median(np.abs(step.log_slope(V, Z) - numeric)) < 1e-5


@given(st.integers(0, 2**32), st.integers(1, 4), STRENGTHS)
def test_between_symmetric_positive_frames_lies_a_regular_one(seed, d, strength):
    rng = np.random.default_rng(seed)
    roots = [A @ A.T + 0.1 * np.eye(d) for A in rng.normal(size=(2, d, d))]
    one, other = (AffineMap(root, rng.normal(size=d)) for root in roots)
    step = mix(one, other, strength)
    V = rng.normal(size=(d, 9))
    assert np.linalg.eigvalsh(step.matrix).min() > 0.09
    assert step.inverse(step.forward(V)) == pytest.approx(V, abs=1e-8)
    assert one.then(other).forward(V) == pytest.approx(other.forward(one.forward(V)))
    assert one.invert_map().forward(one.forward(V)) == pytest.approx(V, abs=1e-8)


def test_a_bend_of_curves_of_different_lengths_keeps_them():
    short = PieceCurve(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    long = PieceCurve(np.array([0.0, 1.0, 5.0]), np.array([0.0, 3.0, 4.0]))
    V = np.array([[-1.0, 0.5, 9.0], [-1.0, 0.5, 9.0]])
    step = ColumnBend.of((short, long))
    assert step.forward(V) == pytest.approx(np.stack([short(V[0]), long(V[1])]))
    assert step.inverse(step.forward(V)) == pytest.approx(V)


def test_what_is_not_injective_is_refused():
    with pytest.raises(ValueError, match="rise"):
        PieceCurve(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0]))
    step = random_kr(np.random.default_rng(0), 2).to_arrays()
    with pytest.raises(ValueError, match="rise"):
        KnotheRosenblatt(**{**step, "curve": -step["curve"]})
    with pytest.raises(ValueError, match="above 0"):
        KnotheRosenblatt(**{**step, "scale": 0 * step["scale"]})
