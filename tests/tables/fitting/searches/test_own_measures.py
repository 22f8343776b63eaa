"""Every search with measures that are not the paper's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from voile.core.errors import RequestError
from voile.core.frontier import Frontier
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import METHODS, search
from voile.tables.fitting.searches import best
from voile.tables.people.counts import Constraints

REQUIRED, FORBIDDEN = np.eye(6, dtype=bool)[[2, 4]]
LIMITS = {
    "free": Constraints(),
    "constrained": Constraints(k=2, l_diversity=2, suppress=0.4),
    "cuts": Constraints(max_risk=0.5, suppress=0.5, required=REQUIRED, forbidden=FORBIDDEN),
}
PAIRS = ("weighed", "mutual", "own", "outcomes")


@dataclass(frozen=True)
class Space:
    evaluator: PolicyEvaluator


def space(own, pair, limits, seed=11, sizes=(3, 2, 4)):
    counts = own.counts(seed, sizes=sizes)
    risk, loss = own.pairs(counts)[pair]
    return Space(PolicyEvaluator(counts, LIMITS[limits], risk=risk, loss=loss))


def whole_frontier(evaluator):
    """Score every policy from scratch; keep the feasible ones that nothing beats."""
    n = evaluator.n_bits
    policies = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(bool)
    scores = evaluator.scores(policies)
    kept = evaluator.feasible(policies, scores)
    return Frontier.of(scores.risk[kept].round(12), scores.loss[kept].round(12), policies[kept])


@pytest.mark.whole
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("method", [*METHODS, best.seek])
def test_every_search_scores_as_from_scratch(own, method, pair, limits):
    here = space(own, pair, limits)
    found = search(here, method=method, random_state=0).frontier
    scores = here.evaluator.scores(found.policies)
    np.testing.assert_allclose(found.risk, scores.risk, atol=1e-9)
    np.testing.assert_allclose(found.loss, scores.loss, atol=1e-9)
    assert here.evaluator.feasible(found.policies, scores).all()
    wanted = whole_frontier(here.evaluator)
    assert found.area() >= wanted.area() - 1e-9
    if method in ("best", "exhaustive"):
        np.testing.assert_allclose(found.risk, wanted.risk, atol=1e-9)
        np.testing.assert_allclose(found.loss, wanted.loss, atol=1e-9)


@pytest.mark.whole
@pytest.mark.parametrize("pair", PAIRS)
def test_best_beats_random_chains_on_a_larger_lattice(own, pair):
    here = space(own, pair, "free", sizes=(9, 3, 14))
    ours = search(here, method="best", evaluations=3_000, random_state=0)
    random = search(here, method="random-chain", evaluations=3_000, random_state=0)
    assert ours.frontier.area() < random.frontier.area()


def test_a_search_refuses_a_measure_that_breaks_what_it_declares(own):
    rising = own.risk(lambda groups: groups.subjects * groups.width, name="rising")
    with pytest.raises(RequestError, match=r"rising declares that it falls .* and rose"):
        search(Space(PolicyEvaluator(own.counts(1), risk=rising)))


def test_the_weighed_risk_changes_what_is_found(own):
    counts = own.counts(8, sizes=(6, 2, 9))
    risk, loss = own.pairs(counts)["weighed"]
    plain = search(Space(PolicyEvaluator(counts)), method="exhaustive").frontier
    weighed = PolicyEvaluator(counts, risk=risk, loss=loss)
    ours = search(Space(weighed), method="exhaustive").frontier
    theirs = Frontier.of(*weighed.evaluate(plain.policies), plain.policies)
    assert ours.area() < theirs.area()
