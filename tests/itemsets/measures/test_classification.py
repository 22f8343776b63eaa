"""Areas under the curve: as row by row, by person, and with intervals that hold."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import roc_auc_score

from voile.core.progress import silent
from voile.data import open_source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.itemsets.measures import classification
from voile.itemsets.measures.classification import FOLDS, CrossValidation
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import RowLabels
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.options import FitOptions
from voile.release.choice import Choice

NAMES = tuple("abcd")


def drawn(seed, rows=300, classes=2, telling=0.6):
    """Rows of which the first column tells something of the label, the others nothing."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 4)) < [0.5, 0.4, 0.3, 0.2]
    y = rng.integers(0, classes, rows)
    X[:, 0] = np.where(rng.random(rows) < telling, y == 0, X[:, 0])
    return X.astype(np.int8), y


def tried(X, y, subjects=None, seed=0):
    rows = Incidence.of(X, subjects=subjects)
    classes = CrossValidation.of(rows, RowLabels.of(y, len(y)), np.random.default_rng(seed))
    return classes, classes(rows)


@pytest.mark.parametrize("classes", [2, 3])
def test_equals_one_row_after_another(classes):
    X, y = drawn(1, classes=classes)
    how, found = tried(X, y)
    for name, learn in classification.LEARNERS.items():
        areas, error = [], 0.0
        for own in [y == 1] if classes == 2 else [y == c for c in range(classes)]:
            for f in range(FOLDS):
                train, test = how.fold != f, how.fold == f
                scores = learn(X[train], own[train], np.ones(train.sum())).decision_function(
                    X[test]
                )
                areas.append(roc_auc_score(own[test], scores))
                if classes == 2:
                    error += delong(own[test], scores)
        assert found[name].value == pytest.approx(np.mean(areas), abs=0.003)
        if classes == 2:
            half = 1.96 * np.sqrt(error) / FOLDS
            assert found[name].high - found[name].low == pytest.approx(2 * half, rel=0.05)


def delong(own, scores):
    """The variance of one fold's area, from how often each row is told from the other kind."""
    wins = (scores[own][:, None] > scores[~own]) + (scores[own][:, None] == scores[~own]) / 2
    return wins.mean(axis=1).var() / own.sum() + wins.mean(axis=0).var() / (~own).sum()


def test_rows_written_twice_change_nothing():
    X, y = drawn(2)
    people = np.arange(len(y))
    _, once = tried(X, y, people)
    _, twice = tried(np.repeat(X, 2, axis=0), np.repeat(y, 2), np.repeat(people, 2))
    for name in once:
        assert twice[name].value == pytest.approx(once[name].value)
        assert twice[name].low == pytest.approx(once[name].low)


def test_a_person_is_in_one_fold_and_folds_are_alike():
    X, y = drawn(3)
    people = np.random.default_rng(0).integers(0, 90, len(y))
    how, _ = tried(X, y, people)
    assert all(len(set(how.fold[people == who])) == 1 for who in set(people.tolist()))
    alone, _ = tried(X, y)
    counts = np.array([np.bincount(y[alone.fold == f], minlength=2) for f in range(FOLDS)])
    assert (np.ptp(counts, axis=0) <= 1).all()


@pytest.mark.whole
def test_the_interval_holds_what_other_people_show():
    held = 0
    many, classes = drawn(1000, rows=100_000)
    truth = roc_auc_score(classes == 0, many[:, 0])  # the other columns tell nothing
    for seed in range(60):
        found = tried(*drawn(seed), seed=seed)[1]["logistic"]
        held += found.low <= truth <= found.high
    assert held >= 51  # 57 expected


def test_limit_cases():
    X, y = drawn(4)
    rows, labels = Incidence.of(X), RowLabels.of(y, len(y))
    how = CrossValidation.of(rows, labels, np.random.default_rng(0))
    nothing = how(rows.project(np.zeros(0, dtype=np.int32)))
    assert {(a.value, a.low, a.high) for a in nothing.values()} == {(0.5, 0.5, 0.5)}
    few = RowLabels.of(np.arange(len(y)) < FOLDS - 1, len(y))
    assert CrossValidation.of(rows, few, np.random.default_rng(0)) is None
    one_of_three = np.where(np.arange(len(y)) == 0, 2, y)
    some = CrossValidation.of(rows, RowLabels.of(one_of_three, len(y)), np.random.default_rng(0))
    assert some.targets == (0, 1)


def test_of_many_ones_a_sample_of_people_of_every_class_takes_part():
    X, y = drawn(4)
    people = np.random.default_rng(0).integers(0, 90, len(y))
    rows, labels = Incidence.of(X, subjects=people), RowLabels.of(y, len(y))
    half = len(rows.items) // 2
    how = CrossValidation.of(rows, labels, np.random.default_rng(0), most=half)
    part = set(people[how.sample].tolist())
    assert abs(len(part) / len(set(people.tolist())) - half / len(rows.items)) < 0.03
    assert not part & set(people[~how.sample].tolist())
    assert how.select_sampled(rows).n_rows == how.sample.sum() == len(how.fold)
    folds = [set(people[how.find_fold(fold)].tolist()) for fold in range(FOLDS)]
    assert set().union(*folds) == part
    assert sum(map(len, folds)) == len(part)


ROLES = {"columns": {**dict.fromkeys(NAMES, "items"), "y": "label", "who": "identifier"}}


def table(seed=5):
    X, y = drawn(seed, telling=0.9)
    return pa.table({n: X[:, i] for i, n in enumerate(NAMES)} | {"y": y, "who": np.arange(len(y))})


def fitted(data, roles=ROLES, **options):
    asked = FitOptions.model_validate(options)
    return fit(open_source(data), Roles.model_validate(roles), asked, seed=1, progress=silent)


def test_a_kit_says_how_well_each_policy_classifies():
    kit = fitted(table())
    shown = kit.tables["frontier"].to_pydict()
    assert shown["auc_svm"][0] == shown["auc_logistic"][0] == 0.5  # publishes nothing
    before = kit.facts["before"]
    assert shown["auc_svm"][-1] >= before["auc_svm"] - 0.01 > 0.85  # loses nothing
    assert all(low <= a <= high for a, low, high in zip(*intervals(shown), strict=True))
    assert choose(kit, Choice(policy=1)).figures["auc_svm"] == shown["auc_svm"][1]


def intervals(shown):
    return (shown[name] for name in ("auc_svm", "auc_svm_low", "auc_svm_high"))


def test_people_held_out_are_neither_learnt_from_nor_tried():
    roles = {**ROLES, "subject": "who"}
    part = fitted(table(), roles, hold_out=0.4)
    held = part.facts["hold_out"]
    out = HoldOut(held["share"], bytes.fromhex(held["key"]), "who")
    batch = table().combine_chunks().to_batches()[0]
    learnt = pa.Table.from_batches([batch.filter(pa.array(~out.find_held(batch, 0)))])
    whole = fitted(learnt, roles)
    names = ["auc_svm", "auc_logistic", "auc_svm_low"]
    assert part.tables["frontier"].select(names).equals(whole.tables["frontier"].select(names))


def test_without_labels_there_is_none():
    roles = {"columns": {**ROLES["columns"], "y": "drop"}}
    kit = fitted(table(), roles)
    assert not [name for name in kit.tables["frontier"].column_names if "auc" in name]
    assert not [name for name in kit.facts["before"] if "auc" in name]


def test_interrupted_it_keeps_what_was_found(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    whole = fitted(table())
    monkeypatch.setattr(CrossValidation, "__call__", interrupted)
    kit = fitted(table())
    assert kit.facts["stopped"] == "interrupted"
    assert kit.tables["frontier"].column("auc_svm").null_count == kit.facts["policies"]
    assert (whole.facts["loss"], kit.facts["loss"]) == ("auc", "utility")
    shown = kit.tables["frontier"].to_pydict()
    assert shown["loss"] == shown["utility_lost"]
    assert set(shown["loss_low"]) == {None}


def test_loss_is_what_the_auc_above_chance_falls_by():
    kit = fitted(table())
    shown, before = kit.tables["frontier"].to_pydict(), kit.facts["before"]["auc_logistic"]
    for loss, low, high, auc in zip(
        *(shown[name] for name in ("loss", "loss_low", "loss_high", "auc_logistic")), strict=True
    ):
        assert loss == pytest.approx(np.clip((before - auc) / (before - 0.5), 0, 1))
        assert low <= loss <= high
    assert (shown["loss"][0], shown["loss"][-1]) == (1, 0)


def test_the_interval_of_auc_lost_is_paired():
    X, y = drawn(7, rows=600)
    rows, labels = Incidence.of(X), RowLabels.of(y, len(y))
    how = CrossValidation.of(rows, labels, np.random.default_rng(0))
    whole, same = how(rows)["logistic"], how(rows)["logistic"]
    nothing = how(rows.project([]))["logistic"]
    assert classification.AucLost.of(same, whole) == classification.AucLost(0, 0, 0)
    lost = classification.AucLost.of(nothing, whole)
    assert (lost.value, lost.low, lost.high) == pytest.approx((1, 1, 1))
    assert classification.AucLost.of(whole, nothing) is None  # all features at chance


@pytest.mark.whole
def test_the_interval_of_auc_lost_holds_what_other_people_show():
    held, (many, classes) = 0, two_traits(0, 100_000)
    areas = [roc_auc_score(classes, many @ weights) for weights in ([1, 0], [1.0, 1.0])]
    truth = (areas[1] - areas[0]) / (areas[1] - 0.5)
    for seed in range(1, 61):
        X, y = two_traits(seed, 500)
        rows, labels = Incidence.of(X), RowLabels.of(y, len(y))
        how = CrossValidation.of(rows, labels, np.random.default_rng(seed))
        one, both = (how(rows.project(some))["logistic"] for some in ([0], [0, 1]))
        lost = classification.AucLost.of(one, both)
        held += lost.low <= truth <= lost.high
    assert held >= 51  # 57 expected


def two_traits(seed, people):
    """Rows of two traits that tell as much of the label, each beside the other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, people)
    X = rng.random((people, 2)) < np.where(y, 0.7, 0.35)[:, None]
    return X.astype(np.int8), y


def test_the_area_and_whom_each_row_is_ranked_against():
    scores, of = np.array([0.1, 0.5, 0.9]), np.array([[1, 1, 0], [0, 1, 2]])
    area, beaten = classification._area(scores, of)
    assert round(area, 3) == 0.917
    assert beaten.round(2).tolist() == [[1.0, 0.83, 0.33], [0.25, 0.75, 1.0]]


def test_memory_does_not_follow_people_by_distinct_rows():
    bits = (np.arange(4096)[:, None] >> np.arange(12)) & 1
    rows, y = Incidence.of(bits.astype(np.int8)), np.random.default_rng(0).integers(0, 2, 4096)
    classes = CrossValidation.of(rows, RowLabels.of(y, len(y)), np.random.default_rng(0))
    classes(rows)
    tracemalloc.start()
    classes(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 4096 * len(y) / FOLDS / 2
