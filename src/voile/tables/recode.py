"""Recoding: each row's quasi-identifiers to the intervals of a policy, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.tables.domain import OUTSIDE, Domain
from voile.tables.gather import row_keys
from voile.tables.policy import Interval, Policy


@dataclass(frozen=True)
class Recoded:
    """What a policy makes of a batch of rows.

    Parameters
    ----------
    intervals : (rows, attributes) int32, the number of each cell's interval, -1 outside the domain.
    suppressed : (rows,) bool, rows whose group is not among those that may be released.
    """

    intervals: NDArray[np.int32]
    suppressed: NDArray[np.bool_]

    @property
    def outside(self) -> NDArray[np.bool_]:
        """(rows,) bool, rows with a value outside its domain: they are set aside."""
        return np.asarray((self.intervals == OUTSIDE).any(axis=1))


class Recoder:
    """Apply one policy to batches of rows.

    Parameters
    ----------
    policy : the policy.
    allowed : (groups, attributes) int32, the groups that may be released, by interval numbers;
        None when nothing constrains them. A group that was never counted is not among them.
    """

    def __init__(self, policy: Policy, allowed: NDArray[np.int32] | None = None) -> None:
        self.policy = policy
        self._interval_of = [policy.interval_of(domain) for domain in policy.domains]
        self._sizes = [len(intervals) for intervals in policy.intervals.values()]
        self._allowed = None if allowed is None else row_keys(allowed, self._sizes)

    def __call__(self, batch: pa.RecordBatch) -> Recoded:
        """Find each row's intervals. Cost: O(cells), and one parse of each distinct raw value."""
        columns = []
        for domain, interval_of in zip(self.policy.domains, self._interval_of, strict=True):
            codes = domain.codes(batch.column(domain.column))
            columns.append(np.where(codes == OUTSIDE, OUTSIDE, interval_of[codes]))
        intervals = np.column_stack(columns).astype(np.int32)
        return Recoded(intervals, self._suppressed(intervals))

    def _suppressed(self, intervals: NDArray[np.int32]) -> NDArray[np.bool_]:
        if self._allowed is None:
            return np.zeros(len(intervals), dtype=np.bool_)
        keys = row_keys(intervals, self._sizes)
        outside = (intervals == OUTSIDE).any(axis=1)
        return np.asarray(~np.isin(keys, self._allowed) & ~outside)


def label_column(intervals: Sequence[Interval], numbers: NDArray[np.int32]) -> pa.DictionaryArray:
    """Write interval numbers as labels."""
    labels = pa.array([interval.label for interval in intervals], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), labels)


def bound_columns(
    domain: Domain, intervals: Sequence[Interval], numbers: NDArray[np.int32]
) -> tuple[pa.Array, pa.Array]:
    """Write interval numbers as two columns, the first and the last value; null is null.

    An interval that ends in null has the last value before it as its last; its label, in the
    manifest, says that missing values are among it.
    """
    type_ = pa.int64() if domain.reading.kind == "integer" else pa.string()

    def bounds(last: bool) -> pa.Array:
        values = []
        for interval in intervals:
            place = interval.last if last else interval.first
            if domain.values[place] is None and place > interval.first:
                place -= 1
            value = domain.values[place]
            values.append(value if value is None or type_ == pa.int64() else str(value))
        return pa.array(values, type_).take(pa.array(numbers, pa.int32()))

    return bounds(last=False), bounds(last=True)
