"""Differentially private fits: noise, what a subject can change, and what is left to learn."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from voile.core.errors import RequestError
from voile.keys.random import Protective
from voile.signals import PrivacyMap, Subjects, mutual_information
from voile.signals.maps.registry import METHODS
from voile.signals.methods.noise import discrete_laplace
from voile.signals.methods.private import MOST, Private, counted, products

BOUNDS = ((20, 200), (1, 30))


def two(n, seed):
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 2, n)
    a = rng.normal(0, 0.2, n)
    weight = np.exp(4 + 0.4 * c + a)
    other = np.exp(2 + 0.3 * c + 0.8 * a + rng.normal(0, 0.1, n))
    return np.round(np.stack([weight, other], axis=1), 1), np.array(["ill", "well"])[c]


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40)])
def test_the_noise_has_the_discrete_laplace_law(scale):
    n = 4000
    drawn = discrete_laplace((n,), scale, Protective.for_tests(3))
    p = np.exp(-1 / float(scale))
    most = int(np.ceil(4 * float(scale))) + 1

    def chance(y):
        return (1 - p) / (1 + p) * p ** abs(y)

    counts = Counter(np.clip(drawn, -most, most).tolist())
    expected = {y: n * chance(y) for y in range(-most + 1, most)}
    end = (n - sum(expected.values())) / 2
    expected[-most] = expected[most] = end
    few = [y for y, e in expected.items() if e < 5]
    groups = [(counts[y], e) for y, e in expected.items() if e >= 5]
    groups.append((sum(counts[y] for y in few), sum(expected[y] for y in few)))
    statistic = sum((seen - e) ** 2 / e for seen, e in groups if e > 0)
    assert chi2.sf(statistic, len(groups) - 1) > 1e-3


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 4))
def test_one_subject_changes_no_more_than_is_paid_for(seed, d, k):
    """Sensitivities, by adding one reading of any kind to any data set."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    places, c = rng.random((n, d)).round(1), rng.integers(0, k, n)
    y = rng.normal(0, 4, (n, d))
    fewer = slice(0, n - 1)
    counts = counted(places, c, k, 8) - counted(places[fewer], c[fewer], k, 8)
    assert np.abs(counts).sum() == d
    sums = products(y, c, k) - products(y[fewer], c[fewer], k)
    assert np.abs(sums).sum() <= d * (d - 1) // 2 * MOST


@pytest.mark.parametrize("d", [1, 2, 5, 10])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.7])
def test_the_two_parts_cost_epsilon_and_no_more(d, epsilon):
    of_counts, of_products = Private(epsilon, BOUNDS).scales(d)
    spent = d / of_counts
    if of_products is not None:
        spent += d * (d - 1) // 2 * MOST / of_products
    assert Fraction(0.99 * epsilon) < spent <= Fraction(epsilon)


def test_counts_tell_two_neighbours_apart_as_little_as_epsilon_says():
    """The mechanism at its worst case: chances of each noisy count with and without a person."""
    epsilon, n = 0.8, 6000
    scale = Private(epsilon, BOUNDS[:1]).scales(1)[0]
    drawn = discrete_laplace((2, n), scale, Protective.for_tests(5)) + np.array([[10], [11]])
    for y in range(5, 17):
        seen = (drawn == y).sum(axis=1) / n
        error = 4 * np.sqrt(seen.sum() / n)
        assert seen[0] <= np.exp(epsilon) * seen[1] + error
        assert seen[1] <= np.exp(epsilon) * seen[0] + error


def test_a_subject_with_many_readings_counts_once():
    """Whatever one person adds, the sizes that are learnt move by no more than one."""
    X, c = two(400, 1)
    whose = np.arange(400)
    crowd = np.concatenate([X, np.tile([[190.0, 29.0]], (5000, 1))])
    classes, names = np.append(c, np.full(5000, "ill")), np.append(whose, np.full(5000, 400))
    maps = [
        PrivacyMap(
            Private(50.0, BOUNDS, METHODS["normal"], protective=Protective.for_tests(2)),
            resolution=0.1,
            random_state=0,
        ).fit(*data)
        for data in ((X, c, whose), (crowd, classes, names))
    ]
    means = [map.fitted_.frames[0].shift for map in maps]
    assert means[1] == pytest.approx(means[0], rel=0.05)


def test_much_epsilon_hides_the_class_and_little_does_not():
    X, c = two(4000, 1)
    fresh, d = two(4000, 2)
    told = {}
    for epsilon in (0.01, 20.0):
        map = PrivacyMap(Private(epsilon, BOUNDS), resolution=0.1, random_state=0).fit(X, c)
        Z = map.encode(fresh, d)
        assert (map.decode(Z, d) == fresh).all()
        assert map.fitted_.epsilon == epsilon
        told[epsilon] = mutual_information(Z, d, permutations=0).bits
    assert told[20.0] < 0.06 < told[0.01]
    assert mutual_information(fresh, d, permutations=0).bits > 0.4


def test_no_seed_gives_the_noise():
    X, c = two(300, 1)
    fits = [
        PrivacyMap(Private(1.0, BOUNDS), resolution=0.1, random_state=0).fit(X, c).fitted_
        for _ in range(2)
    ]
    assert (fits[0].frames[0].shift != fits[1].frames[0].shift).all()


@pytest.mark.parametrize(
    ("method", "resolution", "subjects", "message"),
    [
        (Private(0, BOUNDS), 0.1, None, "epsilon must be above 0"),
        (Private(float("nan"), BOUNDS), 0.1, None, "epsilon must be above 0"),
        (Private(1, BOUNDS, share=1.0), 0.1, None, "share between 0 and 1"),
        (Private(1, BOUNDS, bins=3), 0.1, None, "bins 8 or more"),
        (Private(1, BOUNDS[:1]), 0.1, None, "2 pairs of a low and a high"),
        (Private(1, ((9, 2), (1, 3))), 0.1, None, "2 pairs of a low and a high"),
        (Private(1, BOUNDS), None, None, "a resolution found in the data"),
        (Private(1, BOUNDS), [0.1, None], None, "a resolution found in the data"),
        (Private(1, BOUNDS), 0.1, Subjects(np.arange(300), own=True), "own laws and nominal"),
    ],
)
def test_what_would_not_be_private_is_refused(method, resolution, subjects, message):
    with pytest.raises(RequestError, match=message):
        PrivacyMap(method, resolution=resolution).fit(*two(300, 1), subjects)


def test_a_nominal_column_is_not_private():
    X, c = two(300, 1)
    mixed = np.column_stack([X.astype(object), np.where(X[:, 0] > 60, "a", "b")])
    with pytest.raises(RequestError, match="own laws and nominal"):
        PrivacyMap(Private(1, BOUNDS), resolution=[0.1, 0.1, "nominal"]).fit(mixed, c)
