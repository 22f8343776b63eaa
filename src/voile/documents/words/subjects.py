"""Group tokens and documents by their subject."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.words.tokens import TextTokens


def number_subjects(subjects: Sequence[str]) -> NDArray[np.int32]:
    """Return the number of each document's subject, (d,)."""
    return np.unique(np.asarray(subjects), return_inverse=True)[1].astype(np.int32)


def count_by_subject(
    tokens: TextTokens, which: NDArray[np.bool_], subject: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Count the tokens of the mask `which`, (n,), for each subject.

    `subject`, of shape (d,), is the subject of each document.
    """
    whose = subject[tokens.document[which]]
    return np.bincount(whose, minlength=int(subject.max(initial=-1)) + 1)


def split_into_folds(
    subjects: Sequence[str], sizes: NDArray[np.intp], folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the fold of each document, (d,); all documents of a subject are in one fold.

    Subjects come in random order. Each goes to the fold that has the fewest tokens so far.
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
        # in the first round, every fold gets one subject, even if the subject's text is short
        fold[name] = place if place < folds else np.argmin(held)
        held[fold[name]] += weight[name]
    return np.asarray(fold[whose], dtype=np.intp)
