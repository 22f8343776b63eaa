"""The decoding of chains, against every path of a short one."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.documents.model.classifiers.chain import MOST, best_labels, log_odds


@st.composite
def chains(draw: st.DrawFn, scale: float = 3.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw scores, transitions and documents, empty ones among them."""
    labels = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(0, 4), min_size=0, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.normal(0, scale, (sum(sizes), labels)).astype(np.float32)
    transitions = rng.normal(0, scale, (labels, labels))
    return scores, transitions, np.cumsum([0, *sizes], dtype=np.intp)


def paths(scores: np.ndarray, transitions: np.ndarray) -> dict[tuple[int, ...], float]:
    """Return the score of every path through one document."""
    n, labels = scores.shape
    return {
        path: sum(float(scores[i, y]) for i, y in enumerate(path))
        + sum(transitions[a, b] for a, b in pairwise(path))
        for path in product(range(labels), repeat=n)
    }


@given(chains())
@settings(max_examples=60, deadline=None)
def test_the_path_found_scores_as_high_as_any(chain):
    scores, transitions, first = chain
    found = best_labels(scores, transitions, first)
    for start, end in pairwise(first):
        if end > start:
            every = paths(scores[start:end], transitions)
            assert every[tuple(found[start:end].tolist())] >= max(every.values()) - 1e-4


@given(chains())
@settings(max_examples=60, deadline=None)
def test_odds_are_those_of_all_paths_summed(chain):
    scores, transitions, first = chain
    found = log_odds(scores, transitions, first)
    for start, end in pairwise(first):
        every = paths(scores[start:end], transitions)
        weights = np.exp(np.array(list(every.values())))
        steps = np.array(list(every), dtype=int)
        for i in range(end - start):
            for label in range(scores.shape[1]):
                here = steps[:, i] == label
                if here.all():
                    assert found[start + i, label] == MOST
                    continue
                odds = np.log(weights[here].sum()) - np.log(weights[~here].sum())
                assert abs(found[start + i, label] - odds) < 1e-4


def test_odds_stay_exact_where_probabilities_round_to_one():
    scores = np.array([[0.0, 60.0], [0.0, -60.0]], np.float32)
    found = log_odds(scores, np.zeros((2, 2)), np.array([0, 2]))
    np.testing.assert_allclose(found, [[-60, 60], [60, -60]])


def test_extreme_scores_give_finite_odds():
    scores = np.array([[0, 1e4], [1e4, 0], [-1e4, 1e4]], np.float32)
    transitions = np.array([[0.0, -1e4], [1e4, 0.0]])
    found = log_odds(scores, transitions, np.array([0, 3]))
    assert np.isfinite(found).all()
    assert (np.abs(found) <= MOST).all()
    assert found[0, 1] > 100


def test_documents_do_not_touch_each_other():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(2000, 3)).astype(np.float32)
    transitions = rng.normal(size=(3, 3))
    first = np.array([0, 700, 700, 2000])
    whole, path = log_odds(scores, transitions, first), best_labels(scores, transitions, first)
    for part in (slice(0, 700), slice(700, 2000)):
        alone = np.array([0, part.stop - part.start])
        np.testing.assert_array_equal(whole[part], log_odds(scores[part], transitions, alone))
        np.testing.assert_array_equal(path[part], best_labels(scores[part], transitions, alone))


def test_no_token_gives_nothing():
    none = np.zeros((0, 2), np.float32)
    for first in ([0], [0, 0]):
        assert log_odds(none, np.zeros((2, 2)), np.array(first)).shape == (0, 2)
        assert best_labels(none, np.zeros((2, 2)), np.array(first)).shape == (0,)
