"""Iterative proportional fitting against its naive twin, its laws and hand-made cases."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from voile.core.errors import InfeasibleError, RequestError
from voile.tables.people.margins import PeopleMargin, check_memory, fit_margins

ITERATIONS = 40


def naive(sizes, margins, start, iterations):
    """Scale cell by cell, as Deming & Stephan write it."""
    table = {cell: float(start[cell]) for cell in itertools.product(*map(range, sizes))}
    for _ in range(iterations):
        for margin in margins:
            current = {}
            for cell, people in table.items():
                key = tuple(cell[d] for d in margin.axes)
                current[key] = current.get(key, 0.0) + people
            for cell in table:
                key = tuple(cell[d] for d in margin.axes)
                if current[key] > 0:
                    table[cell] *= margin.counts[key] / current[key]
    return np.array([table[c] for c in itertools.product(*map(range, sizes))]).reshape(sizes)


def margins_of(table, groups):
    """Sum a table over all but each group of axes, dimensions in the group's own order."""
    found = []
    for axes in groups:
        others = tuple(d for d in range(table.ndim) if d not in axes)
        ascending = sorted(axes)
        found.append(
            PeopleMargin(axes, table.sum(axis=others).transpose([ascending.index(d) for d in axes]))
        )
    return found


GROUPS = st.sampled_from(
    [[(0, 1), (1, 2), (0, 2)], [(2, 0), (1,)], [(0,), (1,), (2,)], [(1, 0), (2, 1)], [(0, 1, 2)]]
)
SHAPES = st.tuples(*[st.integers(1, 3)] * 3)
TABLES = SHAPES.flatmap(lambda s: arrays(np.float64, s, elements=st.integers(1, 50).map(float)))


@settings(max_examples=60, deadline=None)
@given(table=TABLES, start=TABLES, groups=GROUPS)
def test_equals_its_naive_twin(table, start, groups):
    start = np.resize(start, table.shape)
    margins = margins_of(table, groups)
    fitted = fit_margins(table.shape, margins, start=start, tolerance=1e-300, iterations=ITERATIONS)
    slow = naive(table.shape, margins, start, fitted.iterations)
    np.testing.assert_allclose(fitted.counts, slow, rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(table=TABLES, groups=GROUPS)
def test_fitted_margins_equal_the_given_ones(table, groups):
    fitted = fit_margins(table.shape, margins_of(table, groups))
    for got, given_ in zip(
        margins_of(fitted.counts, groups), margins_of(table, groups), strict=True
    ):
        np.testing.assert_allclose(got.counts, given_.counts, atol=1e-7 * table.sum())
    assert fitted.largest_error <= 1e-8 * table.sum()


@settings(max_examples=40, deadline=None)
@given(table=TABLES, groups=GROUPS)
def test_a_table_with_these_margins_is_a_fixed_point(table, groups):
    fitted = fit_margins(table.shape, margins_of(table, groups), start=table)
    np.testing.assert_allclose(fitted.counts, table, rtol=1e-9)
    assert fitted.iterations == 1


def test_two_by_two_by_hand_keeps_the_odds_ratio():
    start = np.array([[4.0, 1.0], [1.0, 1.0]])
    rows, columns = (
        PeopleMargin((0,), np.array([10.0, 10.0])),
        PeopleMargin((1,), np.array([10.0, 10.0])),
    )
    fitted = fit_margins((2, 2), [rows, columns], start=start).counts
    # the odds ratio stays 4 = (a / (10 - a))^2, so a = 20 / 3
    np.testing.assert_allclose(fitted, [[20 / 3, 10 / 3], [10 / 3, 20 / 3]], rtol=1e-6)
    odds = fitted[0, 0] * fitted[1, 1] / (fitted[0, 1] * fitted[1, 0])
    assert odds == pytest.approx(4.0)


def test_zeros_of_margins_and_start_stay():
    start = np.ones((2, 3))
    start[0, 0] = 0
    margins = [
        PeopleMargin((0,), np.array([5.0, 5.0])),
        PeopleMargin((1,), np.array([2.0, 8.0, 0.0])),
    ]
    fitted = fit_margins((2, 3), margins, start=start).counts
    assert fitted[0, 0] == 0
    assert (fitted[:, 2] == 0).all()
    np.testing.assert_allclose(fitted.sum(axis=1), 5.0)


def test_people_where_nobody_can_be_are_infeasible():
    margins = [PeopleMargin((0,), np.array([5.0, 5.0])), PeopleMargin((1,), np.array([10.0, 0.0]))]
    start = np.array([[0.0, 1.0], [1.0, 1.0]])
    with pytest.raises(InfeasibleError, match=r"margin over axes \(0,\).*1 of its counts"):
        fit_margins((2, 2), [margins[1], margins[0]], start=start)


def test_no_solution_is_reported_not_hidden():
    start = np.eye(2)  # the diagonal alone cannot have unequal row and column margins
    margins = [PeopleMargin((0,), np.array([5.0, 5.0])), PeopleMargin((1,), np.array([8.0, 2.0]))]
    fitted = fit_margins((2, 2), margins, start=start, iterations=50)
    assert fitted.iterations == 50
    assert fitted.largest_error == pytest.approx(3.0)


def test_margins_that_disagree_are_refused_with_the_difference():
    margins = [
        PeopleMargin((0, 1), np.array([[10.0, 20.0], [30.0, 40.0]])),
        PeopleMargin((1, 2), np.array([[25.0, 20.0], [30.0, 25.0]])),
    ]
    with pytest.raises(RequestError) as caught:
        fit_margins((2, 2, 2), margins)
    message = str(caught.value)
    assert message.startswith("margin over axes (1, 2): disagrees with the margin over axes (0, 1)")
    assert "by axes (1,), by 10 people (0.1 of them)" in message


def test_totals_that_disagree_are_refused():
    margins = [PeopleMargin((0,), np.array([5.0, 5.0])), PeopleMargin((1,), np.array([5.0, 6.0]))]
    with pytest.raises(RequestError, match="on the number of people, by 1 people"):
        fit_margins((2, 2), margins)


def test_the_number_of_people_alone_is_a_margin():
    fitted = fit_margins((2,), [PeopleMargin((), np.array(50.0))], start=np.array([1.0, 4.0]))
    np.testing.assert_allclose(fitted.counts, [10.0, 40.0])


def test_nobody_at_all():
    assert fit_margins((3,), [PeopleMargin((0,), np.zeros(3))]).counts.sum() == 0


@pytest.mark.parametrize(
    ("sizes", "margin", "says"),
    [
        ((2, 2), PeopleMargin((0, 0), np.ones((2, 2))), "axes repeat"),
        ((2, 2), PeopleMargin((2,), np.ones(2)), "axes repeat, or are not below 2"),
        ((2, 2), PeopleMargin((0,), np.ones(3)), r"shape is \(3,\), not \(2,\)"),
        ((2,), PeopleMargin((0,), np.array([1.0, -1.0])), "negative or not a number"),
        ((2,), PeopleMargin((0,), np.array([1.0, np.nan])), "negative or not a number"),
        ((2, 2), PeopleMargin((0,), np.ones(2)), "no margin counts people by axis 1"),
        ((10_000, 100_000), PeopleMargin((0,), np.ones(10_000)), "1,000,000,000 cells"),
    ],
)
def test_bad_requests(sizes, margin, says):
    with pytest.raises(RequestError, match=says):
        fit_margins(sizes, [margin])


def test_a_start_of_another_shape_and_no_margins():
    with pytest.raises(RequestError, match="start: its shape"):
        fit_margins((2,), [PeopleMargin((0,), np.ones(2))], start=np.ones(3))
    with pytest.raises(RequestError, match="no margins"):
        fit_margins((2,), [])


def test_memory_is_estimated_before_it_is_taken():
    check_memory((1 << 27,))
    with pytest.raises(RequestError, match="leave a quasi-identifier out"):
        check_memory((1 << 27, 2))
