"""Nobody's text is judged by who learnt from it, and no fold tells of itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.made import NAMES, Remembers, notes, training_of

from voile.core.errors import RequestError
from voile.documents.fitting.loop.cross_fitting import OutOfFold
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.learners.calibration import fit_calibration
from voile.documents.learners.cross_fitting import cross_fit, drop_rare_columns
from voile.documents.learners.learner import LabelledExamples
from voile.documents.learners.svm import SVM
from voile.documents.words.decoder import decode_types
from voile.documents.words.tokens import tokenise


def fitted(training, folds, learners, **given_):
    examples = training.examples(training.truth * 0, np.full(len(training.labels), 5.0))
    seeds = list(range(len(learners)))
    return examples, cross_fit(learners, examples, folds, seeds=seeds, n_jobs=None, **given_)


def test_each_subject_is_judged_by_who_never_met_it():
    texts = [f"Ask Own{x}/NAME and All/NAME ." for x in range(6)]
    training = training_of(*texts)
    folds = np.array([0, 1, 2, 0, 1, 2])
    examples, (margins,) = fitted(training, folds, [Remembers()])
    words = np.array(examples.words)
    assert (margins[words == "All"] == 1).all()
    assert (margins[words != "All"] == -1).all()
    _, (margins,) = fitted(training, folds * 0, [Remembers()])
    assert ((margins[:, 0] == 1) == (training.truth == 1)).all()


@dataclass(frozen=True)
class Noted:
    """Give the seed and the number of subjects that a fit had as margins."""

    name: str = "noted"

    def fit(self, examples, *, seed=0):
        return Flat(seed + 1000 * (len(examples.first) - 1))


@dataclass(frozen=True)
class Flat:
    value: object

    def margins(self, sight):
        return np.full((len(sight.words), 1), self.value)


def test_every_fold_has_a_seed_of_its_own():
    training = training_of("a/A b", "c/A d", "e/A f")
    _, told = fitted(training, np.array([1, 0, 1]), [Noted(), Noted()])
    assert [margins[:, 0].tolist() for margins in told] == [
        [1001, 1001, 2000, 2000, 1001, 1001],
        [1002, 1002, 2001, 2001, 1002, 1002],
    ]


@pytest.mark.parametrize("shape", [(0, 2), (0,)])
def test_margins_of_another_shape_are_refused(shape):
    @dataclass(frozen=True)
    class Bad:
        name: str = "bad"

        def fit(self, examples, *, seed=0):
            return self

        def margins(self, sight):
            return np.zeros((len(sight.words), *shape[1:]))

    with pytest.raises(RequestError, match="the classifier of bad"):
        fitted(training_of("a/A b", "c/A d"), np.array([0, 1]), [Bad()])


@pytest.mark.whole
def test_processes_change_nothing():
    training = TrainingText.of(notes(2))
    folds = training.folds(3, np.random.default_rng(1))
    examples = training.examples(training.truth * 0, np.ones(2))
    one, two = (
        cross_fit([SVM()], examples, folds, seeds=[4], n_jobs=jobs, least=2) for jobs in (1, 2)
    )
    assert np.array_equal(one[0], two[0])


judged = st.integers(1, 3).flatmap(
    lambda types: st.lists(
        st.tuples(
            st.integers(0, 2),
            st.integers(0, types),
            st.booleans(),
            st.lists(st.integers(-3, 3), min_size=types, max_size=types),
        ),
        min_size=1,
        max_size=40,
    )
)


def examples_of(rows, seed=0):
    folds, labels, counted, margins = zip(*rows, strict=True)
    n, types = len(rows), len(margins[0])
    examples = LabelledExamples(
        sp.csr_array((n, 1), dtype=np.float32),
        np.where(counted, labels, 0).astype(np.int16),
        np.array(counted),
        np.arange(n + 1),
        np.arange(2.0, 2 + types),
    )
    return examples, OutOfFold(np.array(margins, dtype=float), np.array(folds, dtype=np.intp))


@settings(max_examples=60)
@given(judged)
def test_the_calibration_of_a_fold_is_of_the_others(rows):
    examples, look = examples_of(rows)
    tokens = tokenise(["w"] * len(rows))
    found = look.decide_tokens(tokens, examples, "cost").types
    assert (found[~examples.counted] == 0).all()
    for fold in set(look.fold.tolist()):
        here = look.fold == fold
        others = ~here if examples.counted[~here].any() else here
        if not examples.counted[here].any():
            continue
        known = fit_calibration(
            look.margins[others], examples.labels[others], examples.counted[others]
        )
        chances = known.probabilities(look.margins[here])
        expected, _ = decode_types(tokenise(["w"] * here.sum()), chances, examples.costs)
        assert found[here].tolist() == np.where(examples.counted[here], expected, 0).tolist()


@settings(max_examples=60)
@given(judged)
def test_by_its_own_rule_the_highest_margin_above_0_decides(rows):
    examples, look = examples_of(rows)
    for type_, counted, margins in zip(
        look.decide_tokens(tokenise(["w"] * len(rows)), examples, "accuracy").types,
        examples.counted,
        look.margins.tolist(),
        strict=True,
    ):
        top = max(margins)
        assert type_ == (margins.index(top) + 1 if top > 0 and counted else 0)


def test_the_calibration_of_a_member_is_of_all_folds():
    rows = [
        (fold, int(m > 0), True, [m]) for fold in range(3) for m in (-1, 1, 2) for _ in range(9)
    ]
    examples, look = examples_of(rows)
    every = look.calibration(examples).probabilities(np.array([[2.0]]))
    assert every == fit_calibration(look.margins, examples.labels, examples.counted).probabilities(
        np.array([[2.0]])
    )
    assert every == 54 / 55


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.lists(st.sets(st.integers(0, 5)), max_size=3)), max_size=5
    ),
    st.booleans(),
)
def test_what_one_subject_alone_has_is_not_learnt_from(documents, own):
    rows = [(who, row) for who, (_, rows) in enumerate(documents) for row in rows]
    whose = [who if own else documents[who][0] for who, _ in rows]
    dense = np.array([[c in row for c in range(6)] for _, row in rows], dtype=np.float32)
    matrix = sp.csr_array(dense.reshape(-1, 6))
    n = len(rows)
    examples = LabelledExamples(
        matrix,
        np.zeros(n, np.int16),
        np.ones(n, np.bool_),
        np.cumsum([0, *(len(rows) for _, rows in documents)]),
        np.ones(1),
        subject=np.array([] if own else [who for who, _ in documents], dtype=np.int32),
    )
    kept = drop_rare_columns(examples).matrix.toarray()
    for column in range(6):
        people = {who for who, (_, row) in zip(whose, rows, strict=True) if column in row}
        expected = dense.reshape(-1, 6)[:, column] if len(people) > 1 else np.zeros(n)
        assert kept[:, column].tolist() == expected.tolist()
    assert drop_rare_columns(examples, 1) is examples


def test_a_word_of_one_other_subject_is_as_good_as_unknown():
    # Zed is in two subjects' text: in the fold of each it is a word of one subject alone
    texts = [f"{name} said no ." for name in NAMES[:8]]
    training = training_of("Zed/NAME said no .", "Zed/NAME said no more .", *texts)
    _, (margins,) = fitted(training, np.arange(10) % 2, [SVM()], least=2)
    assert margins[0, 0] < 0
    _, (margins,) = fitted(training, np.arange(10) % 2, [SVM()])
    assert margins[0, 0] > 0
