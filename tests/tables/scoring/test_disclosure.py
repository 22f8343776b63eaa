"""Measures of a release against naive twins, the papers' examples and pyCANON."""

import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycanon import anonymity
from tests.real_data import DATA

from voile.core.errors import RequestError
from voile.tables.scoring.catalogue import MEASURES
from voile.tables.scoring.disclosure import (
    EquivalenceClasses,
    discernibility,
    disclosure,
    distinct_l,
    entropy_l,
    recursive_c,
    t_closeness,
)

ADULT = DATA / "adult" / "adult.data.gz"

# Li et al. 2007, table 3: salaries 3k .. 11k, three classes of three
SALARIES = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1.0]])


def classes(sample, population=None, sensitive=None):
    sample = np.array(sample, dtype=float)
    population = sample if population is None else np.array(population, dtype=float)
    sensitive = np.zeros((len(sample), 0)) if sensitive is None else np.array(sensitive, float)
    return EquivalenceClasses(sample, population, sensitive)


def of_rows(rows, people):
    """Group (quasi-identifier, sensitive) rows as the release shows them."""
    counts = defaultdict(Counter)
    for quasi, value in rows:
        counts[quasi][value] += 1
    keys = sorted(counts)
    sensitive = [[counts[q][v] for v in range(4)] for q in keys]
    return classes([sum(r) for r in sensitive], [people[q] for q in keys], sensitive)


def naive(rows, people, suppressed):
    """Each definition, record by record, in exact fractions."""
    size, total = Counter(q for q, _ in rows), len(rows)
    g = {q: max(size[q], people[q]) for q in size}
    whole = Counter(v for _, v in rows)
    by_class = {q: Counter(v for r, v in rows if r == q) for q in size}

    def entropy(counts):
        n = sum(counts.values())
        return -sum(c / n * math.log(c / n) for c in counts.values())

    def odds(counts):
        first, *rest = sorted(counts.values(), reverse=True)
        return Fraction(first, sum(rest)) if rest else math.inf

    def moves(counts):
        n = sum(counts.values())
        return [Fraction(counts[v], n) - Fraction(whole[v], total) for v in range(4)]

    risks = [Fraction(1, g[q]) for q, _ in rows]
    own = [Fraction(1, size[q]) for q, _ in rows]
    return {
        "mean_risk": sum(risks) / total,
        "max_risk": max(risks),
        "expected_matches": sum(risks),
        "share_under_11": Fraction(sum(g[q] < 11 for q, _ in rows), total),
        "k": min(size.values()),
        "k_map": min(g.values()),
        "sample_uniques": sum(size[q] == 1 for q, _ in rows),
        "population_uniques": sum(g[q] == 1 for q, _ in rows),
        "prosecutor_max": max(own),
        "prosecutor_mean": sum(own) / total,
        "journalist_max": max(risks),
        "journalist_mean": sum(risks) / total,
        "marketer": sum(risks) / total,
        "discernibility": sum(size[q] for q, _ in rows) + suppressed * (total + suppressed),
        "groups_short_of_people": sum(people[q] < size[q] for q in size),
        "distinct_l": min(len(c) for c in by_class.values()),
        "entropy_l": min(math.exp(entropy(c)) for c in by_class.values()),
        "recursive_c": max(odds(c) for c in by_class.values()),
        "t_closeness": max(sum(map(abs, moves(c))) / 2 for c in by_class.values()),
        "t_closeness_ordered": max(
            sum(abs(sum(moves(c)[: i + 1])) for i in range(4)) / 3 for c in by_class.values()
        ),
    }


ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=40)
PEOPLE = st.lists(st.integers(0, 30), min_size=6, max_size=6)


@settings(max_examples=100, deadline=None)
@given(rows=ROWS, people=PEOPLE, suppressed=st.integers(0, 5))
def test_all_measures_equal_their_naive_twins(rows, people, suppressed):
    found = disclosure(of_rows(rows, people), suppressed)
    slow = naive(rows, people, suppressed)
    assert found.keys() == slow.keys() == MEASURES.keys()
    for name, value in slow.items():
        assert found[name] == pytest.approx(float(value), abs=1e-9), name


@settings(max_examples=100, deadline=None)
@given(rows=ROWS.filter(lambda rows: len({q for q, _ in rows}) > 1), people=PEOPLE)
def test_merging_classes_moves_every_measure_as_declared(rows, people):
    fine = of_rows(rows, people)
    coarse = EquivalenceClasses(
        np.append(fine.sample[2:], fine.sample[:2].sum()),
        np.append(fine.population[2:], fine.population[:2].sum()),
        np.vstack([fine.sensitive[2:], fine.sensitive[:2].sum(axis=0)]),
    )
    before, after = disclosure(fine), disclosure(coarse)
    for name, measure in MEASURES.items():
        if measure.generalising == "falls":
            assert after[name] <= before[name] * (1 + 1e-12) + 1e-12, name
        if measure.generalising == "rises":
            assert after[name] >= before[name] * (1 - 1e-12) - 1e-12, name


def assert_equals_pycanon(frame, quasi, sensitive):
    """Compare with pyCANON, where it departs from the definitions as stated in the comments."""
    table = pd.crosstab([frame[q] for q in quasi], frame[sensitive], dropna=True)
    table = table.to_numpy(dtype=float)
    found = disclosure(EquivalenceClasses(table.sum(axis=1), table.sum(axis=1), table))
    assert found["k"] == anonymity.k_anonymity(frame, quasi)
    assert found["distinct_l"] == anonymity.l_diversity(frame, quasi, [sensitive])
    # it cuts exp(entropy) to an integer, so 2.9999999999999996 comes out as 2
    theirs = anonymity.entropy_l_diversity(frame, quasi, [sensitive])
    assert theirs in {math.floor(found["entropy_l"] + 1e-9), math.floor(found["entropy_l"] - 1e-9)}
    numeric = pd.api.types.is_numeric_dtype(frame[sensitive])
    ours = found["t_closeness_ordered" if numeric else "t_closeness"]
    assert ours == pytest.approx(anonymity.t_closeness(frame, quasi, [sensitive]), abs=1e-12)
    assert_recursive_equals_pycanon(frame, quasi, sensitive, table)


def assert_recursive_equals_pycanon(frame, quasi, sensitive, table):
    """Its counts rise where the paper's fall: equal where the two orders are the same.

    For l = distinct l it returns the first integer above the largest r_1 / (r_l + ...), r_1 being
    the *rarest* value of the class; classes of equally frequent values alone show no difference.
    """
    theirs, l_div = anonymity.recursive_c_l_diversity(frame, quasi, [sensitive])
    if l_div < 2:
        assert math.isnan(theirs)
        return
    rising = [np.sort(row[row > 0]) for row in table]
    assert theirs == max(math.floor(r[0] / r[l_div - 1 :].sum() + 1) for r in rising)
    if all(r[0] == r[-1] for r in rising):
        assert theirs == math.floor(recursive_c(table, l_div) + 1)
    assert recursive_c(table, l_div) >= theirs - 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("numeric", [True, False])
def test_random_tables_equal_pycanon(seed, numeric):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 3, size=(300, 3)), columns=["a", "b", "c"])
    values = rng.choice(5, size=300, p=rng.dirichlet(np.ones(5)))
    frame["s"] = values if numeric else np.array(list("vwxyz"))[values]
    assert_equals_pycanon(frame, ["a", "b"] if seed % 2 else ["a", "b", "c"], "s")


@pytest.mark.real
@pytest.mark.skipif(not ADULT.exists(), reason="the data set adult is not there")
@pytest.mark.parametrize(
    ("quasi", "sensitive"),
    [([8, 9], 14), ([8, 9], 4)],
)
def test_adult_equals_pycanon(quasi, sensitive):
    frame = pd.read_csv(ADULT, header=None, skipinitialspace=True).rename(columns=str)
    assert_equals_pycanon(frame, [str(q) for q in quasi], str(sensitive))


def test_equally_frequent_values_equal_pycanon_for_recursive_diversity():
    frame = pd.DataFrame([(q, s) for q in range(4) for s in range(3)] * 2, columns=["q", "s"])
    assert_equals_pycanon(frame, ["q"], "s")
    assert recursive_c(np.full((4, 3), 2.0), 2) == 0.5


def test_the_example_of_t_closeness():
    whole = np.vstack([SALARIES, [[0, 0, 0, 0, 1, 0, 1, 1, 0]]])
    # Li et al., section 4.3: D({3k, 4k, 5k}, all) = 0.375 and D({6k, 8k, 11k}, all) = 0.167
    assert t_closeness(whole, ordered=True) == pytest.approx(0.375)
    rest = np.vstack([SALARIES[1], whole[[0, 2]].sum(axis=0)])
    assert t_closeness(rest, ordered=True) == pytest.approx(1 / 6)


def test_the_definition_of_recursive_diversity_takes_the_commonest_value_first():
    assert recursive_c(np.array([[8.0, 4.0, 2.0]]), 1) == 8 / 14
    assert recursive_c(np.array([[2.0, 8.0, 4.0]]), 2) == 8 / 6
    assert recursive_c(np.array([[8.0, 2.0, 4.0]]), 3) == 4.0
    assert recursive_c(np.array([[8.0, 2.0, 4.0]]), 4) == math.inf


def test_part_of_a_subject_is_somebody():
    """Four subjects, one of whom shows both combinations: half of her is in each class."""
    found = disclosure(classes([0.5, 3.5], [3, 40]))
    assert found["k"] == found["prosecutor_max"] == 1.0
    assert found["sample_uniques"] == 0.5


def test_k_is_rounded_down():
    assert disclosure(classes([3.5]))["k"] == 3


def test_a_subject_spread_over_classes_of_her_own_is_matched_once():
    found = disclosure(classes([0.5, 0.5]))
    assert found["expected_matches"] == 1.0
    assert found["mean_risk"] == found["prosecutor_mean"] == 1.0
    assert found["sample_uniques"] == 1.0


def test_thirds_add_up_to_a_whole_k():
    assert disclosure(classes([2 - 1e-12]))["k"] == 2


def test_a_population_smaller_than_the_sample_counts_as_the_sample():
    found = disclosure(classes([5, 2], [3, 2]))
    assert found["max_risk"] == 0.5
    assert found["k_map"] == 2
    assert found["groups_short_of_people"] == 1


def test_a_release_of_nothing():
    found = disclosure(classes([], [], np.zeros((0, 3))), suppressed=7)
    assert found["k"] == found["k_map"] == found["distinct_l"] == found["entropy_l"] == math.inf
    assert found["discernibility"] == 49
    risks = ("mean_risk", "max_risk", "marketer", "t_closeness", "recursive_c", "prosecutor_max")
    assert [found[name] for name in risks] == [0.0] * len(risks)


def test_all_equal_and_all_unique():
    equal = disclosure(classes([1000]))
    assert (equal["k"], equal["mean_risk"], equal["discernibility"]) == (1000, 0.001, 1e6)
    unique = disclosure(classes(np.ones(1000)))
    assert (unique["k"], unique["mean_risk"], unique["sample_uniques"]) == (1, 1.0, 1000)
    assert unique["discernibility"] == 1000


def test_one_value_is_neither_diverse_nor_far():
    sensitive = np.array([[3.0], [4.0]])
    assert distinct_l(sensitive) == entropy_l(sensitive) == 1.0
    assert t_closeness(sensitive) == t_closeness(sensitive, ordered=True) == 0.0
    assert recursive_c(sensitive, 2) == math.inf


def test_suppressed_records_cost_the_source_each():
    assert discernibility(np.array([2.0]), suppressed=2) == 4 + 2 * 4


@pytest.mark.parametrize(
    ("sample", "population", "sensitive"),
    [([0.0], [1.0], [[1.0]]), ([1.0], [-1.0], [[1.0]]), ([1.0], [1.0, 2.0], [[1.0]]),
     ([1.0], [1.0], [[1.0], [2.0]]), ([np.nan], [1.0], [[1.0]])],
)  # fmt: skip
def test_impossible_classes_are_refused(sample, population, sensitive):
    with pytest.raises(RequestError):
        EquivalenceClasses(np.array(sample), np.array(population), np.array(sensitive))


def test_every_measure_says_what_it_is():
    for name, measure in MEASURES.items():
        assert measure.name == name
        assert measure.title
        assert measure.unit
        assert measure.formula
