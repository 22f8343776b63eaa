"""The class label of each row, and the number of rows of each class with a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.itemsets.rows.incidence import Incidence, number_values

LabelsLike: TypeAlias = "ArrayLike | RowLabels"

MOST_CLASSES = 50


@dataclass(frozen=True, eq=False)
class RowLabels:
    """The class of each row (`number`), and the number of rows of each class (`sizes`).

    There are 2 to 50 classes.
    """

    number: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, y: LabelsLike, rows: int) -> RowLabels:
        """Read one label for each row.

        Raises RequestError if a label is missing, or if there are fewer than 2 or more than 50
        classes.
        """
        if isinstance(y, cls):
            return y
        values = np.asarray(y)
        if values.shape != (rows,):
            raise RequestError(f"labels of shape {values.shape} for {rows} rows")
        number, absent = number_values(values)
        if len(absent):
            raise RequestError(
                f"{len(absent)} labels are missing",
                where=f"row {absent[0]}",
                instead="leave those rows out",
            )
        sizes = np.bincount(number).astype(np.int64)
        if len(sizes) < 2:
            raise RequestError("the label has one class only", instead="use one of two or more")
        if len(sizes) > MOST_CLASSES:
            raise RequestError(
                f"the label has {len(sizes):,} classes, and {MOST_CLASSES} are the most",
                instead="cut a number into a few classes first, as --target-bins does, or use "
                "another column",
            )
        return cls(number, sizes)

    def among(self, rows: NDArray[np.bool_]) -> RowLabels:
        """Return the labels of some rows.

        The classes stay the same, even if none of the rows has them.
        """
        number = self.number[rows]
        return RowLabels(number, np.bincount(number, minlength=len(self.sizes)).astype(np.int64))

    def table(self, incidence: Incidence) -> NDArray[np.int64]:
        """Return (patterns, classes) counts of the rows of each class with each pattern."""
        classes = len(self.sizes)
        keys = incidence.pattern.astype(np.int64) * classes + self.number
        counts = np.bincount(keys, minlength=len(incidence.own) * classes)
        return counts.reshape(-1, classes).astype(np.int64)


def unlike(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of pairs of different labels within each row of (..., classes) counts."""
    pairs: NDArray[np.int64] = (counts.sum(axis=-1) ** 2 - (counts**2).sum(axis=-1)) // 2
    return pairs
