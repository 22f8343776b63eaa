"""Matrices are read as they are, equal rows held once, wrong values refused by their place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from voile.core.errors import RequestError
from voile.itemsets.measures.containment import row_anonymity
from voile.itemsets.rows.incidence import Incidence

seeds = st.integers(0, 2**32)


def dense(incidence):
    """Return the rows as they came."""
    X = np.zeros((len(incidence.own), len(incidence.features)), dtype=int)
    for p in range(len(X)):
        X[p, incidence.items[incidence.starts[p] : incidence.starts[p + 1]]] = 1
    return X[incidence.pattern]


@given(seeds)
@settings(max_examples=80, deadline=None)
def test_rows_columns_and_subjects_are_those_of_the_matrix(table, seed):
    t = table(seed)
    rows = t.incidence
    np.testing.assert_array_equal(dense(rows), t.X)
    assert len(rows.own) == len(np.unique(t.X, axis=0))
    for x in range(t.X.shape[1]):
        held = rows.holders[rows.column_starts[x] : rows.column_starts[x + 1]]
        assert set(held) == set(rows.pattern[t.X[:, x] == 1])
        assert (np.diff(held) > 0).all()
    assert rows.n_subjects == t.n_subjects
    assert rows.supports.tolist() == [t.support([x]) for x in range(t.X.shape[1])]


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_a_projection_is_the_matrix_of_those_columns(table, seed):
    t = table(seed)
    kept = np.flatnonzero(np.random.default_rng(seed).random(t.X.shape[1]) < 0.5)
    rows = t.incidence.project(kept)
    again = Incidence.of(t.X[:, kept], subjects=t.subjects) if len(kept) else None
    np.testing.assert_array_equal(dense(rows), t.X[:, kept])
    assert rows.features == tuple(f"x{x}" for x in kept)
    if again is not None:
        assert sorted(rows.own) == sorted(again.own)
        assert rows.n_shared == again.n_shared


def test_an_arrangement_only_renumbers_features(table):
    t = table(11)
    order = np.random.default_rng(0).permutation(t.X.shape[1])
    rows = t.incidence.arrange_features(order)
    np.testing.assert_array_equal(dense(rows), t.X[:, order])
    assert rows.features == tuple(f"x{x}" for x in order)
    np.testing.assert_array_equal(rows.supports, t.incidence.supports[order])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
def test_every_sparse_form_is_read_and_left_as_it_was(form):
    X = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 0]])
    given_matrix = sparse.csr_array(X).asformat(form)
    np.testing.assert_array_equal(dense(Incidence.of(given_matrix)), X)
    np.testing.assert_array_equal(given_matrix.toarray(), X)


def test_unsorted_rows_and_stored_zeros_are_read_right():
    data, items, starts = np.array([1, 1, 0]), np.array([2, 0, 1]), np.array([0, 3])
    matrix = sparse.csr_array((data, items, starts), shape=(1, 3))
    assert Incidence.of(matrix).items.tolist() == [0, 2]
    assert matrix.indices.tolist() == [2, 0, 1]


@pytest.mark.parametrize("kind", [bool, np.int8, float])
def test_booleans_whole_numbers_and_floats_are_zeros_and_ones(kind):
    X = np.array([[1, 0], [0, 1], [-0.0, 1]]).astype(kind)
    assert Incidence.of(X).supports.tolist() == [1, 2]


@pytest.mark.parametrize("wrong", [2, -1, 0.5, np.nan, np.inf])
def test_other_values_are_refused_by_count_row_and_column_without_the_value(wrong):
    X = np.zeros((4, 3))
    X[2, 1], X[3, 0] = wrong, wrong
    with pytest.raises(RequestError, match=r"^row 2, column b: 2 values are neither 0 nor 1;"):
        Incidence.of(X, features=["a", "b", "c"])


def test_a_cell_given_twice_is_no_one():
    twice = sparse.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(1, 2))
    with pytest.raises(RequestError, match="1 value is neither 0 nor 1"):
        Incidence.of(twice)


@pytest.mark.parametrize(
    ("X", "options", "says"),
    [
        (np.zeros((0, 3)), {}, "empty: 0 rows, 3 features"),
        (np.zeros((3, 0)), {}, "empty: 3 rows, 0 features"),
        (np.zeros(3), {}, "two dimensions"),
        (np.array([["1"]]), {}, "not of type"),
        (np.eye(2), {"features": ["a", "a"]}, "column a: two features have the same name"),
        (np.eye(2), {"features": ["a"]}, "1 names for 2 features"),
        (np.eye(2), {"subjects": [1]}, "subjects of shape"),
        (np.eye(2), {"subjects": [1.0, np.nan]}, "row 1: 1 subjects are missing"),
        (np.eye(2), {"subjects": [None, "a"]}, "row 0: 1 subjects are missing"),
        (Incidence.of(np.eye(2)), {"subjects": [1, 2]}, "already"),
    ],
)
def test_what_cannot_be_read_is_refused(X, options, says):
    with pytest.raises(RequestError, match=says):
        Incidence.of(X, **options)


@pytest.mark.parametrize(
    ("features", "says"),
    [
        (["x0", "x7"], "no feature x7"),
        ([3], "numbers from 0 to 2"),
        ([-1], "numbers from 0 to 2"),
        ([0.5], "numbers from 0 to 2"),
        (np.array([True]), "3 booleans"),
    ],
)
def test_features_that_are_not_there_are_refused(features, says):
    with pytest.raises(RequestError, match=says):
        Incidence.of(np.eye(3)).project(features)


def test_features_are_named_numbered_or_marked():
    rows = Incidence.of(np.eye(3))
    for features in (["x2", "x0"], [2, 0], np.array([True, False, True])):
        assert rows.numbers(features).tolist() == [0, 2]


@given(st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_some_rows_are_as_if_they_alone_were_read(table, seed):
    t = table(seed)
    rows = np.random.default_rng(seed).random(len(t.X)) < 0.6
    rows[0] = True
    subjects = None if t.subjects is None else t.subjects[rows]
    part, read = t.incidence.among(rows), Incidence.of(t.X[rows], subjects=subjects)
    assert part.n_subjects == read.n_subjects
    assert part.supports.tolist() == read.supports.tolist()
    assert row_anonymity(part).tolist() == row_anonymity(read).tolist()
