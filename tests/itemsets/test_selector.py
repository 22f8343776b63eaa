"""The selector: what scikit-learn asks of one, and what only this one promises."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import voile.itemsets
from voile.core.errors import InfeasibleError, RequestError
from voile.itemsets import Constraint, anonymity, select
from voile.itemsets.measures.containment import part_anonymity, row_exact_anonymity
from voile.itemsets.selection import METHODS
from voile.itemsets.selector import ContainmentSelector, ItemsetsWarning

pytestmark = pytest.mark.filterwarnings("ignore::voile.itemsets.selector.ItemsetsWarning")


@pytest.mark.whole
@parametrize_with_checks(
    [
        ContainmentSelector(k=1, binarize=0.0),
        ContainmentSelector(k=2, method="greedy", utility="coverage", binarize=0.5),
        ContainmentSelector(k=1, binarize=0.0, nulls="absent"),
    ]
)
def test_keeps_what_scikit_learn_asks(estimator, check):
    """Every check; `check_array_api_input` skips itself."""
    check(estimator)


def test_numbers_above_a_threshold_are_items():
    X = np.array([[0.2, 3.0], [0.7, 4.0], [0.9, -1.0]])
    ones = (X > 0.5).astype(np.int8)
    plain = ContainmentSelector(k=1, utility="size").fit(ones)
    for rows in (X, sparse.csr_matrix(X), pd.DataFrame(X)):
        cut = ContainmentSelector(k=1, utility="size", binarize=0.5).fit(rows)
        assert cut.get_support().tolist() == plain.get_support().tolist()
        shown = cut.transform(rows)
        shown = shown.toarray() if sparse.issparse(shown) else np.asarray(shown)
        assert shown.tolist() == plain.transform(ones).tolist()
    with pytest.raises(RequestError, match="a sparse matrix is not cut below 0"):
        ContainmentSelector(k=1, utility="size", binarize=-1.0).fit(sparse.csr_matrix(X))


def test_a_missing_value_is_a_zero_where_the_user_says_so():
    X = np.array([[0.0, 1.0], [1.0, np.nan], [1.0, 1.0]])
    zeros = np.nan_to_num(X)
    plain = ContainmentSelector(k=1, utility="size").fit(zeros)
    for rows in (X, pd.DataFrame(X)):
        with pytest.raises((RequestError, ValueError)):
            ContainmentSelector(k=1, utility="size").fit(rows)
        absent = ContainmentSelector(k=1, utility="size", nulls="absent").fit(rows)
        assert absent.anonymity_ == plain.anonymity_
        assert np.asarray(absent.transform(rows)).tolist() == plain.transform(zeros).tolist()


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("m", [None, 2])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_chooses_what_the_search_chooses_and_says_what_it_meets(table, method, m, seed):
    made = table(seed)
    selector = ContainmentSelector(k=2, m=m, method=method, random_state=1)
    try:
        chosen = select(
            made.incidence,
            made.y,
            constraint=Constraint(2, m),
            method=method,
            random_state=1,
        )
    except (InfeasibleError, RequestError) as error:
        with pytest.raises(type(error), match=r"."):
            selector.fit(made.X, made.y, made.subjects)
        return
    selector.fit(made.X, made.y, made.subjects)
    features = selector.get_support(indices=True)
    assert features.tolist() == chosen.features.tolist()
    assert selector.utility_ == chosen.utility <= selector.bound_ + 1e-12
    met = made.parts(features.tolist(), len(features) if m is None else m, absences=False)
    assert selector.anonymity_ == min(support for _, _, support in met) >= 2


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), method=st.sampled_from(["best", "k-anonymity-hamdist"]))
def test_blocks_each_feature_by_a_least_itemset_with_what_was_chosen(table, seed, method):
    made = table(seed)
    selector = ContainmentSelector(k=2, method=method, utility="size")
    try:
        selector.fit(made.X, made.y, made.subjects)
    except RequestError:
        return
    chosen = set(selector.get_feature_names_out())
    absences = method != "best"
    for name, blocked in selector.blocked_.items():
        assert blocked.itemset[0] == name
        assert name not in chosen
        assert set(blocked.itemset[1:]) <= chosen
        numbers = [int(x[1:]) for x in blocked.itemset]
        assert len(made.matching(numbers, blocked.present)) == blocked.support == 1
        for out in range(len(numbers)):
            some = [x for i, x in enumerate(numbers) if i != out]
            signs = [x for i, x in enumerate(blocked.present) if i != out]
            assert len(made.matching(some, signs)) >= 2
    numbers = selector.get_support(indices=True).tolist()
    for x in set(range(made.X.shape[1])) - set(numbers):
        if made.X[:, x].any():
            may = made.feasible([*numbers, x], 2, absences=absences)
            assert may == (f"x{x}" not in selector.blocked_)


def test_the_rivals_of_k_anonymity_meet_the_exact_one():
    rng = np.random.default_rng(0)
    X = (rng.random((200, 8)) < 0.3).astype(np.int8)
    selector = ContainmentSelector(k=3, method="k-anonymity-hamdist").fit(
        X, rng.integers(0, 2, 200)
    )
    assert 1 < selector.get_support().sum() < 8
    assert row_exact_anonymity(X, selector.get_support()).min() >= 3


def test_m_is_what_anonymity_is_counted_for():
    X = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]])
    selector = ContainmentSelector(k=2, m=2, utility="size").fit(X)
    assert selector.get_support().all()
    assert selector.anonymity_ == part_anonymity(X, 2) == 2
    assert anonymity(X) == 1


def test_bounds_the_greedy_sets_by_what_clashes():
    X = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1], [0, 0, 1]])
    X = np.hstack([X, [[1], [0], [0], [0], [0]]])
    best, greedy = (
        ContainmentSelector(k=2, method=method, utility="size").fit(X)
        for method in ("best", "greedy")
    )
    assert best.bound_ == best.utility_ == 2
    assert greedy.bound_ == 2  # one of x0 and x2, which one row has both of; and x1


@pytest.mark.parametrize("of", [sparse.csr_array, sparse.csc_matrix, pd.DataFrame, pl.DataFrame])
def test_takes_what_the_user_has_and_keeps_it_sparse(of):
    X = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]], dtype=np.int8)
    given = of(X)
    selector = ContainmentSelector(k=2).fit(given, list("aabb"))
    out = selector.transform(given)
    assert sparse.issparse(out) == sparse.issparse(given)
    dense = out.toarray() if sparse.issparse(out) else np.asarray(out)
    assert dense.tolist() == X[:, 1:].tolist()


def test_names_are_the_frame_s():
    frame = pd.DataFrame({"tea": [1, 1, 1, 0], "milk": [1, 1, 0, 0], "rum": [0, 0, 1, 1]})
    selector = ContainmentSelector(k=2).fit(frame, list("aabb"))
    assert selector.get_feature_names_out().tolist() == ["milk", "rum"]
    assert selector.blocked_["tea"].itemset == ("tea", "rum")


def test_works_in_a_pipeline_and_clones():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = sparse.csr_array((rng.random((200, 30)) < 0.1 + 0.3 * y[:, None]).astype(np.int8))
    pipeline = make_pipeline(ContainmentSelector(k=3, random_state=0), LogisticRegression())
    assert cross_val_score(clone(pipeline), X, y, scoring="roc_auc").mean() > 0.8
    assert clone(pipeline[0]).get_params() == pipeline[0].get_params()


@pytest.mark.parametrize("make", ["default", "pandas", "polars"])
def test_gives_what_set_output_asks_for(make):
    frame = pd.DataFrame({"tea": [1, 1, 1, 0], "milk": [1, 1, 0, 0], "rum": [0, 0, 1, 1]})
    selector = ContainmentSelector(k=2).set_output(transform=make)
    out = selector.fit_transform(frame, list("aabb"))
    kinds = {"default": np.ndarray, "pandas": pd.DataFrame, "polars": pl.DataFrame}
    assert isinstance(out, kinds[make])
    if make != "default":
        assert list(out.columns) == ["milk", "rum"]
    assert np.asarray(out).tolist() == frame[["milk", "rum"]].to_numpy().tolist()


def test_names_out_are_checked_against_the_names_in():
    X = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]])
    selector = ContainmentSelector(k=2).fit(X, list("aabb"))
    assert selector.get_feature_names_out(["tea", "milk", "rum"]).tolist() == ["milk", "rum"]
    frame = pd.DataFrame(X, columns=["tea", "milk", "rum"])
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        selector.fit(frame, list("aabb")).get_feature_names_out(["ale", "milk", "rum"])
    numbered = selector.fit(pd.DataFrame(X), list("aabb"))
    assert numbered.get_feature_names_out().tolist() == ["x1", "x2"]
    assert list(numbered.blocked_) == ["x0"]


def test_classifies_in_a_pipeline_as_from_the_chosen_columns():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 300)
    X = (rng.random((300, 12)) < 0.15 + 0.4 * y[:, None] * (np.arange(12) < 4)).astype(np.int8)
    pipeline = make_pipeline(ContainmentSelector(k=4, random_state=0), LinearSVC())
    pipeline.fit(sparse.csr_array(X), y)
    chosen = pipeline[0].get_support()
    assert 0 < chosen.sum() < 12
    alone = LinearSVC().fit(X[:, chosen], y)
    assert (pipeline.predict(sparse.csr_array(X)) == alone.predict(X[:, chosen])).mean() > 0.99
    named = pipeline[0].blocked_
    assert named
    for name, blocked in named.items():
        columns = [int(one[1:]) for one in blocked.itemset]
        assert columns[0] == int(name[1:])
        assert X[:, columns].all(axis=1).sum() == blocked.support
        assert 0 < blocked.support < 4


@pytest.mark.parametrize(
    ("frame", "y", "said"),
    [
        (pd.DataFrame({"race": ["SECRET", "b"]}), [0, 1], "column race: 2 values are neither"),
        (pd.DataFrame({"a": [1, None]}), [0, 1], "row 1, column a: 1 value is neither"),
        (pl.DataFrame({"a": [1, None]}), [0, 1], "row 1, column a: 1 value is neither"),
        (pd.DataFrame([[1, 0]] * 2, columns=["a", "a"]), [0, 1], "two columns have the same name"),
        (pd.DataFrame({"a": [1, 0]}), pd.Series(["p", None]), "row 1: 1 labels are missing"),
        (pd.DataFrame({"a": [1, 0]}), pd.Series([1, None], dtype="Int8"), "row 1: 1 labels are"),
        (pd.DataFrame({"a": [1, 0]}), ["p"], "labels of shape"),
        (pd.DataFrame({"a": [1, 0]}), ["p", "p"], "one class only"),
    ],
)
def test_refuses_a_frame_by_its_place(frame, y, said):
    with pytest.raises(RequestError, match=said) as refused:
        ContainmentSelector(k=1).fit(frame, y)
    assert "SECRET" not in str(refused.value)


def test_a_stored_selector_holds_no_rows():
    X = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]])
    selector = ContainmentSelector(k=2).fit(X, list("aabb"))
    assert selector.blocked_["x0"].support == 1
    again = pickle.loads(pickle.dumps(selector))
    assert again.transform(X).tolist() == selector.transform(X).tolist()
    with pytest.raises(RequestError, match="fit it again"):
        _ = again.blocked_


def test_a_second_fit_forgets_the_first():
    X = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]])
    selector = ContainmentSelector(k=2).fit(X, list("aabb"))
    assert selector.blocked_
    assert selector.set_params(k=1).fit(X, list("aabb")).blocked_ == {}


def test_counts_rare_features_once():
    X = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 1], [0, 0, 0, 1]])
    with pytest.warns(
        ItemsetsWarning, match="1 of 4 features belong to nobody and 1 to fewer"
    ) as w:
        ContainmentSelector(k=2, utility="coverage").fit(X)
    assert len(w) == 1
    assert w[0].filename == __file__


def test_says_nothing_of_rare_features_where_there_are_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ContainmentSelector(k=2, utility="coverage").fit(np.ones((3, 2), dtype=np.int8))


def test_refuses_what_is_not_binary_without_its_value():
    with pytest.raises(RequestError, match=r"row 1, column milk: 1 value is neither 0 nor 1") as e:
        ContainmentSelector(k=1).fit(pd.DataFrame({"milk": [0, 737]}), [0, 1])
    assert "737" not in str(e.value)


def test_is_reached_from_the_wing():
    assert voile.itemsets.ContainmentSelector is ContainmentSelector
