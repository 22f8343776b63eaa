"""Define the input of every attack: rows of interval numbers, and their subjects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError

MISSING = -1


@dataclass(frozen=True)
class IntervalRecords:
    """Rows of a release, a register or held-out people, as interval numbers (-1 = missing).

    `subject` is the row's person. All `IntervalRecords` of an attack number people in the same way.
    Attacks count subjects, so repeated rows change nothing.
    """

    codes: NDArray[np.int32]
    subject: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.subject.shape != self.codes.shape[:1]:
            raise RequestError(
                f"codes of shape {self.codes.shape} and subjects of shape {self.subject.shape} "
                "do not describe the same rows",
                instead="give codes (n, q) and subject (n,)",
            )
        if self.codes.size and int(self.codes.min()) < MISSING:
            row, column = np.argwhere(self.codes < MISSING)[0]
            raise RequestError(
                "a code below -1",
                where=f"row {row}, column {column}",
                instead="number intervals from 0 and write -1 for missing",
            )

    def __len__(self) -> int:
        return len(self.codes)

    def select(self, rows: NDArray[Any]) -> IntervalRecords:
        return IntervalRecords(self.codes[rows], self.subject[rows])


def same_columns(columns: Sequence[str], *parts: IntervalRecords | None) -> None:
    """Raise an error unless the codes of each part have one column for each name."""
    for part in parts:
        if part is not None and part.codes.shape[1] != len(columns):
            raise RequestError(
                f"{part.codes.shape[1]} columns of codes for {len(columns)} column names",
                instead="code every part of an attack over the same columns",
            )


def distinct_rows(
    codes: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """Return the distinct rows in lexicographic order, and each row's position among them.

    `codes` is (n, q) >= -1, and q may be 0. Cost: O(q n log n) time.

    >>> rows, place = distinct_rows(np.array([[2, 0], [1, 5], [2, 0]], dtype=np.int32))
    >>> rows.tolist(), place.tolist()
    ([[1, 5], [2, 0]], [1, 0, 1])
    """
    n = len(codes)
    ids: NDArray[np.intp] = np.zeros(n, dtype=np.intp)
    for column in codes.T:
        values = column.astype(np.int64) + 1
        size = int(values.max(initial=0)) + 1
        ids = np.unique(ids * size + values, return_inverse=True)[1]
    first = np.full(int(ids.max(initial=-1)) + 1, n, dtype=np.intp)
    np.minimum.at(first, ids, np.arange(n))
    return codes[first], ids


def distinct_pairs(
    subject: NDArray[np.int64], group: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return each pair of subject and group once, ordered by subject and then by group.

    >>> s, g = distinct_pairs(np.array([7, 7, 3]), np.array([1, 1, 0]))
    >>> s.tolist(), g.tolist()
    ([3, 7], [0, 1])
    """
    order = np.lexsort((group, subject))
    subject, group = subject[order], group[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (subject[1:] != subject[:-1]) | (group[1:] != group[:-1])
    return subject[new], group[new]


def each_subject_once(records: IntervalRecords) -> IntervalRecords:
    """Return each combination of a subject once, ordered by subject."""
    combinations, place = distinct_rows(records.codes)
    subject, combination = distinct_pairs(records.subject, place)
    return IntervalRecords(combinations[combination], subject)


def first_of_each(sorted_ids: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the position at which each run of equal values of a sorted array begins."""
    starts = np.ones(len(sorted_ids), dtype=bool)
    starts[1:] = sorted_ids[1:] != sorted_ids[:-1]
    return np.flatnonzero(starts)
