"""Split subjects into folds, so that nobody's text is judged by who learnt from it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError


def folds_of(
    subjects: Sequence[str], sizes: NDArray[np.intp], folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return each document's fold, (d,), 0 to folds - 1; a subject is in one fold alone.

    Subjects come in random order, each to the fold that holds the fewest tokens so far.

    Parameters
    ----------
    subjects, sizes : (d,) whose each document is, and its tokens.
    folds : 2 or more.

    Raises
    ------
    RequestError : fewer subjects than folds.
    """
    names, whose = np.unique(np.asarray(subjects), return_inverse=True)
    if folds < 2 or int(folds) != folds:
        raise RequestError("the number of folds is a whole number from 2 up")
    if len(names) < folds:
        raise RequestError(
            f"{len(names)} subject{'s' * (len(names) != 1)} cannot be split into {folds} folds",
            instead="annotate more documents, or ask for fewer folds",
        )
    weight = np.bincount(whose, sizes, len(names))
    held, fold = np.zeros(int(folds)), np.empty(len(names), dtype=np.intp)
    for place, name in enumerate(rng.permutation(len(names))):
        # the first round gives every fold somebody, however short their text
        fold[name] = place if place < folds else np.argmin(held)
        held[fold[name]] += weight[name]
    return np.asarray(fold[whose], dtype=np.intp)
