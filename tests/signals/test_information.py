"""The estimator agrees with laws whose information is known, and with a naive count."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma

from voile.errors import RequestError
from voile.signals import mutual_information
from voile.signals.information import contributions


def two_normals(n, gap, seed):
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 2, n)
    return rng.normal(size=n) + gap * c, c


def true_bits(gap):
    """Integrate I(Z; C) of two unit normals, equally likely, `gap` apart."""
    z = np.linspace(-10, 10 + gap, 20_001)
    p = np.exp(-0.5 * (z - np.array([[0.0], [gap]])) ** 2) / np.sqrt(2 * np.pi)
    mean = p.mean(axis=0)
    inner = np.where(p > 0, p * np.log2(np.maximum(p, 1e-300) / np.maximum(mean, 1e-300)), 0)
    return inner.mean(axis=0).sum() * (z[1] - z[0])


@pytest.mark.parametrize("gap", [0.0, 0.5, 1.0, 2.0, 5.0])
def test_the_estimate_is_near_the_truth_and_its_interval_holds_it(gap):
    found = [mutual_information(*two_normals(3000, gap, s), permutations=0) for s in range(8)]
    assert np.mean([one.bits for one in found]) == pytest.approx(true_bits(gap), abs=0.015)
    assert sum(one.low <= true_bits(gap) <= one.high for one in found) >= 6


def test_contributions_equal_a_naive_count():
    rng = np.random.default_rng(2)
    Z, c = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    naive = []
    for i in range(60):
        far = np.abs(Z - Z[i]).max(axis=1)
        radius = np.sort(far[c == c[i]])[3]  # its own 0 comes first
        near = (far < radius).sum()
        naive.append(digamma(60) + digamma(3) - digamma((c == c[i]).sum()) - digamma(near))
    assert contributions(Z, c) == pytest.approx(np.array(naive) / np.log(2))


def test_units_and_injective_maps_do_not_count():
    z, c = two_normals(2000, 1.5, 4)
    plain = mutual_information(z, c, permutations=0).bits
    assert mutual_information(1000 * z + 7, c, permutations=0).bits == pytest.approx(plain)
    assert mutual_information(np.exp(z), c, permutations=0).bits == pytest.approx(plain, abs=0.03)


def test_the_null_tells_something_from_nothing():
    something = mutual_information(*two_normals(800, 1.0, 1))
    nothing = mutual_information(*two_normals(800, 0.0, 1))
    assert something.p_value < 0.02 < nothing.p_value
    assert something.bits > something.null
    assert something.entropy == pytest.approx(1, abs=0.01)


def test_readings_of_one_subject_do_not_pass_for_many_people():
    """Forty people, thirty readings each: what tells them apart tells nothing of the class."""
    rng = np.random.default_rng(0)
    whose = np.repeat(np.arange(40), 30)
    z = rng.normal(size=40)[whose] + rng.normal(0, 0.01, len(whose))
    c = (rng.random(40) < 0.5)[whose].astype(int)
    naive = mutual_information(z, c, permutations=40)
    known = mutual_information(z, c, whose, permutations=40)
    assert naive.p_value < 0.05 < known.p_value
    assert known.high - known.low > 3 * (naive.high - naive.low)


def test_limits():
    z, c = two_normals(50, 1.0, 0)
    assert mutual_information(z, np.zeros(50, int), permutations=0).bits == pytest.approx(0)
    assert mutual_information(np.zeros(50), c, permutations=0).bits == pytest.approx(0, abs=0.2)
    with pytest.raises(RequestError, match="missing"):
        mutual_information(np.append(z[:-1], np.nan), c)
    with pytest.raises(RequestError, match="only 1 readings"):
        mutual_information(z, np.arange(50))
    with pytest.raises(RequestError, match="50 readings and 49 classes"):
        mutual_information(z, c[1:])
