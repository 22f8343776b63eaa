"""The estimator agrees with laws whose information is known, and with a naive count."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma

from voile.core.errors import RequestError
from voile.signals import Subjects, mutual_information
from voile.signals.information.mutual import contributions
from voile.signals.information.near_points import NearPoints, count_by_trees


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


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("grid", [None, 1.0, 0.1])
def test_nearest_points_of_all_give_the_counts_of_trees(grid, apart):
    """Also of many equal points, and of rare classes."""
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(900, 2))
    Z = Z if grid is None else np.round(Z / grid) * grid
    near = NearPoints.of(Z)
    for _ in range(3):
        c = rng.permutation(np.repeat([0, 1, 2], [8, 300, 592]))
        found = near.count(c, 3, apart=apart)
        assert (found == count_by_trees(Z, c, 3, np.arange(900), apart=apart)).all()


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


def told_by_integrating(gap, prior):
    """Integrate I(Z; C) of two unit normals `gap` apart, classes as likely as `prior` says."""
    z = np.linspace(-9, 9 + gap, 20_001)
    p = np.exp(-0.5 * (z - np.array([[0.0], [gap]])) ** 2) / np.sqrt(2 * np.pi)
    mean = np.asarray(prior) @ p
    inner = p * np.log2(np.maximum(p, 1e-300) / np.maximum(mean, 1e-300))
    return float(np.asarray(prior) @ inner.sum(axis=1) * (z[1] - z[0]))


def test_beliefs_about_subjects_are_averaged_over_p_s():
    """I(Z; C | S) = sum of p(s) I(Z; C | S = s), against numerical integration."""
    z, c = two_normals(6000, 1.5, 3)
    sure = np.arange(6000) % 3 == 0
    beliefs = np.where(sure[:, None], [0.95, 0.05], [0.4, 0.6])
    weights = np.where(sure, 4.0, 1.0)
    whose = Subjects(np.arange(6000), weights, beliefs)
    found = mutual_information(z, c, whose, permutations=0)
    parts = [told_by_integrating(1.5, prior) for prior in ((0.95, 0.05), (0.4, 0.6))]
    p_sure = 4 / (4 + 2)
    assert found.bits == pytest.approx(p_sure * parts[0] + (1 - p_sure) * parts[1], abs=0.015)
    assert parts[0] < found.bits < parts[1]
    most = [-sum(p * np.log2(p) for p in prior) for prior in ((0.95, 0.05), (0.4, 0.6))]
    assert found.entropy == pytest.approx(p_sure * most[0] + (1 - p_sure) * most[1])


def test_contributions_under_beliefs_equal_a_naive_count():
    rng = np.random.default_rng(4)
    Z, c = rng.normal(size=(50, 2)), np.arange(50) % 3
    beliefs, chances = np.array([[0.2, 0.5, 0.3], [0.0, 0.9, 0.1]]), np.array([0.7, 0.3])
    n = np.bincount(c)
    naive = np.zeros(50)
    for i in range(50):
        far = np.abs(Z - Z[i]).max(axis=1)
        near = far < np.sort(far[c == c[i]])[3]
        counted = np.array([(near & (c == k)).sum() for k in range(3)])
        for row, chance in zip(beliefs, chances, strict=True):
            if row[c[i]]:
                each = row / n
                mass = (each * counted).sum()
                m, of = mass**2 / (each**2 * counted).sum(), 1 / (each**2 * n).sum()
                log = np.log(mass) + digamma(m) - np.log(m) - digamma(of) + np.log(of)
                nats = digamma(3) - digamma(n[c[i]]) - log
                naive[i] += chance * row[c[i]] * 50 / n[c[i]] * nats
    found = contributions(Z, c, 3, beliefs, chances)
    assert found == pytest.approx(naive / np.log(2))


def test_beliefs_that_are_everyone_s_change_nothing():
    z, c = two_normals(500, 1.0, 5)
    shares = np.tile(np.bincount(c) / 500, (500, 1))
    plain = mutual_information(z, c, permutations=3)
    believed = mutual_information(z, c, Subjects(np.arange(500), None, shares), permutations=3)
    assert (believed.bits, believed.low, believed.null) == pytest.approx(
        (plain.bits, plain.low, plain.null)
    )


def test_an_adversary_who_knows_the_class_learns_nothing():
    z, c = two_normals(300, 3.0, 6)
    known = mutual_information(z, c, Subjects(np.arange(300), None, np.eye(2)[c]), permutations=0)
    assert known.bits == pytest.approx(0, abs=1e-12)
    assert known.entropy == 0


def test_subjects_own_laws_are_judged_by_themselves():
    """Levels of their own hide the class from who knows nobody, not from who knows the subject."""
    rng = np.random.default_rng(7)
    whose = np.repeat(np.arange(40), 60)
    c = rng.integers(0, 2, 2400)
    z = 5 * rng.normal(size=40)[whose] + 2 * c + rng.normal(0, 1, 2400)
    everyone = mutual_information(z, c, whose, permutations=0)
    known = mutual_information(z, c, Subjects(whose, own=True), permutations=20)
    assert everyone.bits < 0.1
    assert known.bits == pytest.approx(true_bits(2.0), abs=0.03)
    assert known.p_value < 0.05
    nothing = mutual_information(z - 2 * c, c, Subjects(whose, own=True), permutations=20)
    assert nothing.low < 0.02
    assert nothing.p_value > 0.05


@pytest.mark.parametrize(
    ("subjects", "message"),
    [
        (Subjects(np.arange(50), np.ones(49)), "weights and chances"),
        (Subjects(np.arange(50), -np.ones(50)), "from 0 up"),
        (Subjects(np.arange(50), np.zeros(50)), "no subject has a weight"),
        (Subjects(np.arange(50), None, np.full((50, 2), 0.4)), "not of sum 1"),
        (Subjects(np.arange(50), None, np.full((50, 3), 1 / 3)), "of shape"),
        (Subjects(np.zeros(50), np.arange(50)), "two weights or two beliefs"),
        (Subjects(np.arange(49)), "50 readings and 49 subjects"),
        (Subjects(np.arange(50), own=True), "no subject has over 3 readings"),
    ],
)
def test_subjects_that_make_no_sense_are_refused(subjects, message):
    z, c = two_normals(50, 1.0, 0)
    with pytest.raises(RequestError, match=message):
        mutual_information(z, c, subjects)
