"""Compute the margins of a learner on text that it has not seen.

On its own training text, a learner would miss almost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed  # type: ignore[import-untyped]
from numpy.typing import NDArray

from voile.core.workers import begin_worker, starting_workers
from voile.documents.learners.learner import LabelledExamples, TokenLearner
from voile.documents.model.classifiers.classifier import Margins, check_margins
from voile.documents.words.kernels import SEVERAL, meet


class FoldStore(Protocol):
    """A store of a learner's margins on each fold. The key is the index of the learner."""

    def read_margins(self, learner: int, fold: int) -> Margins | None:
        """Return the stored margins, if there are any."""

    def write(self, learner: int, fold: int, margins: Margins) -> None:
        """Store the margins."""


def cross_fit(
    learners: Sequence[TokenLearner],
    examples: LabelledExamples,
    folds: NDArray[np.intp],
    *,
    seeds: Sequence[int],
    n_jobs: int | None,
    least: int = 1,
    store: FoldStore | None = None,
    fitted: Callable[[int, int], None] = lambda done, total: None,
) -> list[Margins]:
    """Return the out-of-fold margins of each learner, (n, T).

    The classifier for a token was fitted on all other folds.
    With only one fold, the classifiers are trained on that fold itself. The fit of a fold depends
    only on the seed of its learner and the number of the fold. Margins are stored fold by fold, and
    stored margins are not recomputed. `fitted` receives the number of finished folds and the number
    of folds to compute.
    """
    if not learners:
        return []
    numbers, places = np.unique(folds).tolist(), range(len(learners))
    known = (
        {(x, fold): store.read_margins(x, fold) for x in places for fold in numbers}
        if store
        else {}
    )
    missing = {fold: [x for x in places if known.get((x, fold)) is None] for fold in numbers}
    missing = {fold: which for fold, which in missing.items() if which}
    work = Parallel(n_jobs=n_jobs, return_as="generator", initializer=begin_worker)
    with starting_workers():
        found = work(
            delayed(_held_out)(
                [learners[x] for x in which],
                examples,
                folds == fold,
                [seeds[x] + fold for x in which],
                least,
            )
            for fold, which in missing.items()
        )
    for done, ((fold, which), parts) in enumerate(zip(missing.items(), found, strict=True), 1):
        for x, part in zip(which, parts, strict=True):
            known[x, fold] = part
            if store:
                store.write(x, fold, part)
        fitted(done, len(missing))
    of = np.repeat(folds, np.diff(examples.first))
    found_by = [np.zeros((len(of), examples.types)) for _ in learners]
    for (x, fold), part in known.items():
        found_by[x][of == fold] = part
    return found_by


def _held_out(
    learners: Sequence[TokenLearner],
    examples: LabelledExamples,
    held: NDArray[np.bool_],
    seeds: Sequence[int],
    least: int,
) -> list[Margins]:
    """Return each learner's margins on the held-out documents, within the memory of one process."""
    seen = drop_rare_columns(examples.of(~held if not held.all() else held), least)
    shown = examples.of(held)
    return [
        check_shape(learner.fit(seen, seed=seed).margins(shown), learner.name, shown, numbers=False)
        for learner, seed in zip(learners, seeds, strict=True)
    ]


def check_shape(
    margins: Margins, learner: str, examples: LabelledExamples, *, numbers: bool = True
) -> Margins:
    """Return the margins of a classifier if their shape fits the examples."""
    shape = (len(examples.labels), examples.types)
    return check_margins(margins, learner, shape, numbers=numbers)


def drop_rare_columns(examples: LabelledExamples, least: int = 2) -> LabelledExamples:
    """Return the examples without the columns that fewer than `least` (1 or 2) subjects have.

    A column of only one subject is no feature (`FeatureSpace.of`). Suppose that two subjects share
    a name, and one of them is held out. The name must be as unknown here as the name of a single
    subject is in new text.
    """
    if least < 2:
        return examples
    matrix, documents = examples.matrix, np.arange(len(examples.first) - 1, dtype=np.int32)
    subject = examples.subject if len(examples.subject) else documents
    met = np.full(matrix.shape[1], -1, dtype=np.int32)
    rows = np.arange(matrix.shape[0], dtype=np.int32)
    whose = np.repeat(subject, np.diff(examples.first))
    meet(rows, matrix.indptr.astype(np.int64), matrix.indices, whose, met)
    kept = (met == SEVERAL)[matrix.indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr].astype(matrix.indptr.dtype)
    fewer = sp.csr_array((matrix.data[kept], matrix.indices[kept], ends), shape=matrix.shape)
    return replace(examples, matrix=fewer)
