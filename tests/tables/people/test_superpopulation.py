"""Estimates of population uniques against naive twins, hand cases and drawn samples."""

import math
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.real_data import DATA

from voile.core.errors import RequestError
from voile.tables.people.superpopulation import estimate_uniques, fit_pitman, pitman, zayatz

TENNESSEE = DATA / "tennessee" / "population.parquet"

TABLES = st.dictionaries(st.integers(1, 12), st.integers(1, 30), min_size=2, max_size=5).filter(
    lambda table: 1 in table
)


def arrays(table):
    sizes = np.array(sorted(table), dtype=float)
    return sizes, np.array([[table[s] for s in sizes]], dtype=float)


def log_likelihood(table, theta, alpha):
    """Pitman's sampling formula, product by product, less what neither parameter changes."""
    classes, subjects = sum(table.values()), sum(s * c for s, c in table.items())
    total = sum(math.log(theta + i * alpha) for i in range(1, classes))
    total -= sum(math.log(theta + i) for i in range(1, subjects))
    return total + sum(
        c * sum(math.log(i - alpha) for i in range(1, size)) for size, c in table.items()
    )


@settings(max_examples=8, deadline=None)
@given(table=TABLES)
def test_the_fit_is_as_likely_as_a_naive_search_finds(table):
    theta, alpha = (x[0] for x in fit_pitman(*arrays(table)))

    def cost(at):
        return -log_likelihood(table, math.exp(at[0]) - at[1], at[1])

    bounds = [(-12, 30), (1e-4, 1 - 1e-6)]
    starts = product((1.0, 5.0), (0.2, 0.7))
    naive = min(minimize(cost, s, method="Nelder-Mead", bounds=bounds).fun for s in starts)
    assert -log_likelihood(table, theta, alpha) <= naive + 1e-4


@settings(max_examples=10, deadline=None)
@given(table=TABLES, people=st.integers(2, 60))
def test_the_expected_uniques_are_those_of_the_urn(table, people):
    """Add people one by one: newcomers start classes, uniques meet a second of their kind."""
    sizes, counts = arrays(table)
    theta, alpha = (x[0] for x in fit_pitman(sizes, counts))
    classes, uniques = 1.0, 1.0
    for present in range(1, people):
        new = (theta + classes * alpha) / (theta + present)
        uniques += new - uniques * (1 - alpha) / (theta + present)
        classes += new
    fraction = (counts @ sizes)[0] / people
    most = table[1] / fraction
    assert pitman(sizes, counts, fraction)[0] == pytest.approx(min(uniques, most), rel=1e-6)


@settings(max_examples=50, deadline=None)
@given(table=TABLES, times=st.integers(2, 9))
def test_zayatz_is_bayes_rule_in_exact_fractions(table, times):
    subjects = sum(s * c for s, c in table.items())
    people = subjects * times

    def drawn_once(size):
        ways = size * math.comb(people - size, subjects - 1)
        return Fraction(ways, math.comb(people, subjects))

    once = sum(c * drawn_once(size) for size, c in table.items())
    exact = table[1] * (table[1] * drawn_once(1) / once) * times
    assert zayatz(*arrays(table), 1 / times)[0] == pytest.approx(float(exact), rel=1e-9)


def test_many_samples_at_once_are_each_alone():
    sizes = np.array([1.0, 2, 3, 7])
    counts = np.array([[40.0, 10, 3, 1], [9, 0, 5, 2], [1, 1, 1, 1]])
    for estimate in (pitman, zayatz):
        alone = [estimate(sizes, row[None], 0.2)[0] for row in counts]
        np.testing.assert_allclose(estimate(sizes, counts, 0.2), alone)


def test_the_rule_takes_pitman_up_to_a_tenth_and_zayatz_above():
    sizes = np.repeat([1.0, 2, 5], [50, 20, 10])
    assert estimate_uniques(sizes, 0.1, random_state=0).model == "pitman"
    assert estimate_uniques(sizes, 0.11, random_state=0).model == "zayatz"
    assert estimate_uniques(sizes, 0.5, model="pitman", random_state=0).model == "pitman"
    assert "Dankar" in estimate_uniques(sizes, 0.1, random_state=0).why


def test_the_same_seed_gives_the_same_interval():
    sizes = np.repeat([1.0, 2, 5], [50, 20, 10])
    first, again = (estimate_uniques(sizes, 0.1, random_state=3) for _ in range(2))
    assert first == again
    assert estimate_uniques(sizes, 0.1, random_state=4).low != first.low


@settings(max_examples=8, deadline=None)
@given(table=TABLES, fraction=st.floats(0.01, 1), model=st.sampled_from(["pitman", "zayatz"]))
def test_the_estimate_lies_in_its_interval_and_below_what_can_be(table, fraction, model):
    sizes = np.repeat(sorted(table), [table[s] for s in sorted(table)])
    found = estimate_uniques(sizes, fraction, model=model, random_state=0)
    assert 0 <= found.low <= found.value <= found.high
    assert found.value <= table[1] / fraction * (1 + 1e-9)


def test_the_whole_population_needs_no_model():
    found = estimate_uniques(np.array([1, 1, 4]), 1.0)
    assert (found.low, found.value, found.high, found.model) == (2, 2, 2, "exact")


def test_no_uniques_seen_is_not_none_there():
    found = estimate_uniques(np.full(1000, 5), 0.1)
    assert found.value == found.low == 0
    # 28 people unique in the population are all missed by a tenth with a chance of 5%
    assert found.high == pytest.approx(28.4, abs=0.1)
    assert estimate_uniques(np.array([2]), 0.5).high == 4


def test_all_unique_could_hide_pairs():
    found = estimate_uniques(np.ones(1000), 0.1)
    assert found.value == found.high == 10_000
    # 6% of the people in pairs would show 3 pairs on average
    assert found.low == pytest.approx(9_400)
    assert estimate_uniques(np.ones(10), 0.1).low == 0


def test_one_subject():
    assert estimate_uniques(np.array([1.0]), 0.01).high == 100


def test_shares_of_a_subject_count_as_one_at_least():
    assert estimate_uniques(np.array([0.5, 0.5, 3.0]), 1.0).value == 2


@pytest.mark.parametrize(
    ("sizes", "fraction"),
    [([1, 2], 0.0), ([1, 2], 1.5), ([1, 2], math.nan), ([], 0.5), ([0, 1], 0.5), ([math.nan], 0.5)],
)
def test_bad_requests(sizes, fraction):
    with pytest.raises(RequestError):
        estimate_uniques(np.array(sizes, dtype=float), fraction)


@cache
def tennessee_columns():
    import pyarrow.parquet as pq

    table = pq.read_table(TENNESSEE)
    names = ["age", "sex", "race", "zip", "people"]
    return [table[c].to_numpy(zero_copy_only=False) for c in names]


def tennessee_cells(years, digits):
    """People of each age band x sex x race x ZIP prefix."""
    age, sex, race, area, people = tennessee_columns()
    area = np.array([z[:digits] for z in area.tolist()])
    codes = [np.unique(c, return_inverse=True)[1] for c in (age // years, sex, race, area)]
    key = np.ravel_multi_index(codes, [c.max() + 1 for c in codes])
    return np.bincount(np.unique(key, return_inverse=True)[1], people).astype(np.int64)


@pytest.mark.whole
@pytest.mark.real
@pytest.mark.skipif(not TENNESSEE.exists(), reason="the data set tennessee is not there")
@pytest.mark.parametrize(
    ("years", "digits", "low", "high"),
    [(1, 5, 0.7, 1.1), (5, 5, 0.7, 1.2), (1, 3, 0.9, 3.2)],
)
def test_bias_on_samples_of_tennessee(years, digits, low, high):
    """Estimate / truth by the decision rule, of one simple random sample each.

    At fractions .01, .1 (Pitman) and .5 (Zayatz). What was measured, and stands in the
    docstring of `estimate_uniques`: with many uniques (61,262 of 6.4 million people by year of age
    and ZIP) the rule finds .82 to .99 of them; with few (898 by three digits of ZIP) 1.0 to 2.5
    times as many. The tolerances are these with room for other draws.
    """
    cells = tennessee_cells(years, digits)
    truth = int((cells == 1).sum())
    rng = np.random.default_rng(17)
    for fraction in (0.01, 0.1, 0.5):
        size = int(fraction * cells.sum())
        drawn = rng.multivariate_hypergeometric(cells, size, method="marginals")
        found = estimate_uniques(drawn[drawn > 0], fraction, random_state=rng)
        assert low <= found.value / truth <= high, fraction
