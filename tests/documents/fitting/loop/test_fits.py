"""Nothing is fitted twice, nothing else's fit is taken, and no damaged file is trusted."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.documents.made import NAMES, Counted, Remembers, corpus_of, notes

from voile.core.errors import RequestError
from voile.documents.fitting.loop.fits import StoredFits
from voile.documents.fitting.loop.fits import _digest_of as digest_of
from voile.documents.fitting.loop.fits import _looks_at_costs as looks_at_costs
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.learners.consensus import ConsensusLearner
from voile.documents.learners.crf import CRF
from voile.documents.learners.ensemble import EnsembleLearner
from voile.documents.learners.named_learners import LEARNERS
from voile.documents.learners.selection import LearnerSelection
from voile.documents.learners.svm import SVM
from voile.documents.model.classifiers.saved import saved_name
from voile.documents.text.corpus import Corpus
from voile.documents.words.tokens import TokenNumbers

FOLDS = np.arange(24) % 12 % 3
COSTS = np.full(2, 5.0)


def fits_of(folder=None, learner=None, training=None, seed=1, folds=FOLDS):
    training = training or TrainingText.of(notes(2))
    learner = learner or Counted()
    return StoredFits(
        training, {learner.name: learner}, seeds={learner.name: seed}, folds=folds, folder=folder
    )


def both(fits, costs=COSTS, removed=None):
    """Return the margins and the classifier of the one learner."""
    removed = np.zeros(len(fits.training.tokens), np.int16) if removed is None else removed
    examples = fits.training.examples(removed, costs)
    (name,) = fits.learners
    look = fits.margins(examples, removed)[name]
    return look, fits.classifier(name, examples, removed)


def same(one, other):
    arrays = one[1].to_arrays(), other[1].to_arrays()
    equal = all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[0])
    return np.array_equal(one[0].margins, other[0].margins) and equal


def test_nothing_is_fitted_twice():
    fits = fits_of()
    first = both(fits)
    (learner,) = fits.learners.values()
    assert len(learner.fits) == 4
    assert same(both(fits), first)
    assert both(fits)[1] is first[1]
    assert len(learner.fits) == 4
    removed = fits.training.truth.copy()
    assert not np.array_equal(both(fits, removed=removed)[0].margins, first[0].margins)
    assert len(learner.fits) == 8


def test_another_run_goes_on_from_the_folder(tmp_path):
    first = both(fits_of(tmp_path / "a" / "b"))
    later = fits_of(tmp_path / "a" / "b")
    assert same(both(later), first)
    assert later.learners["svm"].fits == []
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "a" / "b").glob("*.npz")} == {0o600}


def test_what_was_fitted_before_an_interruption_is_not_fitted_again(tmp_path):
    whole = both(fits_of())
    with pytest.raises(KeyboardInterrupt):
        both(fits_of(tmp_path, Counted(stop_at=3)))
    later = fits_of(tmp_path)
    assert same(both(later), whole)
    assert len(later.learners["svm"].fits) == 2


def edges(path):
    """Yield ways in which a file may not be what was written."""
    whole = path.read_bytes()
    yield b""
    yield whole[: len(whole) // 2]
    yield b"something else"
    yield whole.replace(b"f8", b"O8")
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    yield bytes(flipped)


def test_a_damaged_file_is_fitted_anew(tmp_path):
    first = both(fits_of(tmp_path))
    for path in sorted(tmp_path.glob("*.npz")):
        whole = path.read_bytes()
        for damaged in {*edges(path)} - {whole}:
            path.write_bytes(damaged)
            again = fits_of(tmp_path)
            assert same(both(again), first)
            assert len(again.learners["svm"].fits) == 1
            assert path.read_bytes()[:2] == b"PK"
            later = fits_of(tmp_path)
            assert same(both(later), first)
            assert later.learners["svm"].fits == []
        path.write_bytes(whole)


def test_a_foreign_file_is_fitted_anew(tmp_path):
    first = both(fits_of(tmp_path))
    margins, *_, classifier = sorted(
        tmp_path.glob("*.npz"), key=lambda path: len(np.load(path).files)
    )
    n = len(np.load(margins)["margins"])
    few = TrainingText.of(notes(1)[:7])
    other = SVM().fit(few.examples(few.truth * 0, COSTS), seed=1)
    three = SVM().fit(
        fits_of().training.examples(fits_of().training.truth * 0, np.full(3, 5.0)), seed=1
    )
    for path, arrays in (
        (margins, {"margins": np.zeros((n, 3))}),
        (margins, {"margins": np.zeros((n - 1, 2))}),
        (margins, {"margins": np.full((n, 2), np.nan)}),
        (margins, {"other": np.zeros((n, 2))}),
        (classifier, {"kind": np.array("linear"), **other.to_arrays()}),
        (classifier, {"kind": np.array("linear"), **three.to_arrays()}),
        (classifier, {"kind": np.array("chain"), **first[1].to_arrays()}),
        (classifier, {"kind": np.array("what"), **first[1].to_arrays()}),
        (classifier, first[1].to_arrays()),
    ):
        np.savez(path, **arrays)
        assert same(both(fits_of(tmp_path)), first)


LISTS = {"given": frozenset({"ana", "leo"})}


def changed():
    """Yield runs that differ from the first in one thing each."""
    corpus = notes(2)
    yield "seed", {"seed": 2}, {}
    yield "folds", {"folds": (FOLDS + 1) % 3}, {}
    yield "setting", {"learner": Counted(C=0.2)}, {}
    yield "lists", {"training": TrainingText.of(corpus, lists=LISTS)}, {}
    others = [type(one)(**{**fields(one), "subject": f"{n // 2}"}) for n, one in enumerate(corpus)]
    yield "subjects", {"training": TrainingText.of(type(corpus)(others))}, {}
    gaps = [
        type(one)(**{**fields(one), "text": one.text.replace(" and ", "\nand ")}) for one in corpus
    ]
    yield "gaps", {"training": TrainingText.of(type(corpus)(gaps))}, {}
    tags = [type(one)(**{**fields(one), "pos": ((0, 4, "X"),)}) for one in corpus]
    yield "tags", {"training": TrainingText.of(type(corpus)(tags))}, {}
    spans = [type(one)(**{**fields(one), "spans": one.spans[:1]}) for one in corpus]
    yield "truth", {"training": TrainingText.of(type(corpus)(spans))}, {"costs": None}


def fields(document):
    return {name: getattr(document, name) for name in ("text", "spans", "id", "subject", "pos")}


@pytest.mark.whole
@pytest.mark.parametrize("case", list(changed()), ids=lambda case: case[0])
def test_another_run_takes_nothing(tmp_path, case):
    both(fits_of(tmp_path))
    _, given, how = case
    again = fits_of(tmp_path, **given)
    both(again, costs=np.full(len(again.training.labels), 5.0) if how else COSTS)
    (learner,) = again.learners.values()
    assert len(learner.fits) >= (3 if case[0] == "folds" else 4)


@pytest.mark.whole
@pytest.mark.parametrize(
    ("learner", "shares"),
    [
        (SVM(), True),
        (SVM(cost_sensitive=True), False),
        (LearnerSelection((SVM(), SVM(C=1.0))), True),
        (LearnerSelection((SVM(), SVM(cost_sensitive=True))), False),
        (Remembers(), True),
    ],
)
def test_costs_share_the_fits_that_do_not_look_at_them(learner, shares):
    fits = fits_of(learner=learner)
    one, other = both(fits)[1], both(fits, costs=COSTS * 2)[1]
    assert (one is other) == shares


def test_who_does_not_say_that_costs_are_nothing_to_it_shares_nothing():
    @dataclass(frozen=True)
    class Own:
        name: str = "own"
        fit = Remembers.fit

    fits = fits_of(learner=Own())
    assert both(fits)[1] is not both(fits, costs=COSTS * 2)[1]


def test_who_cannot_be_told_from_others_is_not_kept(tmp_path):
    class Silent(Counted):
        __repr__ = object.__repr__

    both(fits_of(tmp_path, learner=Silent()))
    assert list(tmp_path.glob("*.npz")) == []


def test_what_no_kit_can_hold_is_fitted_again(tmp_path):
    one = both(fits_of(tmp_path, learner=Remembers()))
    again = both(fits_of(tmp_path, learner=Remembers()))
    assert one[1].known == again[1].known
    assert len(list(tmp_path.glob("*.npz"))) == 3  # what it said of each fold


def test_what_is_forgotten_is_fitted_again(monkeypatch):
    monkeypatch.setattr(StoredFits, "MOST_BYTES", 0)
    fits = fits_of()
    assert same(both(fits), both(fits))
    assert len(fits.learners["svm"].fits) == 3 + 1 + 3


def test_those_used_are_remembered_longest(monkeypatch):
    fits = fits_of()
    removed = np.zeros((3, len(fits.training.tokens)), np.int16)
    removed[1, 0], removed[2, 1] = 1, 1
    size = both(fits, removed=removed[0])[0].margins.nbytes
    monkeypatch.setattr(StoredFits, "MOST_BYTES", 2 * size)
    for number in (1, 0, 2, 0):
        both(fits, removed=removed[number])
    assert len(fits.learners["svm"].fits) == 12
    both(fits, removed=removed[1])
    assert len(fits.learners["svm"].fits) == 15


def test_all_that_is_seen_of_a_corpus_tells_it_from_others():
    corpus = Corpus(replace(one, pos=((0, 4, "X"),)) for one in notes(2))
    training = TrainingText.of(corpus, lists=LISTS)
    tokens, space, other = training.tokens, training.space, training.tokens.tag.copy()
    other[3] = 0
    swapped = training.truth.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    changes = [
        {"tokens": replace(tokens, form=tokens.form[::-1])},
        {"tokens": replace(tokens, layout=replace(tokens.layout, gap=tokens.gap * 0))},
        {"tokens": replace(tokens, layout=replace(tokens.layout, first=tokens.first[:-1]))},
        {"tokens": replace(tokens, tag=other)},
        {"tokens": replace(tokens, tags=TokenNumbers())},
        {"tokens": replace(tokens, known=TokenNumbers())},
        {"truth": swapped},
        {"labels": ("AGE", "PLACE")},
        {"subject": training.subject[::-1]},
        {"space": replace(space, lists={})},
        {"space": replace(space, columns=space.columns[1:])},
        {"space": replace(space, attributes=space.attributes[::-1])},
    ]
    told = [digest_of(replace(training, **change)) for change in ({}, {}, *changes)]
    assert told[0] == told[1]
    assert len(set(told)) == 1 + len(changes)


def test_what_one_subject_alone_has_is_not_learnt_from():
    texts = ["Zed/NAME said no ."] * 2 + [f"{name} said no ." for name in NAMES[:8]]
    training = TrainingText.of(corpus_of(*texts, subjects=[str(number) for number in range(10)]))
    fits = fits_of(learner=SVM(), training=training, folds=np.arange(10) % 2)
    look, classifier = both(fits, costs=np.ones(1))
    assert look.margins[0, 0] < 0
    matrix = training.examples(training.truth * 0, np.ones(1)).matrix
    alone = np.setdiff1d(matrix[[0]].indices, matrix[8:].indices)  # what only the first two have
    assert classifier.weights[alone].any()
    removed = training.truth * 0
    removed[0] = 1  # one of the two is gone: the other is alone with the word
    left = fits.classifier("svm", training.examples(removed, np.ones(1)), removed)
    assert not left.weights[alone].any()


def test_who_looks_at_costs():
    blind = (SVM(), ConsensusLearner(), EnsembleLearner(), LearnerSelection(), Remembers())
    seeing = (EnsembleLearner(crf=CRF(cost_sensitive=True)), CRF(cost_sensitive=True), object())
    seeing += (ConsensusLearner(svm=SVM(cost_sensitive=True)),)
    assert not any(map(looks_at_costs, blind))
    assert all(map(looks_at_costs, seeing))


def test_margins_that_are_no_numbers_are_refused(tmp_path):
    @dataclass(frozen=True)
    class Lost:
        name: str = "lost"

        def fit(self, examples, *, seed=0):
            return self

        def margins(self, sight):
            return np.full((len(sight.words), 2), np.nan)

    with pytest.raises(RequestError, match="the classifier of lost"):
        both(fits_of(tmp_path, learner=Lost()))
    assert list(tmp_path.glob("*.npz")) == []


def test_kinds():
    training = TrainingText.of(notes(1))
    examples = training.examples(training.truth * 0, COSTS)
    kinds = {name: saved_name(LEARNERS[name]().fit(examples, seed=1)) for name in ("svm", "crf")}
    assert kinds == {"svm": "linear", "crf": "chain"}


def test_a_folder_is_made_only_when_asked(tmp_path):
    shutil.rmtree(tmp_path)
    fits_of()
    assert not tmp_path.exists()
