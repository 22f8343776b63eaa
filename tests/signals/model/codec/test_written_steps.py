"""Steps of one point at a time, written out, give the very bits that they give in a batch."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.signals.model.codec.steps import AffineMap, ColumnBend, KnotheRosenblatt, PieceCurve
from voile.signals.model.codec.triangular import TriangularMap
from voile.signals.model.codec.written_steps import WrittenSteps


@st.composite
def maps(draw):
    """Draw a map, how many of its columns are known first, and points near its grid and beyond."""
    d, known = draw(st.integers(1, 5)), draw(st.integers(0, 4))
    known = min(known, d - 1)
    order = [*range(known), *(known + j for j in draw(st.permutations(range(d - known))))]
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    grid = np.sort(rng.choice(np.arange(-30, 31), 9, replace=False)) / 10
    depends = rng.random((d, d, 1)) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    mean = np.where(depends, rng.normal(size=(d, d, 9)), 0.0)
    scale = np.where(depends, rng.uniform(0.5, 2, (d, d, 9)), 1.0)
    curve = np.cumsum(rng.uniform(0.1, 1, (d, 9)), axis=1) - 2
    points = rng.normal(0, draw(st.sampled_from([1.0, 20.0])), (4, d))
    on_knots = rng.choice(grid, (2, d))
    step = KnotheRosenblatt(np.array(order), grid, mean, scale, curve)
    return step, known, np.concatenate([points, on_knots])


@settings(max_examples=200, deadline=None)
@given(maps())
def test_a_point_alone_has_the_bits_that_it_has_in_a_batch(drawn):
    step, known, points = drawn
    whole, later = WrittenSteps([step], len(step.order)), TriangularMap(step, known)
    there, back = step.forward(points.T.copy()).T, step.inverse(points.T.copy()).T
    for v, z, x in zip(points, there, back, strict=True):
        assert np.array(whole.forward(v.tolist())).tobytes() == z.tobytes()
        assert np.array(whole.inverse(v.tolist())).tobytes() == x.tobytes()
        first, frames = later.given(v[:known].tolist())
        rest = later.forward(v[known:].tolist(), frames)
        assert np.array([*first, *rest]).tobytes() == z.tobytes()
        assert np.array(later.inverse(rest, frames)).tobytes() == (
            step.inverse(z[:, None].copy())[known:, 0].tobytes()
        )


@settings(max_examples=100, deadline=None)
@given(maps(), st.integers(0, 1 << 32))
def test_steps_in_a_row_have_the_bits_that_they_have_in_a_batch(drawn, seed):
    step, _, points = drawn
    d, rng = len(step.order), np.random.default_rng(seed)
    matrix = np.tril(rng.uniform(0.5, 2, (d, d))) * (rng.random((d, d)) < 0.7) + np.eye(d)
    affine = AffineMap(matrix[rng.permutation(d)], rng.normal(size=d))
    pieces = rng.choice([1, 6])
    knots = np.cumsum(rng.uniform(0.1, 1, (2, d, pieces + 1)), axis=2)
    bend = ColumnBend.of([PieceCurve(x, y) for x, y in zip(*knots, strict=True)])
    steps = [bend, affine, step, affine, step, bend]
    row, there, back = WrittenSteps(steps, d), points.T.copy(), points.T.copy()
    for one, other in zip(steps, reversed(steps), strict=True):
        there, back = one.forward(there), other.inverse(back)
    for v, z, x in zip(points.tolist(), there.T, back.T, strict=True):
        assert np.array(row.forward(v)).tobytes() == z.tobytes()
        assert np.array(row.inverse(v)).tobytes() == x.tobytes()
