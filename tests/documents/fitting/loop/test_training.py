"""The training corpus: tokens, truth, and what is left of both after each pass."""

from __future__ import annotations

import numpy as np
import pytest
from tests.documents.made import corpus_of, training_of

from voile.core.errors import RequestError
from voile.documents.fitting.loop.training import TrainingText, costs_by_type
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span

TWO = ("Ask Ana/NAME , aged 30/AGE .", "Ask Leo/NAME , aged 40/AGE .", "Nothing .")
ONES = np.ones(2)


def forms(training, examples):
    return [examples.forms[number] for number in examples.form]


def test_what_is_left_is_labelled_and_what_is_gone_is_a_mark():
    training = training_of(*TWO)
    assert training.labels == ("AGE", "NAME")
    removed = np.zeros(len(training.tokens), np.int16)
    removed[[1, 4, 7]] = 2, 1, 2  # Ana, 30; and "," which is harmless
    examples = training.examples(removed, ONES)
    shown = "Ask [NAME] , aged [AGE] . Ask [NAME] , aged 40 . Nothing ."
    assert forms(training, examples) == examples.words == shown.split()
    assert examples.labels.tolist() == [0] * 10 + [1, 0, 0, 0]
    assert examples.counted.tolist() == (removed == 0).tolist()
    assert examples.first.tolist() == [0, 6, 12, 14]
    assert training.truth.tolist() == [0, 2, 0, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 0]


def test_examples_tell_whose_they_are():
    training = training_of(*TWO, subjects=["b", "a", "b"])
    examples = training.examples(training.truth * 0, ONES)
    assert examples.subject.tolist() == [1, 0, 1]
    assert len(set(training_of(*TWO).examples(training.truth * 0, ONES).subject.tolist())) == 3


def test_marks_have_their_columns_from_the_first():
    training = training_of(*TWO)
    before = training.examples(training.truth * 0, ONES).matrix
    after = training.examples(training.truth, ONES).matrix
    assert before.shape == after.shape
    marks = {name for name in training.space.attributes if name.startswith("mark=")}
    assert marks == {"mark=AGE", "mark=NAME"}


@pytest.mark.parametrize(
    "corpus",
    [Corpus([]), corpus_of("Ask her ."), Corpus([Document("a \u200b b", (Span(2, 3, "A"),))])],
)
def test_without_identifiers_nothing_is_learnt(corpus):
    with pytest.raises(RequestError, match="no identifier"):
        TrainingText.of(corpus)


def test_costs():
    labels = ("AGE", "NAME")
    assert costs_by_type(3, labels).tolist() == [3, 3]
    assert costs_by_type({"NAME": 20}, labels).tolist() == [10, 20]
    assert costs_by_type({"NAME": 20, "": 5}, labels).tolist() == [5, 20]


@pytest.mark.parametrize(
    "cost", [0, -1, float("nan"), float("inf"), None, "much", {"AGE": 0}, {"": None}]
)
def test_a_cost_that_is_none(cost):
    with pytest.raises(RequestError, match="a number above 0"):
        costs_by_type(cost, ("AGE", "NAME"))


def test_a_cost_for_a_type_that_is_not_there():
    with pytest.raises(RequestError, match="NAMES"):
        costs_by_type({"NAMES": 3}, ("AGE", "NAME"))


def test_examples_of_costs_by_type():
    assert costs_by_type({"NAME": 20, "": 5}, ("AGE", "NAME")).tolist() == [5.0, 20.0]
