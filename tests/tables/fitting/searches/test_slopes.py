"""Weights are slopes of the lower hull, at places that lie ever closer."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voile.core.frontier import Frontier
from voile.tables.fitting.kernels.hull import lower_hull
from voile.tables.fitting.searches.slopes import place, slope

points = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=30).map(
    lambda some: Frontier.of(*(np.array(some).T / 40), np.zeros((len(some), 1)))
)


@given(points)
def test_the_hull_holds_what_is_least_for_some_weight(found):
    corners = lower_hull(found.risk.copy(), found.loss.copy()).tolist()
    least = {0, len(found) - 1}
    for one in range(len(found)):  # corners are where the slope between any two points leads
        for other in range(one):
            weight = (found.loss[other] - found.loss[one]) / (found.risk[one] - found.risk[other])
            for tilt in (0.999, 1.001):
                least.add(int(np.argmin(found.loss + tilt * weight * found.risk)))
    assert set(corners) == least


@given(points, st.floats(0, 0.999))
def test_a_slope_is_a_weight_for_which_two_policies_are_equally_good(found, at):
    weight = slope(found, at)
    if len(found) == 1:
        assert weight == 0
        return
    values = found.loss + weight * found.risk
    assert (values <= values.min() + 1e-12).sum() >= 2


def test_slopes_fall_from_the_least_risk_to_the_most():
    risk = np.geomspace(1e-4, 1, 50)
    found = Frontier.of(risk, 1 - np.log10(risk * 1e4) / 4, np.zeros((50, 1)))
    weights = [slope(found, at) for at in np.linspace(0, 0.999, 20)]
    assert (np.diff(weights) <= 0).all()
    assert weights[0] > 1000 * weights[-1]


def test_places_fill_the_range_evenly():
    places = np.sort([place(number) for number in range(1, 64)])
    np.testing.assert_allclose(places, np.arange(1, 64) / 64)
