"""Tokens of which nobody knows whether they identify teach no learner anything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.documents.learners.made import learner_of, made

from voile.documents.learners.adaboost import AdaBoost
from voile.documents.learners.crf import CRF
from voile.documents.learners.named_learners import LEARNERS
from voile.documents.learners.svm import SVM


def half_marked(examples, share=0.6, seed=0):
    """Return examples where a share of the identifiers and some harmless tokens are unknown."""
    rng = np.random.default_rng(seed)
    drawn = rng.random(len(examples.labels))
    unknown = examples.counted & (drawn < np.where(examples.labels > 0, share, 0.02))
    labels = np.where(unknown, 0, examples.labels).astype(np.int16)
    return replace(examples, labels=labels, counted=examples.counted & ~unknown, unknown=unknown)


def without(examples):
    """Return the examples with every document cut where tokens are unknown, and those left out."""
    kept = np.flatnonzero(~examples.unknown)
    document = np.repeat(np.arange(len(examples.first) - 1), np.diff(examples.first))
    run = np.cumsum(examples.unknown)
    pieces = np.unique(np.stack([document[kept], run[kept]]), axis=1, return_counts=True)[1]
    return replace(
        examples,
        matrix=examples.matrix[kept],
        labels=examples.labels[kept],
        counted=examples.counted[kept],
        form=examples.form[kept],
        first=np.cumsum([0, *pieces], dtype=np.intp),
        unknown=examples.unknown[kept],
    )


@pytest.mark.parametrize("learner", [CRF(iterations=9), SVM(window=0), AdaBoost(rounds=20)])
def test_it_learns_as_if_they_were_not_there(learner):
    examples = half_marked(made(40))
    one, twin = (learner.fit(some, seed=1).to_arrays() for some in (examples, without(examples)))
    for name in one:
        np.testing.assert_array_equal(one[name], twin[name])


@pytest.mark.parametrize("name", LEARNERS)
def test_none_unknown_is_as_without_the_field(name):
    examples = made(20)
    empty = replace(examples, unknown=np.zeros(len(examples.labels), dtype=np.bool_))
    one, other = (learner_of(name).fit(some, seed=1).to_arrays() for some in (examples, empty))
    for key in one:
        np.testing.assert_array_equal(one[key], other[key])


@pytest.mark.parametrize("name", [one for one in LEARNERS if not one.endswith("-cost")])
def test_unmarked_identifiers_are_found_where_they_are_unknown_more_than_where_harmless(name):
    whole, other = half_marked(made(200), share=0.8), made(40, seed=7)
    taught = replace(whole, counted=whole.counted | whole.unknown, unknown=whole.unknown[:0])
    found = [
        (learner_of(name).fit(some, seed=1).margins(other).max(axis=1) > 0)[other.labels > 0].mean()
        for some in (whole, taught)
    ]
    assert found[0] > found[1] + 0.2
