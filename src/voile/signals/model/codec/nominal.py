"""Nominal columns: one injective assignment of values per class, with NumPy only.

Matching values by their frequency rank leaks least among all assignments. The entropy of the
mixture is Schur-concave, and a sum of vectors is majorised by the sum of the sorted vectors. So
this matching minimises I(Z; C) = H(Z) - H(Z | C), whatever the shares of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.signals.model.codec.place import ReadingPlace

NOMINAL = "nominal"  # declared for such a column in place of a resolution


@dataclass(frozen=True, eq=False)
class ValueAssignment(BriefRepr):
    """A permutation of the values for each class."""

    values: NDArray[np.str_]  # (m,) strings, all values of the column, sorted
    sent: NDArray[np.int64]  # (classes, m): value i of class c is sent as value sent[c, i]

    @classmethod
    def of(cls, column: NDArray[np.str_], classes: NDArray[np.intp], n: int) -> ValueAssignment:
        """Fit to a column's values, (rows,), and the class of each, 0 <= class < n.

        A class's most frequent value is sent as the overall most frequent value, and so on. Values
        of equal frequency keep their order.
        """
        values, codes = np.unique(column, return_inverse=True)
        m = len(values)
        counts = np.bincount(classes * m + codes, minlength=n * m).reshape(n, m)
        common = np.argsort(-counts.sum(axis=0), kind="stable")
        sent = np.empty((n, m), dtype=np.int64)
        for own, row in zip(counts, sent, strict=True):
            row[np.argsort(-own, kind="stable")] = common
        return cls(values, sent)

    def plain(self) -> ValueAssignment:
        """Return the assignment of each value to itself, for strength 0."""
        return ValueAssignment(
            self.values, np.tile(np.arange(len(self.values)), (len(self.sent), 1))
        )

    def encode(self, column: NDArray[np.str_], which: int, where: ReadingPlace) -> NDArray[np.str_]:
        sent: NDArray[np.str_] = self.values[self.sent[which][self._codes(column, where)]]
        return sent

    def decode(self, column: NDArray[np.str_], which: int, where: ReadingPlace) -> NDArray[np.str_]:
        back = np.argsort(self.sent[which])
        return np.asarray(self.values[back[self._codes(column, where)]])

    def _codes(self, column: NDArray[np.str_], where: ReadingPlace) -> NDArray[np.intp]:
        at = np.minimum(np.searchsorted(self.values, column), len(self.values) - 1)
        unseen = self.values[at] != column
        if unseen.any():
            raise RequestError(
                f"{unseen.sum()} values were not seen when the map was fitted, "
                "the first of them here",
                where=where.at(int(unseen.argmax())),
            )
        return at
