"""A recipient not sure of the class: Theorem 1 for her, and a naive Bayes' rule beside ours."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.signals.made_up import fitted, readings

from voile.core.errors import RequestError
from voile.signals import PrivacyMap
from voile.signals.model.maps.bases import BASES

CLOSED = ["normal", "exponential", "gamma", "uniform"]


@pytest.mark.parametrize("method", [*CLOSED, "transport", "affine"])
@pytest.mark.parametrize("base", BASES)
def test_at_full_strength_no_prior_is_moved(method, base):
    """Theorem 1 under the model: p(c | z, s) = p(c | s); each class has its own reading."""
    map = fitted(method)
    codec = map.codec(base=base, strength=1.0)
    model = map.codec(base="normal", strength=1.0)
    X, c = readings(40, 5)
    Z = codec.encode(X, c)
    for prior in np.random.default_rng(1).dirichlet(np.ones(3), 3):
        found = codec.posterior(Z, prior, model)
        assert found.chances == pytest.approx(np.tile(prior, (40, 1)), abs=1e-4)
    at = np.searchsorted(map.classes_, c)
    assert (found.readings[at, np.arange(40)] == X).all()
    assert (found.readings[at - 1, np.arange(40)] != X).any()


@pytest.mark.parametrize("strength", [0.3, 0.8])
def test_a_weaker_map_moves_it_as_bayes_rule_says(strength):
    """Normal readings of one column: the law of z in each class is known in closed form."""
    rng = np.random.default_rng(2)
    c = rng.integers(0, 3, 900)
    mean, spread = np.array([50.0, 60.0, 90.0]), np.array([5.0, 9.0, 4.0])
    X = np.round(rng.normal(mean[c], spread[c]), 1)
    map = PrivacyMap("normal", "normal", strength, random_state=0).fit(X, c)
    Z = map.encode(X, c)
    prior = rng.dirichlet(np.ones(3), 900)
    found = map.posterior(Z, prior)
    weights = []
    for k, frame in enumerate(map.fitted_.frames):
        ends = map.codec_.forward(np.array([[0.0, 1.0]]), k)[0]
        slope = ends[1] - ends[0]
        law = stats.norm(ends[0] + slope * frame.shift[0], slope * frame.matrix[0, 0])
        weights.append(prior[:, k] * law.pdf(Z))
    naive = np.stack(weights, axis=1)
    assert found.chances == pytest.approx(naive / naive.sum(axis=1, keepdims=True), abs=1e-5)


def test_at_strength_nought_readings_speak_for_themselves():
    rng = np.random.default_rng(3)
    c = np.arange(400) % 2
    X = np.round(rng.normal(50 + 40 * c, 4), 1)
    map = PrivacyMap("normal", strength=0.0).fit(X, c)
    found = map.posterior(map.encode(X, c), [0.5, 0.5])
    assert (found.chances.argmax(axis=1) == c).mean() > 0.99


def test_who_is_sure_stays_sure_and_limits():
    map = fitted("transport")
    X, c = readings(10, 1)
    found = map.posterior(map.encode(X, c), [0.0, 1.0, 0.0])
    assert (found.chances == [0, 1, 0]).all()
    assert map.posterior(np.empty((0, 2)), [0.2, 0.3, 0.5]).chances.shape == (0, 3)
    assert map.posterior(map.encode(X, c)[:1], [0.2, 0.3, 0.5]).readings.shape == (3, 1, 2)
    for prior in ([0.5, 0.5], [0.5, 0.6, 0.2], [1.5, -0.5, 0.0], np.full((9, 3), 1 / 3)):
        with pytest.raises(RequestError, match="chances"):
            map.posterior(map.encode(X, c), prior)


def test_nominal_columns_are_decoded_and_weigh_nothing():
    rng = np.random.default_rng(4)
    c = np.array(["a", "b"])[rng.integers(0, 2, 300)]
    words = np.where(rng.random(300) < np.where(c == "a", 0.8, 0.3), "yes", "no")
    map = PrivacyMap().fit(words, c)
    found = map.posterior(map.encode(words, c), [0.25, 0.75])
    assert (found.chances == [0.25, 0.75]).all()
    assert set(found.readings.ravel()) == {"yes", "no"}
