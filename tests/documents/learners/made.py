"""Small labelled text, made up: a title before one or two names, "in" before a place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from voile.documents.learners.learner import LabelledExamples
from voile.documents.learners.named_learners import LEARNERS
from voile.documents.learners.reader_head import ReaderLearner

PLAIN = [f"word{number}" for number in range(12)]
NAMES = [f"Name{number}" for number in range(30)]
PLACES = [f"Town{number}" for number in range(20)]
FORMS = ["[NAME]", "dr", "in", *PLAIN, *NAMES, *PLACES]
NUMBER = {form: number for number, form in enumerate(FORMS)}


def made(
    documents: int = 30, *, seed: int = 0, types: int = 2, length: int = 12, noise: float = 0.0
) -> LabelledExamples:
    """Make documents; the place is of type 2, or harmless if there is one type only.

    Parameters
    ----------
    noise : share of the tokens whose label is drawn anew.
    """
    rng = np.random.default_rng(seed)
    words, labels, first = [], [], [0]
    for _ in range(documents):
        for _ in range(int(rng.integers(1, length))):
            kind = rng.choice(["plain", "name", "place", "mark"], p=[0.6, 0.2, 0.15, 0.05])
            if kind == "name":
                names = rng.choice(NAMES, rng.integers(1, 3)).tolist()
                words += ["dr", *names]
                labels += [0, *[1] * len(names)]
            elif kind == "place":
                words += ["in", str(rng.choice(PLACES))]
                labels += [0, min(2, types) if types > 1 else 0]
            else:
                words.append("[NAME]" if kind == "mark" else str(rng.choice(PLAIN)))
                labels.append(0)
        first.append(len(words))
    form = np.array([NUMBER[word] for word in words], dtype=np.int32)
    found = np.array(labels, dtype=np.int16)
    drawn = (rng.random(len(found)) < noise) & (form != 0)
    found[drawn] = rng.integers(0, types + 1, drawn.sum())
    return of_forms(form, found, np.array(first, dtype=np.intp), types)


def of_forms(
    form: np.ndarray, labels: np.ndarray, first: np.ndarray, types: int, cost: float = 10.0
) -> LabelledExamples:
    """Return examples whose columns are the word here, before and after."""
    n, size = len(form), len(FORMS)
    start = np.repeat(first[:-1], np.diff(first))
    end = np.repeat(first[1:], np.diff(first))
    rows, columns = [], []
    for view, step in enumerate((0, -1, 1)):
        at = np.arange(n) + step
        inside = np.flatnonzero((at >= start) & (at < end))
        rows.append(inside)
        columns.append(view * size + form[at[inside]])
    where = (np.concatenate(rows), np.concatenate(columns))
    ones = np.ones(len(where[0]), np.float32)
    matrix = sp.csr_array((ones, where), shape=(n, 3 * size))
    return LabelledExamples(
        matrix,
        labels.astype(np.int16),
        form != 0,
        first.astype(np.intp),
        np.full(types, cost),
        form.astype(np.int32),
        FORMS,
    )


def harmless(examples: LabelledExamples) -> LabelledExamples:
    """Return the same tokens with no identifier among them."""
    return of_forms(examples.form, np.zeros_like(examples.labels), examples.first, examples.types)


def learner_of(name):
    """Return a learner, with penalties for little text where it has any."""
    learner = LEARNERS[name]()
    if isinstance(learner, ReaderLearner):
        return replace(learner, dense_penalty=1.0, sparse_penalty=0.1)
    return learner
