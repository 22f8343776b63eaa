"""Searches against all feasible sets, the paper's loops against their words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.itemsets.searches.rules import best_of, rule, seeds, worth_of

from voile.core.errors import InfeasibleError, RequestError
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.searches import branch, greedy, picking
from voile.itemsets.searches.run import ItemsetsSearchRun
from voile.itemsets.selection import METHODS, select

UTILITIES = ["mutual-information", "hamdist", "distcnt", "chi-squared", "coverage", "size"]


@given(
    seeds,
    st.integers(1, 4),
    st.sampled_from([None, None, 1, 2]),
    st.booleans(),
    st.sampled_from(UTILITIES),
    st.sampled_from(["best", "greedy", "exact"]),
)
@settings(max_examples=250, deadline=None)
def test_chooses_a_feasible_set_and_the_best_where_it_says_so(
    table, seed, k, m, absences, utility, method
):
    t = table(seed)
    constraint = rule(t, k, m, absences)
    sets = t.feasible_sets(constraint.k, m, absences)
    try:
        chosen = select(
            t.incidence,
            t.y,
            constraint=constraint,
            method=method,
            utility=utility,
            evaluations=8 if method == "greedy" else None,
            random_state=seed,
        )
    except InfeasibleError:
        assert sets == [()]
        return
    except RequestError:  # DistCnt has no weights to branch on
        assert (utility, method) == ("distcnt", "exact")
        return
    assert tuple(chosen.features.tolist()) in sets
    worth = worth_of(t, utility)
    best = best_of(worth, sets)
    assert chosen.utility == worth(chosen.features) <= best + 1e-12
    if method == "exact":
        assert chosen.bound == chosen.utility == pytest.approx(best, abs=1e-9)
    if chosen.bound is not None:
        assert chosen.bound >= best - 1e-9


@given(seeds, st.integers(1, 4), st.sampled_from([None, 2]), st.booleans())
@settings(max_examples=120, deadline=None)
def test_branch_and_bound_finds_the_optimum_and_bounds_it_all_along(table, seed, k, m, absences):
    t = table(seed)
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=t.X.shape[1])
    constraint = rule(t, k, m, absences)
    worth = worth_of(t, weights)
    best = best_of(worth, t.feasible_sets(constraint.k, m, absences))
    try:
        run = ItemsetsSearchRun(worth, constraint, evaluations=None, seconds=None, rng=rng)
    except InfeasibleError:
        return
    branch.STEPS, before = 1, branch.STEPS
    try:
        bounds = []
        run.spend = lambda done: bounds.append((run.utility, run.bound))
        branch.branch(run)
    finally:
        branch.STEPS = before
    assert run.utility == run.bound == pytest.approx(best, abs=1e-9)
    assert all(utility - 1e-9 <= best <= bound + 1e-9 for utility, bound in bounds)


@given(seeds, st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_a_greedy_set_is_maximal_among_what_weighs_something(table, seed, k):
    t = table(seed)
    constraint = rule(t, k)
    try:
        chosen = select(
            t.incidence, constraint=constraint, utility="coverage", method="greedy", random_state=1
        )
    except InfeasibleError:
        return
    for x in np.setdiff1d(np.flatnonzero(t.X.any(axis=0)), chosen.features):
        assert not t.feasible([*chosen.features, x], constraint.k)


@pytest.fixture(scope="module")
def wide():
    """60 rows of 40 features: too many for the whole lattice."""
    rng = np.random.default_rng(5)
    X = (rng.random((60, 40)) < rng.random(40) * 0.6).astype(np.int8)
    return Incidence.of(X), rng.integers(0, 2, 60)


def test_the_same_seed_and_evaluations_choose_the_same(wide):
    rows, y = wide
    once, again, other = (
        select(
            rows, y, constraint=Constraint(3), method="greedy", evaluations=30, random_state=seed
        )
        for seed in (1, 1, 2)
    )
    assert once.features.tolist() == again.features.tolist()
    assert once.evaluations == again.evaluations == other.evaluations == 30
    assert once.stopped == "evaluations"


def test_more_evaluations_are_never_worse_and_never_pass_the_proven_optimum(wide):
    rows, y = wide
    found = [
        select(
            rows, y, constraint=Constraint(3), method="greedy", evaluations=n, random_state=0
        ).utility
        for n in (1, 5, 50, 300)
    ]
    proven = select(rows, y, constraint=Constraint(3), method="exact", random_state=0)
    assert found == sorted(found)
    assert found[-1] <= proven.utility == proven.bound
    assert proven.stopped == "finished"


def test_exact_search_stopped_early_still_bounds(wide):
    rows, y = wide
    proven = select(rows, y, constraint=Constraint(3), method="exact", random_state=0)
    early = select(
        rows, y, constraint=Constraint(3), method="exact", random_state=0, evaluations=208
    )
    assert early.stopped == "evaluations"
    assert early.utility <= proven.utility <= early.bound


@pytest.mark.parametrize("k", [1, 2, 4])
def test_rows_as_bits_and_classes_search_the_same_sets(monkeypatch, k):
    rng = np.random.default_rng(7)
    X = np.repeat(rng.random((50, 40)) < rng.random(40) * 0.6, 2, axis=0)
    twice, y = Incidence.of(X), rng.integers(0, 2, 100)
    found = []
    for most in (branch.MOST_BYTES, 0):
        monkeypatch.setattr(branch, "MOST_BYTES", most)
        found.append(select(twice, y, constraint=Constraint(k), method="exact", random_state=0))
    by_bits, by_classes = found
    assert by_bits.features.tolist() == by_classes.features.tolist()
    assert by_bits.bound == by_classes.bound == by_bits.utility
    assert by_bits.evaluations == by_classes.evaluations


def test_the_default_bounds_what_it_finds_among_few_rows(wide):
    rows, y = wide
    for k in (2, 3, 5):
        ours, proven = (
            select(rows, y, constraint=Constraint(k), method=method, random_state=0)
            for method in ("best", "exact")
        )
        assert ours.utility <= proven.utility <= ours.bound


@pytest.mark.parametrize("method", ["greedy", "paper-distcnt"])
def test_gains_looked_at_again_one_by_one_or_all_choose_the_same(wide, monkeypatch, method):
    rows, y = wide
    found = []
    for first in (1, 10**6):
        monkeypatch.setattr(picking, "FIRST", first)
        chosen = select(rows, y, constraint=Constraint(2), method=method, utility="distcnt")
        found.append(chosen.features.tolist())
    assert found[0] == found[1] != []


def test_exact_search_interrupted_still_bounds(wide, monkeypatch):
    rows, y = wide
    proven = select(rows, y, constraint=Constraint(3), method="exact", random_state=0)
    spend = ItemsetsSearchRun.spend

    def interrupted(run, evaluations):
        spend(run, evaluations)
        if run.bound is not None:
            raise KeyboardInterrupt

    monkeypatch.setattr(branch, "STEPS", 1)
    monkeypatch.setattr(ItemsetsSearchRun, "spend", interrupted)
    early = select(rows, y, constraint=Constraint(3), method="exact", random_state=0)
    assert early.stopped == "interrupted"
    assert early.utility <= proven.utility <= early.bound


def test_seconds_stop_a_search_that_has_no_end(wide):
    rows, y = wide
    chosen = select(rows, y, constraint=Constraint(3), method="greedy", seconds=0.05)
    assert chosen.stopped == "seconds"
    assert len(chosen.features)


def test_an_interrupted_search_returns_what_it_has(wide, monkeypatch):
    rows, y = wide

    def interrupt(run):
        raise KeyboardInterrupt

    monkeypatch.setattr(greedy, "restart", interrupt)
    chosen = select(rows, y, constraint=Constraint(3), method="greedy")
    assert chosen.stopped == "interrupted"
    assert len(chosen.features)


def test_weights_of_nothing_choose_nothing():
    chosen = select(np.eye(4), constraint=Constraint(1), utility=[0.0, -1.0, 0.0, 0.0])
    assert chosen.features.tolist() == []
    assert chosen.utility == chosen.bound == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "X",
    [np.ones((6, 3)), np.eye(6), np.repeat([[1, 0, 1], [0, 1, 1]], 3, axis=0), np.ones((6, 1))],
    ids=["all equal", "all unique", "two rows", "one feature"],
)
def test_limit_cases_give_feasible_sets(method, X):
    y = [0, 0, 1, 1, 0, 1]
    for k in (1, 3, 6):
        try:
            chosen = select(
                X, y, constraint=Constraint(k), method=method, utility="hamdist", random_state=0
            )
        except InfeasibleError:
            assert X.sum(axis=0).max() < k or method.startswith("k-anonymity")
            continue
        published = X[:, chosen.features]
        for row in published:
            assert (published >= row).all(axis=1).sum() >= k


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "bets"}, "no method 'bets'; did you mean best"),
        ({"evaluations": 0}, "evaluations must be at least 1"),
        ({"seconds": 0}, "seconds must be more than 0"),
        ({"utility": "cm"}, "cm has no weights"),
        ({"y": None}, "mutual-information needs a label"),
        ({"y": None, "utility": "distcnt"}, "distcnt needs a label"),
        ({"constraint": Constraint(7)}, "k is 7, and there are 6 subjects"),
        ({"constraint": Constraint(2, absences=True), "method": "maximal"}, "knows neither m"),
    ],
)
def test_requests_that_are_wrong_are_refused(table_1, options, says):
    request = {"y": table_1.y, "constraint": Constraint(2)} | options
    with pytest.raises(RequestError, match=says):
        select(table_1.incidence, **request)


BEGINNING = [name for name, how in METHODS.items() if how.given]


@given(seeds, st.integers(1, 4), st.sampled_from(BEGINNING), st.booleans())
@settings(max_examples=150, deadline=None)
def test_features_that_are_given_are_in_every_set_and_others_only_from_among(
    table, seed, k, method, absences
):
    t = table(seed)
    how, rng = METHODS[method], np.random.default_rng(seed)
    constraint = rule(t, k, None, absences or how.exact)
    sets = t.feasible_sets(constraint.k, None, constraint.absences)
    begun = sorted(sets[rng.integers(len(sets))])
    among = rng.permutation(t.X.shape[1])[:2]
    asked = {"constraint": constraint, "method": method, "random_state": seed}
    try:
        chosen = select(t.incidence, t.y, given=begun, among=among, **asked)
    except InfeasibleError:
        return  # no feature meets the constraint alone
    assert set(begun) <= set(chosen.features.tolist()) <= {*begun, *among.tolist()}
    assert tuple(chosen.features.tolist()) in {tuple(sorted(one)) for one in sets}


def test_features_given_that_break_the_rule_are_refused():
    X = np.array([[1, 1], [1, 0], [0, 1], [1, 0], [0, 1]])
    y = [0, 1, 0, 1, 1]
    with pytest.raises(InfeasibleError, match="features given do not meet a k of 2"):
        select(X, y, constraint=Constraint(2), given=[0, 1])
    with pytest.raises(RequestError, match="exact takes no columns of numbers"):
        select(X, y, constraint=Constraint(2), given=[0], method="exact")
