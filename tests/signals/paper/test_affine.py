"""The learned affine map tells less than no map, and its objective is what it says."""

from __future__ import annotations

import sys
from typing import get_args

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from voile.core.errors import RequestError
from voile.signals import PrivacyMap, mutual_information
from voile.signals.model.codec.steps import AffineMap
from voile.signals.paper import objectives
from voile.signals.paper.affine import OPTIMISERS, LearnedAffine, Objective
from voile.signals.paper.objectives import by_histogram, leakage_by

pytestmark = pytest.mark.filterwarnings("ignore:a class has only")


def shifted(n, seed):
    rng = np.random.default_rng(seed)
    c = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return np.round(rng.normal(c * 2.0, 1 + c, n), 2), c


@pytest.mark.whole
@pytest.mark.parametrize("optimiser", ["local", "evolution", "genetic", "cma"])
@pytest.mark.parametrize("objective", ["histogram", "mixture", "neighbours"])
def test_it_tells_less_than_no_map(objective, optimiser):
    if optimiser in ("genetic", "cma"):
        pytest.importorskip({"genetic": "pymoo", "cma": "cma"}[optimiser])
    X, c = shifted(400, 1)
    method = LearnedAffine(objective, optimiser, evaluations=250)
    map = PrivacyMap(method, random_state=0).fit(X, c)
    Z = map.encode(X, c)
    before = mutual_information(X, c, permutations=0).bits
    assert mutual_information(Z, c, permutations=0).bits < 0.45 * before
    assert (map.decode(Z, c) == X).all()


@pytest.mark.parametrize("optimiser", ["local", "evolution", "genetic", "cma"])
def test_the_same_seed_finds_the_same_least(optimiser):
    """Of a valley whose floor lies at .7, -.7, .7, in a few hundred evaluations."""
    if optimiser in ("genetic", "cma"):
        pytest.importorskip({"genetic": "pymoo", "cma": "cma"}[optimiser])
    floor, count = np.array([0.7, -0.7, 0.7]), []

    def loss(theta):
        count.append(1)
        return float(((theta - floor) ** 2).sum() + 0.1 * np.abs(theta - floor).max())

    found = [OPTIMISERS[optimiser](loss, 3, 600, np.random.default_rng(1)) for _ in range(2)]
    assert (found[0] == found[1]).all()
    assert np.abs(found[0] - floor).max() < 0.35
    assert len(count) <= 2 * 650


def test_an_optimiser_that_is_not_installed_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "cma", None)
    with pytest.raises(
        RequestError, match=r"needs cma; install it with: pip install .*experiments"
    ):
        PrivacyMap(LearnedAffine(optimiser="cma")).fit(*shifted(200, 1))


def test_the_commonest_class_is_pinned():
    X, c = shifted(400, 1)
    map = PrivacyMap(LearnedAffine(evaluations=50), random_state=0).fit(X, c)
    frame = map.fitted_.frames[0]
    assert frame.matrix[0, 0] == pytest.approx(X[c == 0].std(), rel=0.01)
    assert frame.shift[0] == pytest.approx(X[c == 0].mean(), abs=0.01)


def everyone(c):
    return (np.bincount(c)[None] / len(c), np.ones(1))


def test_the_histogram_equals_a_count_by_hand():
    Z = np.array([[-1.0, -1.0, 1.0, 1.0] * 10])
    c = np.array([0, 0, 1, 1] * 10)
    assert by_histogram(Z, c, everyone(c)) == pytest.approx(1.0)
    c = np.array([0, 1, 0, 1] * 10)
    assert by_histogram(Z, c, everyone(c)) == pytest.approx(0.0)


def test_the_histogram_averages_what_subjects_are_believed():
    """Two bins, two classes: H(mixture) - mean H, for each belief, by hand."""
    Z = np.array([[-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0]])
    c = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    beliefs = np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([0.25, 0.75])

    def h(p):
        return -p * np.log2(p) - (1 - p) * np.log2(1 - p)

    by_hand = [h(a * 0.75 + b * 0.25) - h(0.25) for a, b in beliefs[0]]
    assert by_histogram(Z, c, beliefs) == pytest.approx(0.25 * by_hand[0] + 0.75 * by_hand[1])


def test_more_cells_than_memory_holds_are_counted_where_readings_are(monkeypatch):
    rng = np.random.default_rng(0)
    c = rng.integers(0, 2, 400)
    Z = rng.normal(size=(3, 400)) + c
    dense = by_histogram(Z, c, everyone(c))
    monkeypatch.setattr(objectives, "MOST_CELLS", 0)
    assert by_histogram(Z, c, everyone(c)) == pytest.approx(dense)
    assert by_histogram(np.tile(Z, (30, 1)), c, everyone(c)) == pytest.approx(
        by_histogram(np.repeat(Z, 2, axis=0), c, everyone(c))
    )


def same(d, k):
    return [AffineMap(np.eye(d), np.zeros(d))] * k


def test_objectives_agree_on_much_data():
    X, c = shifted(8_000, 2)
    V = (X + np.random.default_rng(3).uniform(-0.005, 0.005, len(X)))[None]
    for beliefs in (everyone(c), (np.array([[0.2, 0.2, 0.6]]), np.ones(1))):
        told = [leakage_by(kind, V, c, beliefs)(same(1, 3)) for kind in get_args(Objective)]
        assert told == pytest.approx([told[1]] * 3, abs=0.08)


def test_the_mixture_is_that_of_the_moved_readings():
    """Maps move the mixtures; a naive twin moves every component and sums its densities."""
    X, c = shifted(300, 5)
    V = np.stack([X, np.sin(X) + 0.1 * X])
    maps = [
        AffineMap(np.array([[1.0 + k, 0], [0.3 * k, 2.0]]), np.array([k, -k])) for k in range(3)
    ]
    rows, chances = np.array([[0.2, 0.3, 0.5], [0.0, 0.6, 0.4]]), np.array([0.3, 0.7])
    found = leakage_by("mixture", V, c, (rows, chances))(maps)
    fits = [GaussianMixture(3, random_state=0).fit(V[:, c == k].T) for k in range(3)]

    def density(k, Z):
        A, b = maps[k].matrix, maps[k].shift
        parts = zip(fits[k].weights_, fits[k].means_, fits[k].covariances_, strict=True)
        return sum(w * multivariate_normal(A @ m + b, A @ S @ A.T).pdf(Z.T) for w, m, S in parts)

    naive = 0.0
    for row, chance in zip(rows, chances, strict=True):
        for k in np.flatnonzero(row):
            Z = maps[k].forward(V[:, c == k])
            mixed = sum(row[j] * density(j, Z) for j in range(3))
            naive += chance * row[k] * np.log2(density(k, Z) / mixed).mean()
    assert found == pytest.approx(naive, abs=1e-9)


def test_an_unknown_objective_is_refused():
    with pytest.raises(RequestError, match="histogram, mixture or neighbours"):
        PrivacyMap(LearnedAffine("entropy")).fit(*shifted(100, 1))
