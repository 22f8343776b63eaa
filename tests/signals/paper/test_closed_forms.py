"""Fitted closed forms come near the true ones, and shapes that differ are refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from voile.core.errors import RequestError
from voile.keys.random import ProtectiveRandom
from voile.signals import PrivacyMap, mutual_information
from voile.signals.model.codec.place import ReadingPlace
from voile.signals.model.maps.fitted import ClassSample
from voile.signals.paper.closed_forms import GammaForm, common_shape

N = 6000


def of(family, seed=0):
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 3, N)
    scale, low = np.array([1.0, 2.0, 5.0])[c], np.array([3.0, -2.0, 7.0])[c]
    x = {
        "normal": rng.normal(low, scale),
        "exponential": rng.exponential(scale),
        "gamma": rng.gamma(2.5, scale),
        "uniform": rng.uniform(low, low + scale),
    }[family]
    return np.maximum(np.round(x, 3), 0.001) if family == "gamma" else np.round(x, 3), c


@pytest.mark.parametrize("family", ["normal", "exponential", "gamma", "uniform"])
def test_each_form_hides_its_own_family(family):
    X, c = of(family)
    map = PrivacyMap(method=family, random_state=0).fit(X[: N // 2], c[: N // 2])
    left = X[N // 2 :], c[N // 2 :]
    assert mutual_information(*left, permutations=0).bits > 0.2
    Z = map.encode(*left, protective=ProtectiveRandom.for_tests(1))
    assert mutual_information(Z, left[1], permutations=0).bits < 0.02
    # the base is normal: so is what is sent
    assert stats.kstest(Z[np.abs(Z) < 3], "norm").statistic < 0.04


def test_whitening_is_symmetric_as_in_theorem_2():
    rng = np.random.default_rng(1)
    X = np.round(rng.multivariate_normal([5, 9], [[4, 1.5], [1.5, 1]], 500), 2)
    map = PrivacyMap(method="normal").fit(X, np.zeros(500, int))
    matrix = map.fitted_.frames[0].matrix
    assert matrix == pytest.approx(matrix.T)
    assert matrix @ matrix == pytest.approx(np.cov(X.T, bias=True), abs=1e-4)


def test_the_common_shape_is_the_likeliest():
    rng = np.random.default_rng(2)
    parts = [rng.gamma(2.5, scale, 300) for scale in (1.0, 4.0)]
    gap = np.array([np.log(x.mean()) - np.log(x).mean() for x in parts])

    def likelihood(k):
        return sum(stats.gamma(k, scale=x.mean() / k).logpdf(x).sum() for x in parts)

    ours = common_shape(gap, np.array([300, 300]), ReadingPlace(0))
    grid = np.linspace(1.5, 4, 501)
    assert ours == pytest.approx(grid[np.argmax([likelihood(k) for k in grid])], abs=0.01)


def test_shapes_that_differ_are_refused():
    rng = np.random.default_rng(3)
    c = np.repeat([0, 1], 500)
    X = rng.gamma(np.where(c == 0, 2.0, 6.0))[:, None]
    with pytest.raises(RequestError, match="different gamma shapes"):
        GammaForm().fit(ClassSample(X, c, np.arange(1000), np.array([0.001])), None)
