"""A triangular map of one point at a time gives the very bits that it gives in a batch."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.signals.codec.steps import KnotheRosenblatt
from voile.signals.codec.triangular import Triangular


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
    whole, later = Triangular(step), Triangular(step, known)
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
