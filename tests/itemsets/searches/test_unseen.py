"""Sets chosen without the people of a fold, and the AUC that fit shows by them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.itemsets.measures.classification import FOLDS, CrossValidation
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import RowLabels
from voile.itemsets.searches import unseen
from voile.itemsets.selection import select
from voile.itemsets.verbs.content import ItemsetsContent
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.options import FitOptions

DETERMINED = ("joint", "paper-hamdist", "paper-distcnt", "cm-greedy", "k-anonymity-distcnt")


def without_meaning(seed=0, people=200, columns=300):
    rng = np.random.default_rng(seed)
    return rng.random((people, columns)) < 0.15, rng.integers(0, 2, people)


def dealt(X, y):
    rows = Incidence.of(X)
    return CrossValidation.of(rows, RowLabels.of(y, len(y)), np.random.default_rng(0))


@pytest.mark.parametrize("method", DETERMINED)
def test_the_people_of_a_fold_have_no_part_in_what_is_chosen_without_it(method):
    X, y = without_meaning()
    folds = dealt(X, y)
    before = select(X, y, constraint=Constraint(2), method=method, folds=folds)
    for fold in range(FOLDS):
        hidden = folds.find_fold(fold)
        other, labels = X.copy(), y.copy()
        other[hidden], labels[hidden] = other[hidden][:, ::-1], 1 - labels[hidden]
        after = select(other, labels, constraint=Constraint(2), method=method, folds=folds)
        assert after.without[fold].tolist() == before.without[fold].tolist()
    assert any(one.tolist() != before.features.tolist() for one in before.without)


@pytest.mark.parametrize("method", ["portfolio", "best", "greedy", "joint", "paper-hamdist"])
def test_of_labels_without_meaning_the_auc_shown_is_that_of_chance(method):
    X, y = without_meaning()
    names = [f"x{at}" for at in range(X.shape[1])]
    lists = [[name for name, has in zip(names, row, strict=True) if has] for row in X]
    source = open_source(pa.table({"items": lists, "y": np.where(y, "yes", "no")}))
    roles = Roles.model_validate({"columns": {"items": "items", "y": "label"}})
    options = FitOptions(k=(1, 2), method=method)
    kit = fit(source, roles, options, seed=0, progress=silent)
    content = ItemsetsContent.of(kit)
    chosen = {one["k"]: one for one in content.figures.to_pylist()}[2]
    assert 0.35 < chosen["auc_logistic"] < 0.62
    assert content.found["auc_on"] == "unseen"
    if method in ("portfolio", "paper-hamdist"):
        return  # they publish few features here, which flatter little
    mask = content.frontier.policies[chosen["number"]]
    columns = [names.index(name.removeprefix("items=")) for name in np.array(content.names)[mask]]
    in_sight = dealt(X, y)(Incidence.of(X[:, columns]))["logistic"].value
    assert in_sight > chosen["auc_logistic"] + 0.05


def test_of_many_ones_and_where_no_folds_are_given_each_search_is_run_once(monkeypatch):
    X, y = without_meaning()
    assert select(X, y, constraint=Constraint(2), method="joint").without is None
    monkeypatch.setattr(unseen, "MOST_ONES", 0)
    once = select(X, y, constraint=Constraint(2), method="joint", folds=dealt(X, y))
    assert once.without is None


def test_weights_of_a_users_own_are_kept_without_a_fold():
    X, y = without_meaning(columns=20)
    weights = np.arange(20.0)
    found = select(
        X, y, constraint=Constraint(2), utility=weights, method="greedy", folds=dealt(X, y)
    )
    assert len(found.without) == FOLDS
    assert all(len(one) for one in found.without)
