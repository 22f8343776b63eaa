"""Support vector machines that are told the classes before."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.learners.made import harmless, made, of_forms

from voile.documents.learners.svm import SVM, past_classes
from voile.documents.model.classifiers.linear import decide_in_order


def followed(scores, history, first):
    """Decide token by token: the naive twin of `decide_in_order`."""
    margins = []
    for start, end in pairwise(first):
        before = []
        for row in scores[start:end].astype(np.float64):
            told = row.copy()
            for back, label in enumerate(reversed(before[-len(history) :] if len(history) else [])):
                if label:
                    told += history[back, label - 1]
            before.append(int(told.argmax()) + 1 if told.max() > 0 else 0)
            margins.append(told)
    return np.array(margins).reshape(scores.shape)


@given(
    seed=st.integers(0, 2**32 - 1),
    types=st.integers(1, 3),
    window=st.integers(0, 3),
    sizes=st.lists(st.integers(0, 6), max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_decoding_equals_its_naive_twin(seed, types, window, sizes):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(sum(sizes), types)).astype(np.float32)
    history = rng.normal(size=(window, types, types)).astype(np.float32)
    first = np.cumsum([0, *sizes], dtype=np.intp)
    told = decide_in_order(scores, history, first)
    np.testing.assert_allclose(told, followed(scores, history, first), atol=1e-6)


@given(seed=st.integers(0, 1000), window=st.integers(0, 3))
@settings(max_examples=20, deadline=None)
def test_the_past_is_what_stood_before_in_the_same_document(seed, window):
    examples = made(5, seed=seed)
    dense = past_classes(examples.labels, examples, window).toarray()
    for start, end in pairwise(examples.first):
        for i in range(start, end):
            told = np.zeros((window, examples.types))
            for back in range(1, min(window, i - start) + 1):
                if examples.labels[i - back]:
                    told[back - 1, examples.labels[i - back] - 1] = 1
            np.testing.assert_array_equal(dense[i], told.ravel())


def test_the_history_tells_what_no_column_does():
    # "dr" is followed by two names of unknown form, then by a harmless word of unknown form: only
    # the two classes before a token part them.
    form = np.tile([1, 20, 20, 20, 5, 5], 40)
    labels = np.tile([0, 1, 1, 0, 0, 0], 40)
    first = np.arange(0, len(form) + 1, 6)
    blind = of_forms(form, labels, first, 1)
    blind.matrix.data[blind.matrix.indices >= 60] = 0  # no word before, no word after
    assert ((SVM(window=2).fit(blind).margins(blind)[:, 0] > 0) == (labels == 1)).sum() > (
        (SVM(window=0).fit(blind).margins(blind)[:, 0] > 0) == (labels == 1)
    ).sum()


def test_the_seed_alone_decides():
    examples = made(noise=0.1)
    one, same = (SVM().fit(examples, seed=3).to_arrays() for _ in range(2))
    assert all(np.array_equal(one[name], same[name]) for name in one)


def test_costs_move_it_towards_identifiers():
    examples = made(60, noise=0.2)
    plain, cost = SVM().fit(examples), SVM(cost_sensitive=True).fit(examples)
    assert (cost.margins(examples) > 0).sum() > (plain.margins(examples) > 0).sum()


def test_what_is_never_or_always_there():
    examples = made(types=1)
    assert (SVM().fit(harmless(examples)).margins(examples) < 0).all()
    every = of_forms(examples.form, np.ones_like(examples.labels), examples.first, 1)
    every.counted[:] = True
    assert (SVM().fit(every).margins(every) > 0).all()
