"""The learned affine map tells less than no map, and its objective is what it says."""

from __future__ import annotations

import numpy as np
import pytest

from voile.errors import RequestError
from voile.signals import PrivacyMap, mutual_information
from voile.signals.methods.affine import LearnedAffine, by_histogram, by_neighbours

pytestmark = pytest.mark.filterwarnings("ignore:a class has only")


def shifted(n, seed):
    rng = np.random.default_rng(seed)
    c = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return np.round(rng.normal(c * 2.0, 1 + c, n), 2), c


@pytest.mark.parametrize("optimiser", ["local", "evolution"])
@pytest.mark.parametrize("objective", ["histogram", "neighbours"])
def test_it_tells_less_than_no_map(objective, optimiser):
    X, c = shifted(400, 1)
    method = LearnedAffine(objective, optimiser, evaluations=250)
    map = PrivacyMap(method, random_state=0).fit(X, c)
    Z = map.encode(X, c)
    before = mutual_information(X, c, permutations=0).bits
    assert mutual_information(Z, c, permutations=0).bits < 0.4 * before
    assert (map.decode(Z, c) == X).all()


def test_the_commonest_class_is_pinned():
    X, c = shifted(400, 1)
    map = PrivacyMap(LearnedAffine(evaluations=50), random_state=0).fit(X, c)
    frame = map.fitted_.frames[0]
    assert frame.matrix[0, 0] == pytest.approx(X[c == 0].std(), rel=0.01)
    assert frame.shift[0] == pytest.approx(X[c == 0].mean(), abs=0.01)


def test_the_histogram_equals_a_count_by_hand():
    Z = np.array([[-1.0, -1.0, 1.0, 1.0] * 10])
    c = np.array([0, 0, 1, 1] * 10)
    assert by_histogram(Z, c) == pytest.approx(1.0)
    assert by_histogram(Z, np.array([0, 1, 0, 1] * 10)) == pytest.approx(0.0)


def test_objectives_agree_on_much_data():
    X, c = shifted(20_000, 2)
    X = X + np.random.default_rng(3).uniform(-0.005, 0.005, len(X))
    assert by_histogram(X[None], c) == pytest.approx(by_neighbours(X[None], c), abs=0.06)


def test_an_unknown_objective_is_refused():
    with pytest.raises(RequestError, match="histogram or neighbours"):
        PrivacyMap(LearnedAffine("entropy")).fit(*shifted(100, 1))
