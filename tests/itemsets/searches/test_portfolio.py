"""The default keeps the search that classifies best on people it did not see."""

from __future__ import annotations

import numpy as np
import pytest

from voile.itemsets.measures.classification import CrossValidation, RocArea
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import RowLabels
from voile.itemsets.searches import unseen
from voile.itemsets.selection import select

ALONE = {
    "joint": {"method": "joint"},
    "best": {"method": "best"},
    "distcnt": {"method": "best", "utility": "distcnt"},
}


def copied(copies, seed=0, people=400):
    """Rows in which one trait stands in many columns, and another in one, that tells as much."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, people)
    first, second = (rng.random(people) < np.where(y, 0.7, 0.3) for _ in range(2))
    rare = rng.random((people, 4)) < 0.1
    return np.column_stack([first] * copies + [second, rare]).astype(np.int8), y


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("given", [[], [1]])
def test_the_set_is_that_of_the_search_with_the_largest_auc(seed, given):
    X, y = copied(1 + seed, seed)
    asked = {"constraint": Constraint(4), "random_state": seed, "given": given}
    chosen = select(X, y, **asked)
    assert list(chosen.tried) == list(ALONE)
    most = max(chosen.tried, key=lambda name: chosen.tried[name].value)
    alone = select(X, y, **asked, **ALONE[most])
    assert chosen.features.tolist() == alone.features.tolist()
    assert chosen.utility == select(X, y, **asked, method="best").utility or most != "best"


def test_of_labels_without_meaning_nothing_is_expected():
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 300)) < 0.15, rng.integers(0, 2, 200)
    chosen = select(X, y, constraint=Constraint(2), random_state=0)
    assert all(0.35 < auc.value < 0.62 for auc in chosen.tried.values())
    rows = Incidence.of(X)
    folds = CrossValidation.of(rows, RowLabels.of(y, 200), np.random.default_rng(0))
    joint = select(X, y, constraint=Constraint(2), method="joint").features
    in_sight = folds(rows.project(joint))["logistic"].value  # chosen with all labels
    assert in_sight > chosen.tried["joint"].value + 0.05


@pytest.mark.parametrize("options", [{"utility": "hamdist"}, {"utility": "coverage"}])
def test_by_another_utility_it_is_the_best(options):
    X, y = copied(3)
    labels = None if options["utility"] == "coverage" else y
    found = [
        select(X, labels, constraint=Constraint(4), method=method, random_state=0, **options)
        for method in ("portfolio", "best")
    ]
    assert found[0].features.tolist() == found[1].features.tolist()
    assert found[0].bound == found[1].bound
    assert not found[0].tried


def test_with_too_few_people_of_a_class_to_try_it_is_joint():
    X, y = copied(3)
    y = np.where(np.arange(len(y)) < 4, 0, 1)
    chosen = select(X, y, constraint=Constraint(4), random_state=0)
    joint = select(X, y, constraint=Constraint(4), method="joint")
    assert chosen.features.tolist() == joint.features.tolist()
    assert not chosen.tried


def test_a_trial_that_is_cut_short_leaves_the_joint_set(monkeypatch):
    X, y = copied(3)
    joint = select(X, y, constraint=Constraint(4), method="joint").features.tolist()
    early = select(X, y, constraint=Constraint(4), evaluations=3, random_state=0)
    assert early.stopped == "evaluations"
    assert early.features.tolist() == joint

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(CrossValidation, "auc", interrupted)
    stopped = select(X, y, constraint=Constraint(4), random_state=0)
    assert stopped.stopped == "interrupted"
    assert stopped.features.tolist() == joint


@pytest.mark.parametrize("seed", range(3))
def test_of_many_ones_joint_is_kept_unless_another_leads_beyond_chance(monkeypatch, seed):
    X, y = copied(3, seed)
    monkeypatch.setattr(unseen, "MOST_ONES", 0)
    chosen = select(X, y, constraint=Constraint(4), random_state=0)
    rows = Incidence.of(X)
    alone = {
        name: select(rows, y, constraint=Constraint(4), random_state=0, **how).features
        for name, how in ALONE.items()
    }
    joint = chosen.tried["joint"]
    ahead = [name for name, auc in chosen.tried.items() if auc.leads(joint)]
    most = max(ahead, key=lambda name: chosen.tried[name].value, default="joint")
    assert chosen.features.tolist() == alone[most].tolist()


def test_one_leads_another_by_more_than_the_paired_interval_alone():
    moved = np.array([0.02, -0.02, 0.01, 0.0])
    one, same, other = RocArea(0.81, moved, []), RocArea(0.8, moved, []), RocArea(0.8, -moved, [])
    assert one.leads(same)
    assert not one.leads(other)
    assert not same.leads(one)
