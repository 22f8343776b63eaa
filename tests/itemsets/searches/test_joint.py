"""Greedy by joint information: equal to a naive one, feasible, within the limit, maximal."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.itemsets.measures.containment import anonymity, row_exact_anonymity
from voile.itemsets.measures.feasibility import Constraint, FeasibleSet
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import RowLabels
from voile.itemsets.searches import joint, picking
from voile.itemsets.searches.picking import ClassSums
from voile.itemsets.selection import select
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.options import FitOptions


def information(X, y, features):
    """Bits that the rows, cut to some features, tell of the label."""

    def entropy(cells):
        _, counts = np.unique(cells, axis=0, return_counts=True)
        return -(counts / len(y) * np.log2(counts / len(y))).sum()

    shown = X[:, features]
    return entropy(shown) + entropy(y[:, None]) - entropy(np.column_stack([shown, y]))


def unique_share(X, subjects, features):
    return np.mean(row_exact_anonymity(Incidence.of(X, None, subjects), features) == 1)


def may(X, subjects, k, limit, features):
    rows = Incidence.of(X, None, subjects)
    return anonymity(rows, features) >= k and unique_share(X, subjects, features) <= limit


@st.composite
def cases(draw):
    rows, width = draw(st.integers(4, 14)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = (rng.random((rows, width)) < 0.5).astype(np.int8)
    X[0] = 1  # no feature is empty
    y = np.arange(rows) % draw(st.integers(2, 3))
    subjects = rng.integers(0, rows, rows) if draw(st.booleans()) else None
    return X, y, subjects, draw(st.integers(1, 3)), draw(st.sampled_from([0, 0.2, 0.5, 1]))


@settings(max_examples=150, deadline=None)
@given(cases())
def test_it_picks_what_a_naive_one_picks(case):
    X, y, subjects, k, limit = case
    rows = Incidence.of(X, None, subjects)
    try:
        found = select(
            rows, y, constraint=Constraint(k), method="joint", utility="size", unique=limit
        ).features.tolist()
    except (InfeasibleError, RequestError):
        assert k > 1
        return
    chosen = []
    while True:
        left = [x for x in range(X.shape[1]) if x not in chosen]
        left = [x for x in left if may(X, subjects, k, limit, [*chosen, x])]
        if not left:
            break
        gains = [information(X, y, [*chosen, x]) for x in left]
        before = information(X, y, chosen) if chosen else 0.0
        best = max(gains)
        # Of equal gains the first; where nothing adds, in order.
        telling = [x for x, gain in zip(left, gains, strict=True) if gain > best - 1e-9]
        chosen.append(telling[0] if best > before + 1e-9 else left[0])
    assert found == sorted(chosen)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_bits_added_are_those_of_the_definition(case):
    X, y, subjects, _, _ = case
    rows = Incidence.of(X, None, subjects)
    table, state = RowLabels.of(y, len(y)).table(rows), FeasibleSet(rows, Constraint(1))
    chosen, left = list(range(X.shape[1] // 2)), np.arange(X.shape[1] // 2, X.shape[1])
    state.extend(chosen)
    before = information(X, y, chosen) if chosen else 0.0
    wanted = [len(y) * (information(X, y, [*chosen, x]) - before) for x in left]
    found = joint.bits_added(state, table, ClassSums(state, table)(), left)
    assert found == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_gains_computed_anew_for_the_largest_alone_give_a_feasible_and_maximal_set(case):
    X, y, subjects, k, limit = case
    rows = Incidence.of(X, None, subjects)
    found = {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(joint, "MOST_ONES", 0)
        for first in (1, 10**6):
            patched.setattr(picking, "FIRST", first)
            try:
                asked = {"method": "joint", "utility": "size", "unique": limit}
                chosen = select(rows, y, constraint=Constraint(k), **asked).features.tolist()
            except (InfeasibleError, RequestError):
                return
            left = [x for x in range(X.shape[1]) if x not in chosen]
            assert may(X, subjects, k, limit, chosen)
            assert not any(may(X, subjects, k, limit, [*chosen, x]) for x in left)
            found[first] = chosen
    asked = {"method": "joint", "utility": "size", "unique": limit}
    assert found[10**6] == select(rows, y, constraint=Constraint(k), **asked).features.tolist()


def test_a_limit_of_none_unique_leaves_none():
    rng = np.random.default_rng(1)
    X = (rng.random((300, 30)) < 0.3).astype(np.int8)
    y, asked = X[:, 0] | X[:, 1], Constraint(3)
    sizes = []
    for limit in (0, 0.05, 0.5, 1):
        found = select(X, y, constraint=asked, method="joint", unique=limit).features
        assert may(X, None, 3, limit, found)
        sizes.append(len(found))
    assert sizes == sorted(sizes)
    with pytest.raises(RequestError, match="share from 0 to 1"):
        select(X, y, constraint=asked, method="joint", unique=2)
    with pytest.raises(RequestError, match="greedy keeps to no share of unique rows"):
        select(X, y, constraint=asked, method="greedy", unique=0.5)


def test_it_stops_and_does_without_labels():
    X = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1]] * 5)
    how = {"constraint": Constraint(5), "method": "joint", "utility": "coverage"}
    assert select(X, **how).features.tolist() == [0, 1, 2]
    assert select(X, **how, seconds=1e-9).stopped == "seconds"


def test_a_kit_within_a_limit():
    rng = np.random.default_rng(2)
    bits = rng.random((200, 8)) < 0.4
    names = [f"x{i}" for i in range(8)]
    data = pa.table({n: bits[:, i] for i, n in enumerate(names)} | {"y": bits[:, 0].astype(int)})
    roles = Roles.model_validate({"columns": {**dict.fromkeys(names, "items"), "y": "label"}})
    kit = fit(open_source(data), roles, FitOptions(unique=0), seed=1, progress=silent)
    shown = kit.tables["frontier"]
    assert kit.facts["method"] == "joint"
    assert kit.facts["policies"] > 1
    assert set(shown.column("unique_share").to_pylist()) == {0.0}
