"""Boosting, against one that sums every column anew each round."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.learners.made import harmless, made

from voile.documents.learners.adaboost import AdaBoost


def boosted(dense, positive, weight, rounds, prior):
    """Return the margins after each round: the naive twin of `boost`, in its stumps' own form."""
    sign = np.where(positive, 1.0, -1.0)
    margins, told = np.zeros(len(positive)), []
    for _ in range(rounds):
        now = weight * np.exp(-sign * margins)
        now /= now.sum()
        stumps = []
        for column in dense.T:
            mass = [[now[(column == x) & (positive == y)].sum() for y in (0, 1)] for x in (0, 1)]
            z = sum(np.sqrt(bad * good) for bad, good in mass)
            votes = [0.5 * np.log((good + prior) / (bad + prior)) for bad, good in mass]
            stumps.append((z, np.where(column == 1, votes[1], votes[0])))
        margins = margins + min(stumps, key=lambda stump: stump[0])[1]
        told.append(margins)
    return told


@given(seed=st.integers(0, 2**32 - 1), rounds=st.integers(1, 6), cost=st.sampled_from([1.0, 7.0]))
@settings(max_examples=30, deadline=None)
def test_it_equals_its_naive_twin(seed, rounds, cost):
    examples = made(6, seed=seed % 1000, types=1, noise=0.2)
    examples.costs[:] = cost
    learner = AdaBoost(rounds=rounds, cost_sensitive=cost > 1)
    positive = examples.labels[examples.counted] == 1
    if not positive.any():
        return
    weight = np.where(positive, cost, 1.0)
    dense = examples.matrix.toarray()[examples.counted]
    expected = boosted(dense, positive, weight, rounds, 4.0 / weight.sum())[-1]
    found = learner.fit(examples).margins(examples)[examples.counted, 0]
    loss = [(weight * np.exp(-np.where(positive, m, -m))).sum() for m in (found, expected)]
    assert loss[0] == pytest.approx(loss[1], rel=1e-4)  # equal stumps may be taken in any order


def test_more_rounds_fit_better():
    examples = made(60, types=1, noise=0.1)
    truth = np.where(examples.labels == 1, 1, -1)[examples.counted]
    losses = []
    for rounds in (1, 10, 100, 1000):
        margins = AdaBoost(rounds=rounds).fit(examples).margins(examples)[examples.counted, 0]
        losses.append(np.exp(-truth * margins).mean())
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.6


def test_costs_move_it_towards_identifiers():
    examples = made(60, noise=0.2)
    plain, cost = (AdaBoost(cost_sensitive=c).fit(examples) for c in (False, True))
    assert (cost.margins(examples) > 0).sum() > (plain.margins(examples) > 0).sum()


def test_marks_teach_nothing():
    examples = made(40, noise=0.1)
    other = made(40, noise=0.1)
    other.labels[~other.counted] = 1
    one, two = AdaBoost().fit(examples), AdaBoost().fit(other)
    np.testing.assert_array_equal(one.weights, two.weights)


def test_only_harmless_text_teaches_that_nothing_is_found():
    examples = harmless(made())
    assert (AdaBoost().fit(examples).margins(examples) < 0).all()


def test_text_told_apart_long_before_the_last_round_spoils_nothing():
    # All weights shrink by a factor each round; what rounding leaves of the sums must not grow.
    examples = made(200, types=1)
    margins = AdaBoost(rounds=3000).fit(examples).margins(examples)[examples.counted, 0]
    truth = examples.labels[examples.counted] == 1
    assert margins[truth].min() > 5
    assert margins[~truth].max() < -5
