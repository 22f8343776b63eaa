"""Define a policy as one release shows it. It is determined after the last row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.tables.policies.policy import Policy
from voile.tables.recoding.codebook import UNKNOWN, CodedColumn, ReleaseCodebook
from voile.tables.recoding.marginals import ColumnMarginal
from voile.tables.recoding.naming import name_intervals


@dataclass(frozen=True)
class PublishedPolicy(BriefRepr):
    """The part of a policy that a release shows.

    Attributes
    ----------
    codebook : the codebook of the intervals with released rows.
    entry_of : by column, (intervals,) int32, each interval's position in the codebook, or -1 if it
        is not there.
    widths : by column, (entries,) float64, each interval's share of the shown values.
    """

    shows = ("codebook",)
    marginals: ClassVar[tuple[ColumnMarginal, ...]] = ()  # trees only
    begins: ClassVar[Mapping[str, NDArray[np.int64]]] = {}

    policy: Policy
    codebook: ReleaseCodebook
    entry_of: tuple[NDArray[np.int32], ...]
    widths: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(
        cls, policy: Policy, released: Sequence[NDArray[np.bool_]], *, bounds: bool = False
    ) -> PublishedPolicy:
        """Name a policy's intervals by the values of released rows."""
        columns, entry_of, widths = [], [], []
        for domain, own in zip(policy.domains, released, strict=True):
            intervals = policy.intervals[domain.column]
            names = name_intervals(domain, intervals, own)
            columns.append(CodedColumn.of(domain, names, bounds=bounds))
            place = np.full(len(intervals), UNKNOWN, dtype=np.int32)
            place[[name.number for name in names]] = np.arange(len(names))
            entry_of.append(place)
            held = np.array([len(name.values) + name.missing for name in names], dtype=np.float64)
            widths.append(held / max(held.sum(), 1))
            if bounds:
                check_bounds(columns[-1])
        return cls(policy, ReleaseCodebook(tuple(columns)), tuple(entry_of), tuple(widths))

    def codes_of(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the published intervals of positions in the domains, or -1 if there is none."""
        columns = zip(self.policy.domains, self.entry_of, codes.T, strict=True)
        return np.column_stack(
            [entry[self.policy.interval_of(d)[own]] for d, entry, own in columns]
        )

    def entries(self, column: str, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the codebook entries of released rows' interval numbers."""
        place = [domain.column for domain in self.policy.domains].index(column)
        return self.entry_of[place][numbers]

    def write_cells(self, column: str, numbers: NDArray[np.int32]) -> list[pa.Array]:
        """Return the cells of a release for interval numbers of released rows."""
        return write_entries(self.codebook.column(column), self.entries(column, numbers))


def check_bounds(column: CodedColumn) -> None:
    """Raise an error if two intervals have equal bounds."""
    bounds = [entry.bounds for entry in column.entries]
    if len(set(bounds)) < len(bounds):
        raise RequestError(
            "two intervals have the same two bounds, since a missing value has none",
            where=f"column {column.column}",
            instead="leave --bounds out, or choose a policy that cuts missing values off",
        )


def write_entries(column: CodedColumn, places: NDArray[np.int32]) -> list[pa.Array]:
    """Return the cells of a release for entry numbers: labels, or two bounds."""
    indices = pa.array(places, pa.int32())
    if len(column.released) == 1:
        labels = pa.array([entry.label for entry in column.entries], pa.string())
        return [pa.DictionaryArray.from_arrays(indices, labels)]
    return [_ends(column, [e.bounds[i] for e in column.entries]).take(indices) for i in (0, 1)]


def _ends(column: CodedColumn, ends: Sequence[str | None]) -> pa.Array:
    if column.kind == "integer":
        return pa.array([None if end is None else int(end) for end in ends], pa.int64())
    return pa.array(ends, pa.string())
