"""Each form a population can take, and records that it lacks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.domains.domain import Domain, Parser
from voile.tables.people.population import (
    fill_gaps,
    from_counts,
    from_fraction,
    from_margins,
    from_sample,
    from_subset,
    population_of,
)

NUMBER, TEXT = Parser("number"), Parser("text")
DOMAINS = (
    Domain("age", (30, 31, 32), NUMBER),
    Domain("sex", ("f", "m"), TEXT),
    Domain("zip", ("00501", "00544"), TEXT),
)
NAMES = tuple(d.column for d in DOMAINS)
SIZES = tuple(len(d) for d in DOMAINS)


def codes(*rows):
    return np.array(rows, dtype=np.int32).reshape(len(rows), -1)


def dense(population, domains=DOMAINS):
    table = np.zeros([len(d) for d in domains])
    table[tuple(population.codes.T)] = population.people
    return table


def table_of(array, columns):
    """A dense array of people as a table of combinations."""
    rows = np.argwhere(array >= 0).astype(np.int32)
    return columns, rows, array[tuple(rows.T)]


SAMPLE = codes([0, 0, 0], [0, 1, 1], [2, 1, 1])
SUBJECTS = np.array([1.0, 2.0, 1.0])
CELLS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30
)


def assert_well_formed(population):
    keys = np.ravel_multi_index(tuple(population.codes.T), SIZES)
    assert (np.diff(keys) > 0).all()
    assert (population.people > 0).all()
    assert population.codes.dtype == np.int32
    assert population.how
    assert not population.how.endswith(".")
    assert all(a.endswith(".") for a in population.assumptions)


@given(cells=CELLS)
def test_full_counts_add_up_equal_rows(cells):
    people = np.arange(len(cells), dtype=float)
    if not people.sum():
        people += 1
    found = from_counts(DOMAINS, codes(*cells), people)
    naive = np.zeros(SIZES)
    for cell, count in zip(cells, people, strict=True):
        naive[cell] += count
    assert_well_formed(found)
    np.testing.assert_array_equal(dense(found), naive)
    assert found.assumptions == ()


@settings(max_examples=60, deadline=None)
@given(cells=CELLS, ages=st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any))
def test_a_subset_spreads_as_the_sample_does(cells, ages):
    rows, subjects = np.unique(codes(*cells), axis=0, return_counts=True)
    table = table_of(np.array(ages, dtype=float), ("age",))
    found = from_subset(DOMAINS, table, rows, subjects.astype(float))
    naive = np.zeros(SIZES)
    for age, (_, sex, area) in ((a, c) for a in range(3) for c in cells):
        naive[age, sex, area] += ages[age] / len(cells)
    assert_well_formed(found)
    np.testing.assert_allclose(dense(found), naive)
    np.testing.assert_allclose(dense(found).sum(axis=(1, 2)), ages)


def test_one_record_alone_does_not_get_its_whole_group_to_hide_in():
    """The only subject of age 32 shares it with 8 people; a quarter of the sample has her ZIP."""
    rows, subjects = codes([0, 0, 0], [2, 0, 1]), np.array([3.0, 1.0])
    table = (("age", "sex"), codes([0, 0], [2, 0]), np.array([8.0, 8.0]))
    assert dense(from_subset(DOMAINS, table, rows, subjects))[2, 0, 1] == 2.0


def test_subset_in_another_place_than_first():
    table = (("zip",), codes([0], [1]), np.array([40.0, 80.0]))
    found = from_subset(DOMAINS, table, SAMPLE, SUBJECTS)
    np.testing.assert_allclose(dense(found).sum(axis=(0, 1)), [40, 80])
    np.testing.assert_allclose(dense(found)[0, 1, 0], 20)
    assert found.assumptions[0].startswith("People are assumed to spread over age and sex")


def test_margins_are_fitted():
    truth = np.einsum("i,j,k->ijk", [1.0, 2, 3], [4.0, 6], [10.0, 20])
    tables = [
        table_of(truth.sum(axis=2), ("age", "sex")),
        table_of(truth.sum(axis=(0, 1)), ("zip",)),
    ]
    found = from_margins(DOMAINS, tables)
    assert_well_formed(found)
    np.testing.assert_allclose(dense(found), truth)
    assert found.how == (
        "fitted by iterative proportional fitting to 2 tables (by age and sex; zip)"
    )


def test_margins_whose_zeros_leave_nobody_are_refused():
    differ = np.array([[0.0, 5], [5, 0]])
    two = [Domain(name, ("a", "b"), TEXT) for name in "xyz"]
    tables = [table_of(differ, tuple(pair)) for pair in ("xy", "yz", "xz")]
    with pytest.raises(RequestError):
        from_margins(two, tables)


def test_margins_that_no_table_has_are_refused():
    """Of three people with two values at least two agree; here 10 of 12 differ in each pair."""
    two = [Domain(name, ("a", "b"), TEXT) for name in "xyz"]
    near = np.array([[1.0, 5], [5, 1]])
    tables = [table_of(near, tuple(pair)) for pair in ("xy", "yz", "xz")]
    with pytest.raises(RequestError, match="no counts have all these margins"):
        from_margins(two, tables)


def test_fraction_and_sample():
    found = from_fraction(SAMPLE, SUBJECTS, 0.25)
    np.testing.assert_array_equal(found.people, [4, 8, 4])
    assert len(found.assumptions) == 2
    alone = from_sample(SAMPLE, SUBJECTS)
    np.testing.assert_array_equal(alone.people, SUBJECTS)
    assert_well_formed(found)
    assert_well_formed(alone)


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.5, float("nan")])
def test_impossible_fractions(fraction):
    with pytest.raises(RequestError, match="not between 0 and 1"):
        from_fraction(SAMPLE, SUBJECTS, fraction)


def test_gaps_are_counted_refused_or_filled():
    population = from_counts(DOMAINS, codes([0, 0, 0], [1, 0, 0]), np.array([7.0, 9.0]))
    with pytest.raises(RequestError) as caught:
        fill_gaps(DOMAINS, SAMPLE, SUBJECTS, population)
    message = str(caught.value)
    assert message.startswith("columns age, sex and zip: 3 records in 2 groups have no people")
    assert "--population-gap sample" in message
    filled = fill_gaps(DOMAINS, SAMPLE, SUBJECTS, population, how="sample")
    assert_well_formed(filled)
    assert dense(filled)[0, 1, 1] == 2.0
    assert dense(filled)[0, 0, 0] == 7.0
    assert "3 records in 2 groups" in filled.assumptions[-1]
    assert fill_gaps(DOMAINS, SAMPLE, SUBJECTS, filled) is filled


def test_no_gap_leaves_the_population_as_it_is():
    population = from_sample(SAMPLE, SUBJECTS)
    assert fill_gaps(DOMAINS, SAMPLE, SUBJECTS, population) is population


def test_population_of_takes_whatever_is_known():
    full = table_of(np.ones(SIZES) * 2, NAMES)
    assert population_of(DOMAINS, SAMPLE, SUBJECTS, [full]).how == "counted by age, sex and zip"
    ages = table_of(np.array([30.0, 30, 30]), ("age",))
    assert population_of(DOMAINS, SAMPLE, SUBJECTS, [ages]).how == (
        "counted by age, spread over sex and zip as the sample"
    )
    assert population_of(DOMAINS, SAMPLE, SUBJECTS, fraction=0.1).how.startswith("estimated")
    assert population_of(DOMAINS, SAMPLE, SUBJECTS).how.startswith("not known")


def test_margins_over_some_attributes_are_fitted_then_spread():
    ages = table_of(np.array([30.0, 30, 30]), ("age",))
    sexes = table_of(np.array([60.0, 30]), ("sex",))
    found = population_of(DOMAINS, SAMPLE, SUBJECTS, [ages, sexes])
    assert_well_formed(found)
    np.testing.assert_allclose(dense(found).sum(axis=2), [[20, 10]] * 3)
    np.testing.assert_allclose(dense(found).sum(axis=(0, 1)), [22.5, 67.5])
    assert found.how.endswith("spread over zip as the sample")
    assert len(found.assumptions) == 2


def test_gap_policy_reaches_population_of():
    little = (NAMES, codes([0, 0, 0]), np.array([5.0]))
    with pytest.raises(RequestError, match="3 records in 2 groups"):
        population_of(DOMAINS, SAMPLE, SUBJECTS, [little])
    filled = population_of(DOMAINS, SAMPLE, SUBJECTS, [little], gap="sample")
    np.testing.assert_array_equal(filled.people, [5, 2, 1])


@pytest.mark.parametrize(
    ("people", "says"),
    [([1.0, -1.0, -2.0], "2 counts"), ([1.0, np.nan, 0], "1 counts"), ([0.0, 0, 0], "nobody")],
)
def test_impossible_counts(people, says):
    ages = (("age",), codes([0], [1], [2]), np.array(people))
    with pytest.raises(RequestError, match=says):
        population_of(DOMAINS, SAMPLE, SUBJECTS, [ages])


def test_two_answers_to_one_question():
    full = table_of(np.ones(SIZES), NAMES)
    with pytest.raises(RequestError, match="both given"):
        population_of(DOMAINS, SAMPLE, SUBJECTS, [full], fraction=0.5)


def test_spreading_more_than_memory_holds_is_refused_with_the_estimate():
    big = [Domain("a", tuple(range(20_000)), NUMBER), Domain("b", tuple(range(20_000)), NUMBER)]
    every = np.arange(20_000, dtype=np.int32)[:, None]
    table = (("a",), every, np.ones(20_000))
    with pytest.raises(RequestError, match="400,000,000 cells"):
        from_subset(big, table, np.hstack([every, every]), np.ones(20_000))


def test_an_empty_sample():
    nothing, nobody = np.zeros((0, 3), np.int32), np.zeros(0)
    assert len(from_sample(nothing, nobody).people) == 0
    full = table_of(np.ones(SIZES), NAMES)
    assert len(population_of(DOMAINS, nothing, nobody, [full]).people) == 12
    ages = table_of(np.ones(3), ("age",))
    with pytest.raises(RequestError, match="empty sample"):
        population_of(DOMAINS, nothing, nobody, [ages])
