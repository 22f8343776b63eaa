"""The subjects of readings, and an adversary's beliefs about each of them (Section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.signals.model.codec.given import as_given
from voile.signals.model.codec.pieces import Floats

OFF = 1e-6  # tolerance for the sum of one subject's probabilities


@dataclass(frozen=True, eq=False)
class Subjects:
    """The paper's p(s), p(c | s) and p(x | c, s), with one row per reading.

    The adversary knows the subject of each message. She may know how often each subject sends, the
    probability of each class for it, and how its readings differ from those of other subjects.

    Parameters
    ----------
    names : (n,) the subject of each reading.
    weights : (n,) p(s) of each reading's subject, in any unit, >= 0. None: in proportion to the
        number of readings.
    beliefs : (n, k) p(c | s) of each reading's subject. Classes are sorted, and each row sums to 1.
        None: p(c) for everyone. With `own`, None means the class shares of the subject.
    own : whether each subject has its own law p(x | c, s). Otherwise all subjects share p(x | c).
    """

    names: ArrayLike
    weights: ArrayLike | None = None
    beliefs: ArrayLike | None = None
    own: bool = False


Whose: TypeAlias = "ArrayLike | Subjects | None"


@dataclass(frozen=True, eq=False)
class CheckedSubjects:
    names: NDArray[Any]  # (m,) the subjects, sorted
    whose: NDArray[np.intp]  # (n,) the index of each reading's subject
    share: Floats  # (n,) each reading's part of its subject's p(s); the sum is 1
    beliefs: Floats | None  # (n, k), or None for p(c)
    own: bool  # as in `Subjects`

    @classmethod
    def of(cls, subjects: Whose, n: int, classes: int) -> CheckedSubjects:
        """Check the subjects of n readings. None means one different person per reading."""
        if subjects is None:
            subjects = Subjects(np.arange(n))
        elif not isinstance(subjects, Subjects):
            subjects = Subjects(subjects)
        names, first, whose, counts = np.unique(
            as_given(subjects.names, n), return_index=True, return_inverse=True, return_counts=True
        )
        share = np.full(n, 1 / max(n, 1))
        if subjects.weights is not None:
            share = _rows(subjects.weights, (n,), first[whose]) / counts[whose]
            if not share.sum() > 0:
                raise RequestError("no subject has a weight above 0", where="subjects")
            share /= share.sum()
        beliefs = None
        if subjects.beliefs is not None:
            beliefs = _rows(subjects.beliefs, (n, classes), first[whose])
            if (np.abs(beliefs.sum(axis=1) - 1) > OFF).any():
                raise RequestError("the chances of a subject's classes are not of sum 1")
        return cls(names, whose, share, beliefs, subjects.own)

    def distinct(self, codes: NDArray[np.intp], classes: int) -> tuple[Floats, Floats]:
        """Return the distinct beliefs, (g, k), and the p(s) of the subjects with each, (g,)."""
        if self.beliefs is None:
            common = np.bincount(codes, minlength=classes) / max(len(codes), 1)
            return common[None], np.ones(1)
        rows, which = np.unique(self.beliefs, axis=0, return_inverse=True)
        return rows, np.bincount(which.ravel(), self.share).astype(np.float64)

    def at(self, rows: NDArray[np.intp]) -> CheckedSubjects:
        """Return the subjects of some of the readings, with the shares scaled to sum 1."""
        share = self.share[rows]
        beliefs = None if self.beliefs is None else self.beliefs[rows]
        names, whose = np.unique(self.names[self.whose[rows]], return_inverse=True)
        return CheckedSubjects(names, whose, share / share.sum(), beliefs, self.own)


def _rows(given: ArrayLike, shape: tuple[int, ...], first: NDArray[np.intp]) -> Floats:
    """Check that weights or probabilities are >= 0 and equal in all rows of a subject."""
    rows = np.asarray(given, dtype=np.float64)
    if rows.shape != shape or not (np.isfinite(rows) & (rows >= 0)).all():
        raise RequestError(f"weights and chances must be numbers from 0 up, of shape {shape}")
    if (rows != rows[first]).any():
        raise RequestError("a subject has two weights or two beliefs", where="subjects")
    return rows
