"""Tokens and documents by the subject that they are about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.words.tokens import TextTokens


def number_subjects(subjects: Sequence[str]) -> NDArray[np.int32]:
    """Number the subjects, (d,)."""
    return np.unique(np.asarray(subjects), return_inverse=True)[1].astype(np.int32)


def count_by_subject(
    tokens: TextTokens, which: NDArray[np.bool_], subject: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Count tokens, (n,) bool, by the subject of their document, (d,)."""
    whose = subject[tokens.document[which]]
    return np.bincount(whose, minlength=int(subject.max(initial=-1)) + 1)


def split_into_folds(
    subjects: Sequence[str], sizes: NDArray[np.intp], folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return each document's fold, (d,); a subject is in one fold alone.

    Subjects come in random order, each to the fold that holds the fewest tokens so far.
    """
    names, whose = np.unique(np.asarray(subjects), return_inverse=True)
    if folds < 2 or int(folds) != folds:
        raise RequestError("the number of folds is a whole number from 2 up")
    if len(names) < folds:
        raise RequestError(
            f"{len(names)} subject{'s' * (len(names) != 1)} cannot be split into {folds} folds",
            instead="give documents of more subjects, or ask for fewer folds",
        )
    weight = np.bincount(whose, sizes, len(names))
    held, fold = np.zeros(int(folds)), np.empty(len(names), dtype=np.intp)
    for place, name in enumerate(rng.permutation(len(names))):
        # the first round gives every fold somebody, however short their text
        fold[name] = place if place < folds else np.argmin(held)
        held[fold[name]] += weight[name]
    return np.asarray(fold[whose], dtype=np.intp)
