"""The non-dominated set: what it keeps, its areas, and how a point is chosen."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import InfeasibleError, RequestError
from voile.core.frontier import Frontier

# Few distinct values, so that ties and duplicates are common.
points = st.lists(st.tuples(*[st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])] * 2), max_size=30)


def frontier(pairs):
    pairs = np.array(pairs, dtype=float).reshape(-1, 2)
    return Frontier.of(pairs[:, 0], pairs[:, 1], np.arange(len(pairs)))


def dominates(a, b):
    return a[0] <= b[0] and a[1] <= b[1] and a != b


@given(points)
def test_keeps_exactly_what_nothing_dominates_and_the_first_of_equals(pairs):
    expected = [
        i
        for i, p in enumerate(pairs)
        if not any(dominates(q, p) for q in pairs) and p not in pairs[:i]
    ]
    found = frontier(pairs)
    assert sorted(found.policies.tolist()) == expected
    assert (np.diff(found.risk) > 0).all()
    assert (np.diff(found.loss) < 0).all()


def test_many_points_give_what_a_plain_sort_gives():
    rng = np.random.default_rng(0)
    risk = rng.integers(0, 500, 50_000) / 500
    loss = np.clip(1 - risk + rng.integers(0, 200, 50_000) / 1000, 0, 1)
    least, expected = np.inf, []
    for i in np.lexsort((np.arange(len(risk)), loss, risk)):
        if loss[i] < least:
            least = loss[i]
            expected.append(i)
    assert Frontier.of(risk, loss, np.arange(50_000)).policies.tolist() == expected


@given(points, points)
def test_merging_is_the_frontier_of_both(first, second):
    both, merged = frontier(first + second), frontier(first).merge(frontier(second))
    assert merged.risk.tolist() == both.risk.tolist()
    assert merged.loss.tolist() == both.loss.tolist()


@given(points)
def test_area_is_the_mean_least_loss_over_risk(pairs):
    # All risks lie on this grid's edges, so the middle of each cell tells its height.
    middles = (np.arange(20) + 0.5) / 20
    heights = [min([1.0, *(loss for risk, loss in pairs if risk <= x)]) for x in middles]
    assert frontier(pairs).area() == pytest.approx(np.mean(heights))


def test_area_by_hand():
    assert frontier([]).area() == 1
    assert frontier([(0, 0)]).area() == 0
    assert frontier([(1, 0)]).area() == 1
    assert frontier([(0, 1), (0.5, 0.5), (1, 0)]).area() == pytest.approx(0.75)


def test_area_over_log_risk_by_hand():
    found = frontier([(0.001, 0.5), (0.1, 0.25)])
    assert found.area(log=True, least_risk=1e-4) == pytest.approx((1 + 2 * 0.5 + 1 * 0.25) / 4)
    assert found.area(log=True, least_risk=0.01) == pytest.approx((0.5 + 0.25) / 2)
    assert frontier([(0, 0.5)]).area(log=True) == pytest.approx(0.5)
    for wrong in (0, 1):
        with pytest.raises(RequestError, match="least_risk"):
            found.area(log=True, least_risk=wrong)


@given(points, st.floats(0, 1))
def test_at_is_the_least_other_score_within_the_limit(pairs, limit):
    found = frontier(pairs)
    for axis, name in enumerate(("risk", "loss")):
        within = [p[1 - axis] for p in pairs if p[axis] <= limit]
        if within:
            point = found.at(**{name: limit})
            assert (point.loss if name == "risk" else point.risk) == min(within)
            assert pairs[point.policy] == (point.risk, point.loss)
        else:
            with pytest.raises(InfeasibleError):
                found.at(**{name: limit})


def test_at_names_the_closest_when_there_is_none():
    found = frontier([(0.2, 0.7), (0.5, 0.4)])
    with pytest.raises(InfeasibleError, match=r"risk of at most 0\.1.*risk 0\.2 and loss 0\.7"):
        found.at(risk=0.1)
    with pytest.raises(InfeasibleError, match=r"loss of at most 0\.3.*risk 0\.5 and loss 0\.4"):
        found.at(loss=0.3)
    for wrong in ({}, {"risk": 0.1, "loss": 0.1}, {"risk": float("nan")}):
        with pytest.raises(RequestError, match="either"):
            found.at(**wrong)


def test_knee_is_farthest_below_the_chord():
    assert frontier([(0, 1), (0.1, 0.3), (0.6, 0.2), (1, 0)]).knee().index == 1
    assert frontier([(0.4, 0.4)]).knee().index == 0
    with pytest.raises(InfeasibleError, match="knee"):
        frontier([]).knee()


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9))
def test_no_point_is_farther_below_the_chord_than_the_knee(pairs):
    risk, loss = map(sorted, zip(*pairs, strict=True))
    found = frontier(list(zip(risk, reversed(loss), strict=True)))
    below = np.interp(found.risk, found.risk[[0, -1]], found.loss[[0, -1]]) - found.loss
    assert below[found.knee().index] == pytest.approx(below.max())


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4, unique=True).map(sorted))
def test_of_points_on_their_chord_the_first_is_the_knee(ends):
    one, two, three, four = ends
    assert frontier([(one, four), (two, three)]).knee().index == 0
    assert frontier([(three, two), (four, one)]).knee().index == 0


def test_dominating_needs_one_score_to_be_lower():
    found = frontier([(0.1, 0.9), (0.5, 0.5), (0.9, 0.1)])
    assert found.dominating(0.5, 0.5).tolist() == []
    assert found.dominating(0.5, 0.6).tolist() == found.dominating(0.6, 0.5).tolist() == [1]
    assert found.dominating(1, 1).tolist() == [0, 1, 2]


def test_policies_are_made_for_what_is_kept_only():
    asked = []

    def rows(indices):
        asked.extend(indices.tolist())
        return np.eye(4, dtype=bool)[indices]

    found = Frontier.of([0.5, 0.2, 0.6, 0.9], [0.5, 0.9, 0.7, 0.1], rows)
    assert asked == [1, 0, 3]
    assert found.policies.argmax(axis=1).tolist() == [1, 0, 3]


def test_cannot_be_changed_by_itself_or_through_its_source():
    risk = np.array([0.2, 0.8])
    found = Frontier.of(risk, [0.5, 0.1], np.zeros((2, 3), dtype=bool))
    risk[:] = 0
    assert found.risk.tolist() == [0.2, 0.8]
    for array in (found.risk, found.loss, found.policies):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("wrong", [float("nan"), -0.1, 1.1, float("inf")])
def test_refuses_numbers_outside_the_unit_interval(wrong):
    with pytest.raises(RequestError, match="point 1: risk is NaN or outside"):
        Frontier.of([0.5, wrong], [0.5, 0.5], np.zeros((2, 1)))
    with pytest.raises(RequestError, match="point 0: loss is NaN or outside"):
        Frontier.of([0.5], [wrong], np.zeros((1, 1)))


def test_refuses_shapes_that_do_not_fit():
    with pytest.raises(RequestError, match="2 risks and 1 losses"):
        Frontier.of([0, 1], [1], np.zeros((2, 1)))
    with pytest.raises(RequestError, match="2 points and 3 policies"):
        Frontier.of([0, 1], [1, 0], np.zeros((3, 1)))
    with pytest.raises(RequestError, match="dimensions, and must have one"):
        Frontier.of([[0, 1]], [[1, 0]], np.zeros((1, 1)))


def test_minus_zero_becomes_zero():
    assert not np.signbit(frontier([(-0.0, 0.5)]).risk).any()


def test_frame_has_one_row_a_point():
    assert {
        name: column.tolist() for name, column in frontier([(0, 1), (1, 0)]).frame().items()
    } == {
        "index": [0, 1],
        "risk": [0, 1],
        "loss": [1, 0],
    }


def test_imports_no_wing():
    code = (
        "import sys, voile.core.frontier; "
        "print([name for name in sys.modules if name in ('numba', 'voile.tables')])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
