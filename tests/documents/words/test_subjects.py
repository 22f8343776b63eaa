"""Folds: nobody in two, everybody in one, none much larger than another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.words.subjects import split_into_folds

documents = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 9)), min_size=8)


def split(pairs, folds, seed=0):
    subjects = [subject for subject, _ in pairs]
    sizes = np.array([size for _, size in pairs], dtype=np.intp)
    return split_into_folds(subjects, sizes, folds, np.random.default_rng(seed))


@given(documents, st.integers(2, 5), st.integers(0, 99), st.randoms())
def test_folds(pairs, folds, seed, random):
    subjects = {subject for subject, _ in pairs}
    if len(subjects) < folds:
        with pytest.raises(RequestError, match=r"^\d subjects? cannot be split"):
            split(pairs, folds, seed)
        return
    fold = split(pairs, folds, seed)
    of = {}
    for (subject, _), number in zip(pairs, fold.tolist(), strict=True):
        assert of.setdefault(subject, number) == number
    assert set(of.values()) == set(range(folds))
    held = [sum(size for s, size in pairs if of[s] == number) for number in range(folds)]
    largest = max(sum(size for s, size in pairs if s == subject) for subject in subjects)
    assert max(held) - min(held) <= largest
    order = list(range(len(pairs)))
    random.shuffle(order)
    again = split([pairs[x] for x in order], folds, seed)
    assert again.tolist() == fold[order].tolist()


def test_seeds_give_other_folds():
    pairs = [(subject, 5) for subject in "abcdefgh"]
    assert len({tuple(split(pairs, 2, seed)) for seed in range(20)}) > 5


@pytest.mark.parametrize("folds", [1, 0, -2, 2.5])
def test_a_number_of_folds_that_is_none(folds):
    with pytest.raises(RequestError, match="whole number from 2"):
        split([(subject, 1) for subject in "abcd"], folds)
