"""Conditional random fields, against CRFsuite's own tagger."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pycrfsuite
import pytest
from tests.documents.learners.made import harmless, made, of_forms

from voile.documents.learners.crf import CRF
from voile.documents.model.classifiers.chain import MOST
from voile.documents.model.classifiers.crf import CrfClassifier


def probabilities(odds):
    return 1 / (1 + np.exp(-odds))


@pytest.mark.parametrize("types", [1, 2])
def test_labels_and_marginals_are_those_of_crfsuite(types, tmp_path):
    train, other = made(60, types=types, noise=0.1), made(20, seed=1, types=types, noise=0.1)
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 1.0, "max_iterations": 50})
    for start, end in pairwise(train.first):
        trainer.append(items(train, start, end), [str(y) for y in train.labels[start:end]])
    trainer.train(str(tmp_path / "model"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "model"))

    ours = CRF().fit(train)
    path, margins = ours.path(other), ours.margins(other)
    for start, end in pairwise(other.first):
        theirs = tagger.tag(items(other, start, end))
        assert path[start:end].tolist() == [int(y) for y in theirs]
        for place in range(end - start):
            for kind in range(1, types + 1):
                told = tagger.marginal(str(kind), place)
                assert abs(probabilities(margins[start + place, kind - 1]) - told) < 1e-4


def items(examples, start, end):
    """Write the columns anew, by another way than the learner's."""
    return pycrfsuite.ItemSequence(
        [{str(column): 1.0 for column in examples.matrix[[i]].indices} for i in range(start, end)]
    )


def test_it_finds_what_it_has_learnt():
    found = CRF().fit(made(60)).margins(made(20, seed=1))
    truth = made(20, seed=1).labels
    assert ((found.max(axis=1) > 0) == (truth > 0)).mean() > 0.97


def test_only_harmless_text_teaches_that_nothing_is_found():
    train = harmless(made())
    assert (CRF().fit(train).margins(train) == -MOST).all()


def test_a_type_never_met_is_never_found():
    train = made(types=2)
    only = of_forms(train.form, np.where(train.labels == 2, 2, 0), train.first, 2)
    margins = CRF().fit(only).margins(train)
    assert (margins[:, 0] == -MOST).all()
    assert ((margins[:, 1] > 0) == (train.labels == 2)).mean() > 0.95


def test_text_of_identifiers_alone_is_found_whole():
    train = made(types=1)
    every = of_forms(train.form, np.ones_like(train.labels), train.first, 1)
    assert (CRF().fit(every).margins(train) == MOST).all()


def test_the_cost_moves_the_cut_of_the_marginal():
    train = made(noise=0.2)
    plain, cost = CRF().fit(train), CRF(cost_sensitive=True).fit(train)
    chance = probabilities(plain.margins(train))
    np.testing.assert_array_equal(cost.margins(train) > 0, chance > 1 / (1 + 10.0))
    assert (cost.margins(train) > 0).sum() > (plain.margins(train) > 0).sum()


def test_labels_that_do_not_rise_are_refused():
    arrays = CRF().fit(made()).to_arrays()
    for labels in ([0, 2, 1], [0, 1, 3], [-1, 0, 1]):
        with pytest.raises(ValueError, match="'labels'"):
            CrfClassifier.from_arrays({**arrays, "labels": np.array(labels, np.int16)})
