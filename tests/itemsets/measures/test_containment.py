"""How many share what is known of a row, against counting from the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.itemsets.measures.containment import (
    FeatureExposure,
    anonymity,
    containment_set,
    exposure,
    label_diversity,
    part_anonymity,
    row_anonymity,
    row_exact_anonymity,
)
from voile.itemsets.rows.incidence import Incidence

seeds = st.integers(0, 2**32)


def some_features(t, seed):
    return np.flatnonzero(np.random.default_rng(seed).random(t.X.shape[1]) < 0.7)


@given(seeds)
@settings(max_examples=150, deadline=None)
def test_measures_are_those_of_their_definitions(table, seed):
    t = table(seed)
    S = some_features(t, seed)
    assert row_anonymity(t.incidence, S).tolist() == t.row_anonymity(S)
    assert anonymity(t.incidence, S) == min(t.row_anonymity(S))
    assert row_exact_anonymity(t.incidence, S).tolist() == t.row_exact(S)
    published = t.X[:, S]
    for row in range(len(t.X)):
        holds_all = (published >= published[row]).all(axis=1)
        assert containment_set(t.incidence, row, S).tolist() == np.flatnonzero(holds_all).tolist()
        labels = len(set(t.y[holds_all].tolist()))
        assert label_diversity(t.incidence, t.y, S)[row] == labels
    least = label_diversity(t.incidence, t.y, S).min()
    assert exposure(t.incidence, S, t.y).label_diversity == least
    some = np.random.default_rng(seed).integers(0, len(t.X), 3)
    every = row_anonymity(t.incidence, S)
    assert row_anonymity(t.incidence, S, rows=some).tolist() == every[some].tolist()


@given(seeds, st.integers(0, 7), st.booleans())
@settings(max_examples=150, deadline=None)
def test_small_parts_are_as_rare_as_the_rarest_that_occurs(table, seed, m, absences):
    t = table(seed)
    S = some_features(t, seed)
    rarest = min(support for _, _, support in t.parts(S, m, absences))
    assert part_anonymity(t.incidence, m, S, absences=absences) == rarest


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_small_parts_fall_from_everyone_to_the_whole_row(table, seed):
    rows = table(seed).incidence
    width = len(rows.features)
    by_m = [part_anonymity(rows, m) for m in range(width + 2)]
    assert by_m == sorted(by_m, reverse=True)
    assert by_m[0] == rows.n_subjects
    assert by_m[width] == anonymity(rows)
    exact = part_anonymity(rows, width, absences=True)
    assert exact == row_exact_anonymity(rows).min() <= anonymity(rows)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_more_features_never_hide_a_row_better(table, seed):
    t = table(seed)
    S = some_features(t, seed)
    assert (row_anonymity(t.incidence, S) >= row_anonymity(t.incidence)).all()
    assert anonymity(t.incidence, S) >= anonymity(t.incidence)


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_rows_written_twice_change_nothing(table, seed):
    t = table(seed)
    twice = Incidence.of(np.vstack([t.X, t.X]), subjects=np.concatenate([t.whose, t.whose]))
    once = t.incidence
    assert (row_anonymity(twice)[: len(t.X)] == row_anonymity(once)).all()
    assert (row_exact_anonymity(twice)[: len(t.X)] == row_exact_anonymity(once)).all()
    assert part_anonymity(twice, 2) == part_anonymity(once, 2)
    assert twice.n_subjects == once.n_subjects


def test_two_rows_of_one_person_hide_nobody():
    rows = Incidence.of(np.array([[1, 0], [1, 1], [0, 1]]), subjects=["a", "a", "b"])
    assert row_anonymity(rows).tolist() == [1, 1, 2]
    assert anonymity(rows) == 1


@pytest.mark.parametrize(
    ("X", "k", "exact", "empty"),
    [
        (np.zeros((4, 3)), 4, 4, 4),
        (np.ones((4, 3)), 4, 4, 0),
        (np.eye(4), 1, 1, 0),
        (np.tri(4), 1, 1, 0),
        (np.ones((1, 1)), 1, 1, 0),
    ],
    ids=["all empty", "all equal", "all unique", "a chain", "one row"],
)
def test_limit_cases(X, k, exact, empty):
    found = exposure(X)
    assert (found.anonymity, found.exact_anonymity, found.empty_rows) == (k, exact, empty)
    assert found.unique_rows == (len(X) if exact == 1 else 0)
    nothing = exposure(X, features=[])
    assert nothing.anonymity == nothing.exact_anonymity == nothing.empty_rows == len(X)


def test_equal_columns_tell_no_more_than_one():
    X = np.random.default_rng(3).integers(0, 2, (12, 4))
    assert (row_anonymity(np.hstack([X, X])) == row_anonymity(X)).all()


def test_the_papers_example(table_1):
    assert row_anonymity(table_1.X, [0, 2, 3, 4]).tolist() == [2, 2, 6, 2, 2, 6]
    assert anonymity(table_1.X) == 1
    assert exposure(table_1.X, [2, 3, 4], table_1.y) == FeatureExposure(
        subjects=6,
        rows=6,
        features=3,
        anonymity=2,
        exact_anonymity=2,
        unique_rows=0,
        empty_rows=0,
        label_diversity=2,
    )


def test_rows_and_sizes_that_are_not_there_are_refused():
    with pytest.raises(RequestError, match="there is no row 4; rows are 0 to 2"):
        containment_set(np.eye(3), 4)
    with pytest.raises(RequestError, match="m must be at least 0"):
        part_anonymity(np.eye(3), -1)
