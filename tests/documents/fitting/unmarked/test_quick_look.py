"""A quick look: what it learns, from whom, and that it learns it as a library does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC
from tests.documents.made import notes

from voile.documents.fitting.unmarked.quick_look import RIDGE, QuickLook, _descend
from voile.documents.text.corpus import Corpus
from voile.documents.words.token_classes import token_labels


@pytest.fixture(scope="module")
def seen():
    corpus = notes(each=6)
    look = QuickLook(list(corpus))
    return corpus, look, token_labels(look.tokens, corpus, corpus.labels) > 0


def test_it_finds_what_stands_where_names_stand(seen):
    _, look, truth = seen
    found = look.probabilities(truth, np.ones(len(truth), dtype=np.bool_)) > 0.5
    assert found[truth].mean() > 0.9
    assert found[~truth].mean() < 0.05


def test_a_document_is_judged_without_its_own_marks(seen):
    corpus, look, truth = seen
    own = look.tokens.document == 5
    known = np.ones(len(truth), dtype=np.bool_)
    other = np.where(own, ~truth, truth)
    own_subject = np.array([one == corpus.subjects[5] for one in corpus.subjects])
    of_subject = own_subject[look.tokens.document]
    one, two = look.probabilities(truth, known), look.probabilities(other, known)
    np.testing.assert_array_equal(one[of_subject], two[of_subject])
    assert (one != two).any()


def test_unknown_tokens_teach_nothing(seen):
    _, look, truth = seen
    unknown = np.random.default_rng(0).random(len(truth)) < 0.3
    one = look.probabilities(truth, ~unknown)
    np.testing.assert_array_equal(one, look.probabilities(truth ^ unknown, ~unknown))


def test_what_was_asked_before_changes_nothing(seen):
    _, look, truth = seen
    known = np.ones(len(truth), dtype=np.bool_)
    before = look.probabilities(truth, known)
    look.probabilities(~truth, known)
    np.testing.assert_array_equal(before, look.probabilities(truth, known))


def test_of_one_subject_nothing_is_shared_and_all_tokens_are_alike():
    corpus = Corpus(replace(one, subject="a") for one in notes(each=1))
    look = QuickLook(list(corpus))
    truth = token_labels(look.tokens, corpus, corpus.labels) > 0
    found = look.probabilities(truth, np.ones(len(truth), dtype=np.bool_))
    assert found == pytest.approx(truth.mean())


@pytest.mark.parametrize("marked", [False, True])
def test_where_all_tokens_are_alike_it_still_answers(marked):
    look = QuickLook(list(notes(each=1)))
    labels = np.full(len(look.tokens), marked)
    found = look.probabilities(labels, np.ones(len(labels), dtype=np.bool_))
    assert ((found > 0.5) == marked).all()


def test_without_a_known_token_nothing_is_likely():
    look = QuickLook(list(notes(each=1)))
    none = np.zeros(len(look.tokens), dtype=np.bool_)
    assert not look.probabilities(none, none).any()


def test_descent_ends_where_liblinear_does():
    rng = np.random.default_rng(3)
    matrix = sp.csr_array((rng.random((80, 12)) < 0.3).astype(np.float64))
    sign = np.where(rng.random(80) < 0.4, 1.0, -1.0)
    rows = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    weights = _descend(rows, 12, np.arange(80), sign, RIDGE, 3000, 0)
    machine = LinearSVC(C=1 / (2 * RIDGE), tol=1e-9, max_iter=100_000).fit(matrix, sign)
    np.testing.assert_allclose(weights[:-1], machine.coef_[0], atol=1e-3)
    assert weights[-1] == pytest.approx(machine.intercept_[0], abs=1e-3)
