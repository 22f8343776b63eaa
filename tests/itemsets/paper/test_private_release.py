"""The private releases: epsilon is spent once and wholly, and noise is as large as it must be."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from voile.core.errors import RequestError
from voile.itemsets import ExponentialRelease, Incidence, LaplaceRelease
from voile.itemsets.measures.utility import hamdist_weights
from voile.itemsets.paper.private_release import (
    EpsilonSplit,
    _count_vectors,
    by_exponential,
    by_laplace,
    discrete_laplace,
    score_sensitivity,
)
from voile.itemsets.rows.labels import RowLabels
from voile.keys.random import ProtectiveRandom

BOTH = pytest.mark.parametrize("release", [LaplaceRelease, ExponentialRelease])
RUNS = 4_000


def matrix(rows=400, features=12, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    tilt = np.where(np.arange(features) < 3, 0.5, 0.0)
    return (rng.random((rows, features)) < 0.2 + tilt * y[:, None]).astype(np.int8), y


@given(quarters=st.integers(1, 40), picks=st.sampled_from([1, 2, 4, 8, 16]))
def test_the_parts_of_epsilon_add_up_to_it(quarters, picks):
    """Exactly, where the parts have an exact floating-point number."""
    split = EpsilonSplit.of(quarters / 4, picks)
    assert Fraction(split.pick) * picks == Fraction(split.marginals) == Fraction(quarters, 8)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_no_change_of_one_row_moves_a_score_further(table, seed):
    made = table(seed)
    rng = np.random.default_rng(seed)
    _, sizes = np.unique(made.y, return_counts=True)
    row = rng.integers(len(made.X))
    other = made.X.copy()
    other[row] = rng.random(made.X.shape[1]) < 0.5
    moved = np.abs(hamdist_weights(made.X, made.y) - hamdist_weights(other, made.y))
    assert moved.max() <= score_sensitivity(sizes) + 1e-12


def test_the_sensitivity_is_reached():
    y = np.array([0, 0, 0, 1, 1])
    X, other = np.zeros((5, 1)), np.zeros((5, 1))
    other[4] = 1
    moved = hamdist_weights(other, y) - hamdist_weights(X, y)
    assert moved[0] == pytest.approx(score_sensitivity(np.array([3, 2]))) == 1 / 2


def chances(scores, scale, picks):
    """The chance of each set that picks one after another make, by adding up all orders."""
    weights = np.exp(np.asarray(scores) / scale)
    sets = {}
    for order in itertools.permutations(range(len(scores)), picks):
        chance, left = 1.0, weights.sum()
        for x in order:
            chance *= weights[x] / left
            left -= weights[x]
        key = tuple(sorted(order))
        sets[key] = sets.get(key, 0.0) + chance
    return sets


def test_exponential_picks_have_their_chances():
    scores, rng = np.array([0.9, 0.5, 0.4, 0.1]), np.random.default_rng(0)
    expected = chances(scores, 0.3, 2)
    drawn = [tuple(by_exponential(scores, 0.3, 2, rng).tolist()) for _ in range(RUNS)]
    counts = [drawn.count(key) for key in expected]
    assert stats.chisquare(counts, np.array(list(expected.values())) * RUNS).pvalue > 1e-4


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), epsilon=st.sampled_from([0.5, 2.0]))
def test_exponential_picks_keep_half_of_epsilon(table, seed, epsilon):
    """On neighbours no set of picks is more than exp(epsilon / 2) times as likely."""
    made, picks = table(seed, features=5), 1 + seed % 2
    if made.X.shape[1] < picks:
        return
    _, sizes = np.unique(made.y, return_counts=True)
    scale = 2 * score_sensitivity(sizes) / EpsilonSplit.of(epsilon, picks).pick
    other = made.X.copy()
    other[seed % len(other)] ^= 1
    a, b = (chances(hamdist_weights(X, made.y), scale, picks) for X in (made.X, other))
    assert max(abs(np.log(a[key] / b[key])) for key in a) <= epsilon / 2 + 1e-9


def test_laplace_picks_have_noise_of_their_scale():
    """Of two, the lesser is picked with the chance of a difference of two Laplace draws."""
    gap, scale = 0.5, 0.4
    rng = np.random.default_rng(0)
    wrong = sum(by_laplace(np.array([gap, 0.0]), scale, 1, rng)[0] for _ in range(RUNS))
    expected = np.exp(-gap / scale) * (2 + gap / scale) / 4
    assert stats.binomtest(int(wrong), RUNS, expected).pvalue > 1e-4


@pytest.mark.parametrize("scale", [0.3, 2.0, 40.0])
def test_discrete_laplace_has_its_distribution(scale):
    drawn = discrete_laplace(scale, (20_000,), np.random.default_rng(1))
    q = np.exp(-1 / scale)
    spread = int(3 * scale) + 1
    inside = np.arange(-spread, spread + 1)
    chance = (1 - q) / (1 + q) * q ** np.abs(inside)
    counts = np.array([(drawn == x).sum() for x in inside])
    observed, expected = (
        np.append(counts, 20_000 - counts.sum()),
        np.append(chance, 1 - chance.sum()),
    )
    assert stats.chisquare(observed, expected * 20_000).pvalue > 1e-4


@BOTH
def test_marginals_have_noise_of_picks_over_half_of_epsilon(release):
    """The release's own noise: mean absolute noise of counts far from 0 and all."""
    X, y = matrix(features=14)
    epsilon, picks = 4.0, 13
    noise = []
    for seed in range(60):
        made = release(epsilon, picks)
        made.fit_transform(X, y, protective=ProtectiveRandom.for_tests(seed))
        sizes = np.bincount(y)
        counts = np.array([[X[y == c, x].sum() for c in (0, 1)] for x in made.features_])
        noise.extend((made.rates_ * sizes - counts).ravel())
    q = np.exp(-(epsilon / 2) / picks)
    expected, variance = 2 * q / (1 - q**2), 2 * q / (1 - q) ** 2
    error = 4 * np.sqrt((variance - expected**2) / len(noise))
    assert abs(np.mean(np.abs(noise)) - expected) < error
    assert np.abs(np.array(noise) - np.round(noise)).max() < 1e-9


def naive_counts(X, y, features):
    """Count the rows of each class with each vector, one row at a time."""
    counts = np.zeros((2 ** len(features), 2), dtype=int)
    for row, c in zip(X[:, features], y, strict=True):
        counts[sum(int(held) << bit for bit, held in enumerate(row)), c] += 1
    return counts


@BOTH
def test_up_to_12_features_the_noisy_frequencies_of_all_vectors_are_released(release):
    """Nine features have 512 vectors, also those that no row has."""
    X, y = matrix()
    epsilon, picks = 2.0, 9
    noise = []
    for seed in range(20):
        made = release(epsilon, picks)
        made.fit_transform(X, y, protective=ProtectiveRandom.for_tests(seed))
        assert made.rates_ is None
        assert made.frequencies_.shape == (512, 2)
        noise.extend((made.frequencies_ - naive_counts(X, y, made.features_)).ravel())
    q = np.exp(-(epsilon / 2) / 2)  # another row of a person moves two frequencies
    expected, variance = 2 * q / (1 - q**2), 2 * q / (1 - q) ** 2
    error = 4 * np.sqrt((variance - expected**2) / len(noise))
    assert abs(np.mean(np.abs(noise)) - expected) < error


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_another_row_of_a_person_moves_two_frequencies_by_one(seed):
    X, y = matrix(rows=60, seed=seed)
    other = X.copy()
    other[seed % 60] = 1 - other[seed % 60]
    counts = []
    for of in (X, other):
        rows = Incidence.of(of)
        counts.append(_count_vectors(rows, RowLabels.of(y, 60), np.arange(5)))
    assert np.abs(counts[0] - counts[1]).sum() == 2
    assert np.abs(counts[0] - counts[1]).max() == 1


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_rows_match_the_noisy_frequencies(epsilon):
    X, y = matrix(rows=3_000)
    made = LaplaceRelease(epsilon, 5)
    released = made.fit_transform(X, y).toarray()
    counts = naive_counts(released, y, np.arange(5))
    for c in (0, 1):
        kept = np.maximum(made.frequencies_[:, c], 0)
        expected = kept * ((y == c).sum() / kept.sum())
        assert np.abs(counts[:, c] - expected).max() <= 1


def test_thirteen_features_have_too_many_vectors():
    X, y = matrix(features=14)
    made = LaplaceRelease(1.0, 13)
    assert made.fit_transform(X, y).shape == (400, 13)
    assert made.frequencies_ is None
    assert made.rates_.shape == (13, 2)


@BOTH
def test_finds_what_tells_classes_apart_when_epsilon_is_large(release):
    X, y = matrix(rows=4_000)
    made = release(epsilon=500.0, features=3)
    released = made.fit_transform(X, y)
    assert sparse.issparse(released)
    assert released.shape == (4_000, 3)
    best = np.sort(np.argsort(-hamdist_weights(X, y))[:3])
    assert made.features_.tolist() == best.tolist()
    for c in (0, 1):
        near = released.toarray()[y == c].mean(axis=0)
        assert np.abs(near - X[y == c][:, best].mean(axis=0)).max() < 0.06


@pytest.mark.whole
@BOTH
def test_chooses_by_chance_when_epsilon_is_small(release):
    X, y = matrix()
    chosen = [release(1e-3, 1) for _ in range(600)]
    for made in chosen:
        made.fit_transform(X, y)
    counts = np.bincount([made.features_[0] for made in chosen], minlength=12)
    assert stats.chisquare(counts).pvalue > 1e-4


@BOTH
@pytest.mark.parametrize(
    ("epsilon", "features", "message"),
    [(0.0, 1, "epsilon must"), (np.inf, 1, "epsilon must"), (1, 0, "from 1 to 12"), (1, 13, "12")],
)
def test_refuses(release, epsilon, features, message):
    with pytest.raises(RequestError, match=message):
        release(epsilon, features).fit_transform(*matrix())


@BOTH
def test_refuses_two_rows_of_one_subject(release):
    X, y = matrix(rows=4)
    y[:2] = [0, 1]
    with pytest.raises(RequestError, match="4 rows are of 3 subjects"):
        release(features=1).fit_transform(X, y, subjects=[1, 1, 2, 3])


def test_half_of_epsilon_is_for_the_picks_and_a_smallest_class_bounds_the_scores():
    assert EpsilonSplit.of(1.0, 4) == EpsilonSplit(pick=0.125, marginals=0.5)
    assert score_sensitivity(np.array([20, 50])) == 0.05
