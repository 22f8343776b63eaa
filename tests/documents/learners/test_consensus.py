"""The consensus: what is told of the same word elsewhere, and what that is good for."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.learners.made import FORMS, NUMBER, harmless, made, of_forms

from voile.documents.learners.consensus import ConsensusLearner
from voile.documents.learners.named_learners import LEARNERS
from voile.documents.model.classifiers.consensus import FAR, compare_same_form, regressors

texts = st.lists(st.lists(st.integers(0, 4), max_size=6), min_size=1, max_size=4)


def arrays(texts, types, seed):
    form = np.array([x for text in texts for x in text], dtype=np.int32)
    first = np.cumsum([0, *map(len, texts)], dtype=np.intp)
    values = np.random.default_rng(seed).integers(-3, 4, (len(form), types)).astype(float)
    return values, form, first


@given(texts, st.integers(1, 3), st.integers(0, 99))
def test_others_are_those_of_a_naive_look(texts, types, seed):
    values, form, first = arrays(texts, types, seed)
    number, mean, highest = compare_same_form(values, form, first)
    for document in range(len(first) - 1):
        places = range(first[document], first[document + 1])
        for i in places:
            rest = [j for j in places if j != i and form[j] == form[i]]
            assert number[i] == len(rest)
            for t in range(types):
                there = [values[j, t] for j in rest]
                assert mean[i, t] == pytest.approx(np.mean(there) if there else 0.0)
                assert highest[i, t] == (max(there) if there else 0.0)


def test_what_is_told_is_cut_and_zero_where_a_word_stands_alone():
    form = np.array([1, 2, 1], dtype=np.int32)
    seen = regressors(np.array([[99.0], [1.0], [-2.0]]), form, np.array([0, 3]))
    np.testing.assert_allclose(seen[0, 0], [FAR, -2.0, -2.0, 1.0, FAR])
    np.testing.assert_allclose(seen[1, 0], [1.0, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(seen[2, 0], [-2.0, FAR, FAR, 1.0, -2.0])


def plain_once():
    """Return documents that name somebody after "dr" and again, where a plain word could stand."""
    rng = np.random.default_rng(3)
    words, labels, first = [], [], [0]
    for _ in range(150):
        name, other = rng.choice([f for f in FORMS if f.startswith("Name")], 2, replace=False)
        words += ["dr", name, "word1", "word2", name, "word3", other, "word4"]
        labels += [0, 1, 0, 0, 1, 0, 0, 0]  # a name that no "dr" stands before is a ship
        first.append(len(words))
    form = np.array([NUMBER[str(word)] for word in words], dtype=np.int32)
    return of_forms(form, np.array(labels, np.int16), np.array(first, np.intp), 1)


def test_a_doubtful_word_is_known_by_a_plain_one_in_its_document():
    examples = plain_once()
    half = np.arange(150) < 75
    learnt, other = examples.of(half), examples.of(~half)
    again = np.tile(np.arange(8) == 4, 75)
    ship = np.tile(np.arange(8) == 6, 75)
    found = LEARNERS["consensus"]().fit(learnt, seed=1).margins(other)[:, 0]
    assert found[again].min() > found[ship].max()


def test_nothing_to_learn_from_warns_of_nothing():
    nothing = harmless(made(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ConsensusLearner().fit(nothing, seed=1).margins(nothing).shape == (0, 2)
