"""The chain hides what whitening cannot, from small classes too, and keeps no one's value."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm

from voile.signals import PrivacyMap, mutual_information
from voile.signals.fitting.methods.layers import LayerChain
from voile.signals.fitting.methods.smoothing import SPACING, curve_of, grid_over, tails
from voile.signals.fitting.methods.transport import (
    FOLDS,
    TransportMethod,
    fit_chain,
    folds,
    log_likelihoods,
    logs,
)
from voile.signals.model.maps.fitted import ClassSample


def bent_bands(n, seed):
    """Two classes, each a bent band with a sharp edge: no affine map makes them alike."""
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 2, n)
    a = rng.normal(size=n)
    b = np.where(c == 0, a**2, -np.sin(2 * a)) + rng.exponential(0.4, n) * np.where(c == 0, 1, -1)
    return np.round(np.stack([3 * a + c, 5 * b], axis=1), 2), c


def test_it_hides_what_whitening_cannot():
    (X, c), (fresh, d) = bent_bands(2500, 1), bent_bands(2500, 2)
    told = {}
    for method in ("normal", "transport"):
        map = PrivacyMap(method=method, random_state=0).fit(X, c)
        told[method] = mutual_information(map.encode(fresh, d), d, permutations=0).bits
    assert mutual_information(fresh, d, permutations=0).bits > 0.5
    assert told["normal"] > 0.2
    assert told["transport"] < 0.08


def test_smoothed_tails_equal_the_naive_sum():
    rng = np.random.default_rng(0)
    v, h = rng.normal(size=200), 0.4
    grid = grid_over(v)
    centres = v.mean() + (v - v.mean()) * np.sqrt(1 - h**2)
    naive = ndtr((grid[:, None] - centres) / h).mean(axis=1)
    lower, upper = tails(v, grid, h)
    assert lower == pytest.approx(naive, abs=2e-3)  # readings are shared between knots
    assert lower + upper == pytest.approx(np.ones(len(grid)))


def test_the_normal_law_becomes_the_identity():
    grid = grid_over(np.zeros(1))
    assert curve_of(np.stack([norm.cdf(grid), norm.sf(grid)]), grid) == pytest.approx(grid)


def test_knots_are_even_whatever_the_readings():
    grid = grid_over(np.array([-7.77777, 3.1]))
    assert np.diff(grid) == pytest.approx(np.full(len(grid) - 1, SPACING))
    assert grid[0] == pytest.approx(-9.0)


def test_likelihood_is_a_density():
    """It integrates to 1 over the plane."""
    X, c = bent_bands(300, 4)
    own = X[c == 0].T
    frames, layers = fit_chain(own, np.zeros(own.shape[1], int), LayerChain(depth=2))
    x, y = (np.linspace(v.min() - 25, v.max() + 25, 500) for v in own)
    plane = np.stack(np.meshgrid(x, y, indexing="ij")).reshape(2, -1)
    parts = [log_likelihoods(plane[:, [i]], frames[0], layers[0]).sum() for i in (0, 1000)]
    whole = log_likelihoods(plane[:, [0, 1000]], frames[0], layers[0]).sum()
    assert whole == pytest.approx(sum(parts))
    W = frames[0].inverse(plane)
    slopes = np.zeros(plane.shape[1])
    for layer in layers[0]:
        Z = layer.forward(W)
        slopes += layer.log_slope(W, Z).sum(axis=0)
        W = Z
    density = norm.pdf(W).prod(axis=0) * np.exp(slopes) / np.linalg.det(frames[0].matrix)
    assert density.sum() * (x[1] - x[0]) * (y[1] - y[0]) == pytest.approx(1, abs=0.01)


def test_a_small_class_with_the_pool_s_shape_leans_on_it():
    """Thirty of one class, all classes of one skewed shape: the pool shows it."""
    rng = np.random.default_rng(5)
    c = np.repeat([0, 1], [2000, 30])
    Y = rng.exponential(size=2030)[None]
    fresh = rng.exponential(size=3000)[None]
    by = {}
    for kappa in (0.01, 300.0):
        frames, layers = fit_chain(Y, c, LayerChain(kappa=kappa))
        by[kappa] = log_likelihoods(fresh, frames[1], layers[1]).mean()
    assert by[300.0] > by[0.01] + 0.02


def test_folds_deal_out_subjects_and_each_class_evenly():
    rng = np.random.default_rng(6)
    whose = np.repeat(np.arange(120), 4)
    c = (whose >= 90).astype(int)
    order = rng.permutation(480)
    sample = ClassSample(np.zeros((480, 1)), c[order], whose[order], np.ones(1))
    fold = folds(sample, 0)
    assert all(len(set(fold[sample.subjects == s])) == 1 for s in range(120))
    counts = np.array([np.bincount(fold[sample.c == k], minlength=FOLDS) for k in (0, 1)])
    assert (counts == [[120] * FOLDS, [40] * FOLDS]).all()


def test_logs_are_taken_of_what_is_positive_and_skewed_and_their_ends_are_round():
    rng = np.random.default_rng(7)
    X = np.stack(
        [np.exp(rng.normal(size=400)), rng.normal(50, 1, 400), rng.normal(size=400)], axis=1
    )
    X = np.round(X + 0.001, 3)
    curves = logs(ClassSample(X, np.zeros(400, int), np.arange(400), np.full(3, 0.001)))
    assert curves[0](X[:, 0]) == pytest.approx(np.log(X[:, 0]), abs=0.01)
    assert curves[2](X[:, 2]) == pytest.approx(X[:, 2])
    assert np.log2(curves[0].x[[0, -1]]) % 1 == pytest.approx(0, abs=1e-9)


def test_settings_given_are_not_chosen_anew():
    X, c = bent_bands(300, 8)
    map = PrivacyMap(TransportMethod(LayerChain(depth=3, degree=1, spread=0))).fit(X, c)
    assert [len(chain) for chain in map.fitted_.layers] == [3, 3]
    orders = [layer.order.tolist() for layer in map.fitted_.layers[0]]
    assert orders == [[0, 1], [1, 0], [0, 1]]
