"""The paper's selectors against their words, and its theorems on small tables."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.itemsets.searches.rules import best_of, rule, seeds, worth_of

from voile.core.errors import InfeasibleError
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.selection import select


def paper_hamdist(t, k, absences):
    """Algorithm 2, in so many words."""
    alone = [S[0] for S in t.feasible_sets(k, absences=absences) if len(S) == 1]
    S = []
    for x in sorted(alone, key=lambda x: (-round(t.hamdist([x]), 12), x)):
        if t.hamdist([x]) == 0 or not t.feasible([*S, x], k, absences=absences):
            break
        S.append(x)
    return sorted(S)


def paper_distcnt(t, k, absences):
    """Algorithm 3, its condition put right."""
    alone = [S[0] for S in t.feasible_sets(k, absences=absences) if len(S) == 1]
    S = []
    while left := [x for x in alone if x not in S]:
        gain = {x: t.distcnt([*S, x]) - t.distcnt(S) for x in left}
        x = max(left, key=lambda x: (round(gain[x], 12), -x))
        if gain[x] <= 1e-12 or not t.feasible([*S, x], k, absences=absences):
            break
        S.append(x)
    return sorted(S)


def cm_greedy(t, k):
    alone = [S[0] for S in t.feasible_sets(k) if len(S) == 1]
    S = []
    while left := [x for x in alone if x not in S]:
        x = min(left, key=lambda x: (round(t.cm([*S, x]), 12), -round(t.hamdist([x]), 12), x))
        if not t.feasible([*S, x], k):
            break
        S.append(x)
    return sorted(S)


@given(seeds, st.integers(1, 4))
@settings(max_examples=80, deadline=None)
def test_the_papers_methods_do_what_the_paper_says(table, seed, k):
    t = table(seed)
    k = min(k, t.n_subjects)
    wanted = {
        "paper-hamdist": lambda: paper_hamdist(t, k, absences=False),
        "paper-distcnt": lambda: paper_distcnt(t, k, absences=False),
        "cm-greedy": lambda: cm_greedy(t, k),
        "k-anonymity-hamdist": lambda: paper_hamdist(t, k, absences=True),
        "k-anonymity-distcnt": lambda: paper_distcnt(t, k, absences=True),
    }
    for method, twin in wanted.items():
        try:
            chosen = select(t.incidence, t.y, constraint=Constraint(k), method=method)
        except InfeasibleError:
            continue
        assert chosen.features.tolist() == twin()
        assert chosen.bound is None or not len(chosen.features)


@given(seeds, st.integers(1, 4))
@settings(max_examples=80, deadline=None)
def test_the_papers_greedy_is_within_its_factor_of_the_best_of_its_size(table, seed, k):
    t = table(seed)
    try:
        chosen = select(t.incidence, t.y, constraint=rule(t, k), method="paper-distcnt")
    except InfeasibleError:
        return
    size = len(chosen.features)
    best = max(t.distcnt(S) for S in itertools.combinations(range(t.X.shape[1]), size))
    assert chosen.utility >= (1 - 1 / math.e) * best - 1e-12


@given(seeds, st.integers(1, 4))
@settings(max_examples=80, deadline=None)
def test_the_papers_hamdist_set_is_the_best_of_its_size_among_the_frequent(table, seed, k):
    t = table(seed)
    constraint = rule(t, k)
    try:
        chosen = select(t.incidence, t.y, constraint=constraint, method="paper-hamdist")
    except InfeasibleError:
        return
    frequent = constraint.candidates(t.incidence)
    sets = itertools.combinations(frequent.tolist(), len(chosen.features))
    assert chosen.utility == pytest.approx(max(t.hamdist(S) for S in sets))


@given(seeds, st.integers(1, 4), st.sampled_from(["size", "hamdist", "distcnt"]))
@settings(max_examples=40, deadline=None)
def test_maximal_keeps_the_best_of_all_maximal_frequent_sets(table, seed, k, utility):
    t = table(seed)
    constraint = rule(t, k)
    worth = worth_of(t, utility)
    useful = [x for x in range(t.X.shape[1]) if worth.weights is None or worth.weights[x] > 0]
    frequent = [
        S
        for size in range(1, len(useful) + 1)
        for S in itertools.combinations(useful, size)
        if t.support(S) >= constraint.k
    ]
    maximal = [S for S in frequent if not any(set(S) < set(T) for T in frequent)]
    assert len(maximal) <= 20
    try:
        chosen = select(t.incidence, t.y, constraint=constraint, method="maximal", utility=utility)
    except InfeasibleError:
        assert not frequent
        return
    assert chosen.stopped == "finished"
    wanted = best_of(worth, maximal) if maximal else 0.0
    assert chosen.utility == pytest.approx(wanted)


def test_the_papers_example(table_1):
    rows = table_1.incidence
    found = {
        method: select(rows, table_1.y, constraint=Constraint(2), method=method, utility="hamdist")
        for method in ("exact", "maximal")
    }
    assert found["exact"].utility == found["exact"].bound == pytest.approx(8 / 9)
    assert found["exact"].features.tolist() == [2, 3]  # x1 and x5 are in all rows, and worth 0
    assert found["maximal"].utility == pytest.approx(6 / 9)
