"""Half-marked text: unknown tokens are in no label, no count and no fold's size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.fitting.loop.loops import ANA, LEO, TEXTS, loop_of
from tests.documents.made import Says, corpus_of, notes, training_of

from voile.core.errors import InfeasibleError, RequestError
from voile.documents.fitting.loop.cross_fitting import OutOfFold
from voile.documents.fitting.loop.fits import prepare_fits
from voile.documents.fitting.loop.greedy import sanitize_greedily
from voile.documents.fitting.loop.training import TrainingText
from voile.documents.learners.calibration import fit_calibration
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span
from voile.documents.words.token_classes import unknown_tokens
from voile.documents.words.tokens import tokenise

ONE = np.ones(1)
PLACES = st.lists(st.tuples(st.integers(0, 19), st.integers(1, 4)), max_size=6)


def test_it_is_neither_an_identifier_nor_harmless():
    training = training_of("Ask Ana/NAME or May/? .", "Ask Leo/NAME .")
    examples = training.examples(training.truth * 0, ONE)
    assert training.unknown.tolist() == [False, False, False, True, False, False, False, False]
    assert examples.labels.tolist() == [0, 1, 0, 0, 0, 0, 1, 0]
    assert examples.counted.tolist() == (~training.unknown).tolist()
    assert examples.unmarked_tokens.all()
    assert training.harmless.sum() == 5


def test_a_removed_one_is_a_mark_as_any_other():
    training = training_of("Ask Ana/NAME or May/? .", "Ask Leo/NAME .")
    removed = np.array([0, 0, 0, 1, 0, 0, 0, 0], np.int16)
    examples = training.examples(removed, ONE)
    assert examples.words[3] == "[NAME]"
    assert not examples.unknown.any()
    assert examples.unmarked_tokens.tolist() == (removed == 0).tolist()


def test_a_span_over_unknown_characters_counts():
    document = Document("Ask Ana May .", (Span(4, 7, "NAME"),), unknown=((4, 11),))
    training = TrainingText.of(Corpus([document]))
    assert training.unknown.tolist() == [False, False, True, False]


@settings(max_examples=50)
@given(st.text("ab .\u0301", min_size=20, max_size=30), PLACES)
def test_a_token_is_unknown_if_any_of_its_characters_is(text, drawn):
    taken, places = set(), []
    for start, size in drawn:
        if not taken.intersection(range(start, start + size)) and start + size <= len(text):
            taken.update(range(start, start + size))
            places.append((start, start + size))
    corpus = Corpus([Document("Nothing ."), Document(text, unknown=tuple(places))])
    tokens = tokenise(one.text for one in corpus)
    naive = [
        document == 1 and not taken.isdisjoint(range(start, end))
        for document, start, end in zip(
            tokens.document, tokens.starts.tolist(), tokens.ends.tolist(), strict=True
        )
    ]
    assert unknown_tokens(tokens, corpus).tolist() == naive


@pytest.mark.parametrize("places", [((0, 0),), ((-1, 2),), ((3, 9),), ((0, 2), (1, 3))])
def test_unknown_parts_that_are_none_are_refused_without_a_word_of_the_text(places):
    with pytest.raises(RequestError, match="document 7: the unknown part") as refused:
        Document("Anabel", id="7", unknown=places)
    assert "Ana" not in str(refused.value)


def test_it_is_removed_out_of_fold_though_it_is_not_counted():
    training = training_of(*[text.replace("May said", "Leo/? said") for text in TEXTS])
    loop = loop_of(training, [LEO])
    gone = loop.removed > 0
    assert gone[training.unknown].all()
    assert loop.passes[0].taken.tp == 8  # the marked Leos alone
    assert loop.passes[0].taken.fp == 0


def test_calibration_takes_known_tokens_alone():
    training = training_of(*[text.replace("in May", "in May/?") for text in TEXTS])
    examples = training.examples(training.truth * 0, ONE)
    margins = np.random.default_rng(1).normal(size=(len(examples.labels), 1))
    look = OutOfFold(margins, np.zeros(len(margins), dtype=np.intp))
    kept = ~training.unknown
    twin = fit_calibration(margins[kept], examples.labels[kept], np.ones(kept.sum(), dtype=bool))
    np.testing.assert_array_equal(look.calibration(examples).knots, twin.knots)
    np.testing.assert_array_equal(look.calibration(examples).chances, twin.chances)


def test_folds_weigh_known_tokens():
    long = "Ana/NAME . " + " ".join(["May/?"] * 50)
    training = training_of(long, *["Leo/NAME is in ."] * 9, subjects=list("0123456789"))
    folds = training.folds(2, np.random.default_rng(0))
    sizes = np.bincount(folds)
    assert abs(sizes[0] - sizes[1]) <= 2  # by all tokens the first document would be alone


def test_none_unknown_fits_as_ever():
    known = notes()
    marked = Corpus(replace(one, unknown=()) for one in known)
    loops = []
    for corpus in (known, marked):
        fits = prepare_fits(TrainingText.of(corpus), ["svm"], cross_fit=3, seed=1, n_jobs=1)
        costs = np.full(len(corpus.labels), 10.0)
        loops.append(
            sanitize_greedily(
                fits, costs, decision="cost", max_passes=3, progress=lambda *_: None, least_left=9
            )
        )
    one, other = (loop.committee.members[0].classifier.to_arrays() for loop in loops)
    assert all(np.array_equal(one[key], other[key]) for key in one)


def test_all_unknown_has_nothing_to_learn_from():
    with pytest.raises(RequestError, match="no identifier is marked"):
        training_of("Ask/? Ana/? ./?")


def test_all_unknown_but_the_identifiers_leaves_too_little():
    training = training_of(*["Ask/? Ana/NAME ./?"] * 8)
    with pytest.raises(InfeasibleError, match="only 0 tokens are left"):
        loop_of(training, [ANA], least_left=1)
    assert loop_of(training, [Says((("Leo", 1),))], least_left=1).passes[0].taken is None


def test_context_words_leave_unknown_parts_as_they_are():
    from voile.documents.fitting.context.associations import label_context

    corpus = corpus_of(*["Ana/NAME sails May/? ."] * 4)
    assert [one.unknown for one in label_context(corpus)] == [one.unknown for one in corpus]
