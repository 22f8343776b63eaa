"""Recode each row's quasi-identifiers to the intervals of a policy, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.tables.domains.domain import OUTSIDE, ValueDomain
from voile.tables.policies.policy import Policy
from voile.tables.trees.person_policy import PersonPolicy
from voile.tables.trees.policy import TreePolicy


@dataclass(frozen=True)
class RecodedBatch:
    """A policy's output for a batch: positions and interval numbers, -1 outside the domain.

    For a tree policy, each interval number is the number of the row's leaf. `suppressed` (rows,)
    are the rows of groups that may not be released.
    """

    values: NDArray[np.int32]
    intervals: NDArray[np.int32]
    suppressed: NDArray[np.bool_]

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Return a mask (rows,) of rows with a value outside its domain. They are rejected."""
        return np.asarray((self.intervals == OUTSIDE).any(axis=1))


class BatchRecoder:
    def __init__(
        self, policy: Policy | TreePolicy, allowed: NDArray[np.int32] | None = None
    ) -> None:
        self.policy = policy
        self._allowed = None if allowed is None else policy.keys_of(allowed)

    def __call__(
        self, batch: pa.RecordBatch, numbers: NDArray[np.int64] | None = None
    ) -> RecodedBatch:
        """Find each row's intervals.

        Cost: O(cells), and one parse of each distinct raw value.
        """
        values = _values(self.policy.domains, batch)
        intervals = self.policy.numbers_of(values)
        return RecodedBatch(values, intervals, self._find_suppressed(intervals))

    def _find_suppressed(self, intervals: NDArray[np.int32]) -> NDArray[np.bool_]:
        if self._allowed is None:
            return np.zeros(len(intervals), dtype=np.bool_)
        keys = self.policy.keys_of(intervals)
        outside = (intervals == OUTSIDE).any(axis=1)
        return np.asarray(~np.isin(keys, self._allowed) & ~outside)


class PersonRecoder:
    """A recoder that looks up the leaf of each row, determined from all rows of its person.

    Parameters
    ----------
    box : (rows of the source,) the leaf of each row by its number, or -1 for rows that are not
        released.
    """

    def __init__(self, policy: PersonPolicy, box: NDArray[np.int32]) -> None:
        self.policy = policy
        self.box = box

    def __call__(
        self, batch: pa.RecordBatch, numbers: NDArray[np.int64] | None = None
    ) -> RecodedBatch:
        """Look up the leaves of a batch's rows, by their `numbers` in the source."""
        values = _values(self.policy.domains, batch)
        box = self.box[numbers]
        boxes = np.where(values == OUTSIDE, OUTSIDE, np.maximum(box, 0)[:, None]).astype(np.int32)
        return RecodedBatch(values, boxes, (box < 0) & (values != OUTSIDE).all(axis=1))


def _values(domains: Sequence[ValueDomain], batch: pa.RecordBatch) -> NDArray[np.int32]:
    codes = np.empty((len(batch), len(domains)), np.int32)
    for at, domain in enumerate(domains):
        codes[:, at] = domain.codes(batch.column(domain.column))
    return codes
