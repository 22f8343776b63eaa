"""The ensemble of two steps, and what selection takes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.documents.learners.made import harmless, made

from voile.documents.learners.adaboost import AdaBoost
from voile.documents.learners.crf import CRF
from voile.documents.learners.ensemble import EnsembleLearner
from voile.documents.learners.out_of_fold import (
    classes_by_own_rule,
    deal_subjects,
    margins_out_of_fold,
)
from voile.documents.learners.selection import LearnerSelection
from voile.documents.learners.svm import SVM
from voile.documents.model.classifiers.classifier import SaveableClassifier
from voile.documents.model.classifiers.ensemble import NEAR, neighbours


def test_neighbours_are_of_the_same_document():
    odds = np.array([[1.0], [2.0], [3.0], [99.0]])
    told = neighbours(odds, np.array([0, 1, 2, 3]), np.array([0, 2, 2, 4]))
    near = [[1, -6, 2], [2, 1, -6], [3, -6, 6], [6, 3, -6]]
    np.testing.assert_allclose(told, np.array(near) / NEAR, rtol=1e-6)


def test_only_candidates_are_judged():
    examples = made(60, noise=0.05)
    judged = EnsembleLearner(least=0.1).fit(examples)
    margins = judged.margins(examples)
    odds = judged.chain.margins(examples)
    candidates = odds.max(axis=1) > judged.cut
    assert 0 < candidates.sum() < len(candidates)
    assert margins[~candidates].max() < margins[candidates].min()
    np.testing.assert_allclose(margins[~candidates], odds[~candidates] - 20)


def test_scores_are_asked_for_once():
    examples = made(40)
    judged = EnsembleLearner().fit(examples)
    asked = []

    class Sight:
        first, matrix, words = examples.first, examples.matrix, examples.words

        def scores(self, weights):
            asked.append(weights)
            return examples.scores(weights)

    judged.margins(Sight())
    judged.margins(Sight())
    assert len(asked) == 2
    assert asked[0] is asked[1]


def test_the_svm_sends_false_candidates_away():
    train, other = made(80, noise=0.05), made(40, seed=1)
    eager = CRF(iterations=25, cost_sensitive=True)
    harm = other.labels == 0
    alone = (eager.fit(train).margins(other).max(axis=1) > 0) & harm
    both = (EnsembleLearner(crf=eager).fit(train).margins(other).max(axis=1) > 0) & harm
    assert both.sum() < alone.sum()


def test_only_harmless_text_teaches_that_nothing_is_found():
    examples = harmless(made())
    assert (EnsembleLearner().fit(examples).margins(examples) < 0).all()


def test_parts_keep_a_subject_together():
    examples = made(20)
    examples.__dict__["subject"] = np.repeat(np.arange(5), 4).astype(np.int32)
    dealt = deal_subjects(examples, 3, seed=0)
    assert set(dealt) == {0, 1, 2}
    assert all(len(set(dealt[four : four + 4])) == 1 for four in range(0, 20, 4))


def test_no_document_is_judged_by_who_saw_it():
    examples = made(12)
    fits = []

    def fit(some):
        fits.append(some)
        return SVM().fit(some)

    margins = margins_out_of_fold(fit, examples, 3, seed=0)
    assert sum(len(one.labels) for one in fits) == 2 * len(examples.labels)
    part = deal_subjects(examples, 3, seed=0)
    for fold in range(3):
        rest = SVM().fit(examples.of(part != fold))
        of = np.repeat(part == fold, np.diff(examples.first))
        np.testing.assert_array_equal(margins[of], rest.margins(examples.of(part == fold)))


def test_classes_are_the_highest_margin_above_zero():
    margins = np.array([[-1.0, -2.0], [0.5, 0.7], [0.0, -1.0], [3.0, 1.0]])
    assert classes_by_own_rule(margins).tolist() == [0, 2, 0, 1]
    assert classes_by_own_rule(np.zeros((2, 0))).tolist() == [0, 0]


def test_selection_takes_the_most_accurate():
    examples = made(60, noise=0.02)
    weak, strong = AdaBoost(rounds=1), SVM()
    for learners in ((weak, strong), (strong, weak)):
        selection = LearnerSelection(learners)
        few, many = (
            selection.errors(selection.look(one, examples, 0), examples) for one in (strong, weak)
        )
        assert few < many
        chosen = selection.fit(examples).classifier.margins(examples)
        np.testing.assert_array_equal(chosen, strong.fit(examples).margins(examples))


def test_selection_by_cost_counts_the_missed_at_their_costs():
    examples = made(60, noise=0.2)
    selection = LearnerSelection(cost_sensitive=True)
    eager, wary = (selection.look(one, examples, 0) for one in (SVM(cost_sensitive=True), SVM()))
    assert selection.errors(eager, examples) < selection.errors(wary, examples)
    assert LearnerSelection().errors(wary, examples) < LearnerSelection().errors(eager, examples)
    found = classes_by_own_rule(wary)
    missed = (examples.labels > 0) & (found == 0)
    false = (examples.labels == 0) & (found > 0) & examples.counted
    told = selection.errors(wary, examples)
    assert told == pytest.approx(10 * missed.sum() + false.sum())


def test_whoever_is_chosen_the_margins_are_of_one_size():
    examples, other = made(120, noise=0.2), made(60, noise=0.2, seed=3)
    odds = [
        LearnerSelection((one,)).fit(examples).margins(other) for one in (CRF(), SVM(), AdaBoost())
    ]
    plain = [one.fit(examples).margins(other) for one in (CRF(), SVM(), AdaBoost())]
    spreads = [np.std([one.std() for one in several]) for several in (odds, plain)]
    assert spreads[0] < spreads[1] / 2
    for margins in odds:
        sure = margins.max(axis=1) > 0
        hit = (other.labels > 0)[sure & other.counted]
        assert hit.mean() > 0.5


def test_a_selection_of_the_users_own_is_not_kept():
    class Plain:
        name = "plain"

        def fit(self, examples, *, seed):
            chain = CRF().fit(examples)
            return type("Plainly", (), {"margins": staticmethod(chain.margins)})()

    fitted = LearnerSelection((Plain(),)).fit(made(30))
    assert fitted.margins(made(5)).shape[1] == made(5).types
    assert not isinstance(fitted, SaveableClassifier)
