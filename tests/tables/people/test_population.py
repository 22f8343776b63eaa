"""Each form a population can take, and records that it lacks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import CellParser
from voile.tables.people.population import (
    fill_gaps,
    from_counts,
    from_fraction,
    from_margins,
    from_sample,
    population_of,
)

NUMBER, TEXT = CellParser("number"), CellParser("text")
DOMAINS = (
    ValueDomain("age", (30, 31, 32), NUMBER),
    ValueDomain("sex", ("f", "m"), TEXT),
    ValueDomain("zip", ("00501", "00544"), TEXT),
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


def test_a_table_of_some_columns_sizes_no_group():
    """People are kept by the columns that count them; each group is as large as in the sample."""
    table = table_of(np.array([[9.0, 4], [1, 0], [2, 7]]), ("age", "sex"))
    found = population_of(DOMAINS, SAMPLE, SUBJECTS, [table], sampled=True)
    np.testing.assert_array_equal(found.people, SUBJECTS)
    assert not found.known
    assert [found.counts_by(name) for name in NAMES] == [True, True, False]
    assert found.boxes.columns == ("age", "sex")
    np.testing.assert_array_equal(dense(found.boxes, DOMAINS[:2]), [[9, 4], [1, 0], [2, 7]])
    assert found.boxes.sampled


def test_a_table_of_some_columns_that_lacks_records_is_refused():
    table = table_of(np.array([[0.0, 4], [1, 0], [2, 7]]), ("age", "sex"))
    with pytest.raises(RequestError, match="columns age and sex: 1 records in 1 groups"):
        population_of(DOMAINS, SAMPLE, SUBJECTS, [table])
    filled = population_of(DOMAINS, SAMPLE, SUBJECTS, [table], gap="sample")
    assert dense(filled.boxes, DOMAINS[:2])[0, 0] == 1


def test_memory_follows_the_combinations_that_occur():
    """Two columns of 20,000 values each would be 400 million cells."""
    every = np.arange(20_000, dtype=np.int32)[:, None]
    big = [
        ValueDomain("a", tuple(range(20_000)), NUMBER),
        ValueDomain("b", tuple(range(20_000)), NUMBER),
    ]
    table = (("a",), every, np.full(20_000, 9.0))
    found = population_of(big, np.hstack([every, every]), np.ones(20_000), [table])
    assert len(found.people) == len(found.boxes.people) == 20_000


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
    two = [ValueDomain(name, ("a", "b"), TEXT) for name in "xyz"]
    tables = [table_of(differ, tuple(pair)) for pair in ("xy", "yz", "xz")]
    with pytest.raises(RequestError):
        from_margins(two, tables)


def test_margins_that_no_table_has_are_refused():
    """Of three people with two values at least two agree; here 10 of 12 differ in each pair."""
    two = [ValueDomain(name, ("a", "b"), TEXT) for name in "xyz"]
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
        "counted by age, and each group, which other columns divide, in the source"
    )
    assert population_of(DOMAINS, SAMPLE, SUBJECTS, fraction=0.1).how.startswith("estimated")
    assert population_of(DOMAINS, SAMPLE, SUBJECTS).how.startswith("not known")


def test_margins_over_some_attributes_are_fitted_and_kept():
    ages = table_of(np.array([30.0, 30, 30]), ("age",))
    sexes = table_of(np.array([60.0, 30]), ("sex",))
    found = population_of(DOMAINS, SAMPLE, SUBJECTS, [ages, sexes])
    assert_well_formed(found)
    np.testing.assert_allclose(dense(found.boxes, DOMAINS[:2]), [[20, 10]] * 3)
    assert found.how.startswith("fitted by iterative proportional fitting to 2 tables")
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


def test_an_empty_sample():
    nothing, nobody = np.zeros((0, 3), np.int32), np.zeros(0)
    assert len(from_sample(nothing, nobody).people) == 0
    full = table_of(np.ones(SIZES), NAMES)
    assert len(population_of(DOMAINS, nothing, nobody, [full]).people) == 12
    ages = table_of(np.ones(3), ("age",))
    assert len(population_of(DOMAINS, nothing, nobody, [ages]).people) == 0
