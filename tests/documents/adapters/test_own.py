"""A user's own: scikit-learn's classifiers, pipelines of spaCy."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import NearestCentroid
from sklearn.svm import LinearSVC
from tests.documents.learners.made import harmless, made, of_forms

from voile.core.errors import RequestError
from voile.documents.adapters.scikit_learn import Sklearn
from voile.documents.adapters.spacy import SpacyLearner
from voile.documents.learners.named_learners import learners_of


@pytest.mark.parametrize("types", [1, 2])
@pytest.mark.parametrize("estimator", [LogisticRegression(C=10), LinearSVC(), RidgeClassifier()])
def test_its_positives_are_what_it_predicts(estimator, types):
    train, other = made(60, types=types), made(20, seed=1, types=types)
    fitted = Sklearn(estimator).fit(train, seed=0)
    margins = fitted.margins(other)
    predicted = fitted.estimator.predict(other.matrix)
    told = np.where(margins.max(axis=1) > 0, margins.argmax(axis=1) + 1, 0)
    sure = np.abs(margins).min(axis=1) > 0.5  # a type below 1/2 may still be the likeliest
    assert sure.mean() > 0.5
    np.testing.assert_array_equal(told[sure], predicted[sure])
    assert (told == other.labels).mean() > 0.9
    assert not hasattr(estimator, "coef_")


def test_probabilities_become_their_log_odds():
    train = made(40)
    fitted = Sklearn(LogisticRegression()).fit(train)
    chances = fitted.estimator.predict_proba(train.matrix)[:, 1:]
    np.testing.assert_allclose(1 / (1 + np.exp(-fitted.margins(train))), chances, atol=1e-9)


def test_classes_that_are_not_there():
    train = made(20)
    assert (Sklearn(LogisticRegression()).fit(harmless(train)).margins(train) < 0).all()
    second = of_forms(train.form, np.where(train.labels == 2, 2, 0), train.first, 2)
    margins = Sklearn(LinearSVC()).fit(second).margins(train)
    assert (margins[:, 0] < -100).all()
    assert ((margins[:, 1] > 0) == (train.labels == 2)).mean() > 0.95


def test_nothing_to_look_at_gives_nothing():
    fitted = Sklearn(LogisticRegression()).fit(made(20))
    assert fitted.margins(made(0)).shape == (0, 2)


def test_a_classifier_that_is_not_wrapped_is_no_learner():
    with pytest.raises(RequestError, match="a LogisticRegression is not a learner"):
        learners_of([LogisticRegression()])


def test_who_gives_only_labels_is_refused():
    class Mute(NearestCentroid):
        decision_function = property()
        predict_proba = property()

    with pytest.raises(RequestError, match="Mute gives neither probabilities nor scores"):
        Sklearn(Mute()).fit(made(5))


@pytest.mark.whole
def test_a_recogniser_of_spacy_is_trained():
    pytest.importorskip("spacy")
    train, other = made(30, types=1), made(10, seed=1, types=1)
    margins = SpacyLearner(epochs=8).fit(train, seed=0).margins(other)[:, 0]
    assert set(margins.tolist()) == {-1.0, 1.0}
    names = other.labels == 1
    assert (margins[names] > 0).mean() > 0.8
    assert (margins[~names] > 0).mean() < 0.2


def test_a_pipeline_of_spacy_is_taken_as_it_is():
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("xx")
    rules = [{"label": "PER", "pattern": "Name3"}, {"label": "ORG", "pattern": "dr"}]
    nlp.add_pipe("entity_ruler").add_patterns(rules)
    examples = made(20)
    expected = np.array(examples.words) == "Name3"
    margins = SpacyLearner(nlp, {"PER": 2}).fit(examples).margins(examples)
    np.testing.assert_array_equal(margins[:, 1] > 0, expected)
    assert (margins[:, 0] < 0).all()
    with pytest.raises(RequestError, match="the label PER stands for type 3 of 2"):
        SpacyLearner(nlp, {"PER": 3}).fit(examples)


def test_a_library_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(RequestError, match="spacy is not installed; install it with: pip install"):
        SpacyLearner().fit(made(2))
