"""A tree policy as one release shows it, decided when its last row is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.tables.domains.domain import ValueDomain
from voile.tables.policies.family import cuts_of
from voile.tables.policies.policy import DomainInterval
from voile.tables.recoding.boxes import BoxCodebook
from voile.tables.recoding.codebook import UNKNOWN, CodedColumn
from voile.tables.recoding.marginals import ColumnMarginal, ReleasedCounts, marginal_of
from voile.tables.recoding.naming import IntervalName, name_intervals, name_sets
from voile.tables.recoding.published import PublishedPolicy, check_bounds, write_entries
from voile.tables.recoding.runs import Ints
from voile.tables.trees.person_policy import PersonPolicy
from voile.tables.trees.policy import TreePolicy, sets_in


@dataclass(frozen=True)
class PublishedBoxes(BriefRepr):
    """Hold the part of a tree policy that a release shows.

    codebook : of the boxes that released rows are in.
    box_of : (uncut boxes of the policy,) which box of the codebook each has become; -1 for none. A
        policy per person has one entry for each box of rows.
    finest : the global policy of every cut that a released box has, as it would be published.
    marginals : of the columns that have more than one run.
    begins : by these columns, (runs,) the position that each run begins at.
    """

    shows = ("codebook",)

    policy: TreePolicy | PersonPolicy
    codebook: BoxCodebook
    box_of: NDArray[np.int32]
    finest: PublishedPolicy
    marginals: tuple[ColumnMarginal, ...] = ()
    begins: Mapping[str, Ints] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        policy: TreePolicy | PersonPolicy,
        released: Sequence[NDArray[np.bool_]],
        stands: NDArray[np.int32],
        *,
        bounds: bool = False,
        counted: ReleasedCounts | None = None,
    ) -> PublishedBoxes:
        """Name the intervals of boxes by the values that released rows have.

        `stands` (uncut boxes,) is the box of the pruned tree that each is part of where rows of it
        are released, else -1. People that are `counted` give marginals.
        """
        own = policy.boxes
        nodes = np.unique(stands[stands >= 0])
        low, high = (ends[nodes] for ends in own.bounds)
        columns, numbers = [], []
        for place, (domain, seen) in enumerate(zip(policy.domains, released, strict=True)):
            names, number = _name_sets(domain, seen, *sets_in(own, nodes, place))
            columns.append(CodedColumn.of(domain, names, bounds=bounds))
            if bounds:
                _refuse_sets(domain)
                check_bounds(columns[-1])
            numbers.append(number)
        boxes = tuple(tuple(map(int, box)) for box in np.column_stack(numbers))
        box_of = np.where(stands >= 0, np.searchsorted(nodes, stands), UNKNOWN).astype(np.int32)
        finest = PublishedPolicy.of(cuts_of(policy.domains, own, nodes), released)
        book = BoxCodebook(tuple(columns), boxes)
        if counted is None:
            return cls(policy, book, box_of, finest)
        people = np.zeros(len(nodes), dtype=np.int64)
        np.add.at(people, box_of[stands >= 0], counted.people[stands >= 0])
        each = zip(policy.domains, columns, low.T, high.T, counted.values, strict=True)
        found = [
            marginal_of(domain, coded, (a, b, people), values, counted.least)
            for domain, coded, a, b, values in each
        ]
        runs = [one for one in found if one is not None]
        begins = {one.column: first for one, first in runs}
        return cls(policy, book, box_of, finest, tuple(one for one, _ in runs), begins)

    def codes_of(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the published intervals of positions in the domains; -1 in no released box."""
        assert isinstance(self.policy, TreePolicy)  # else they do not follow from a row's values
        found = self.policy.box_of(codes)
        box = np.where(found >= 0, self.box_of[found], UNKNOWN)
        nowhere = (UNKNOWN,) * codes.shape[1]
        return np.array([*self.codebook.boxes, nowhere], dtype=np.int32)[box]

    def entries(self, column: str, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the entries of a column in rows of these boxes of the policy."""
        place = self.policy.columns.index(column)
        own = np.array([box[place] for box in self.codebook.boxes], dtype=np.int32)
        return own[self.box_of[numbers]]

    def write_cells(self, column: str, numbers: NDArray[np.int32]) -> list[pa.Array]:
        """Write the intervals of a column as they stand in rows of these boxes of the policy."""
        return write_entries(self.codebook.column(column), self.entries(column, numbers))


def _name_sets(
    domain: ValueDomain,
    released: NDArray[np.bool_],
    sets: NDArray[np.bool_],
    number: NDArray[np.int32],
) -> tuple[list[IntervalName], NDArray[np.int32]]:
    """Name the sets of values of a column, and say which each box has; equal names are one."""
    names: dict[str, IntervalName] = {}
    entry = np.full(len(sets), UNKNOWN, dtype=np.int32)
    for name in _names(domain, sets, released):
        names.setdefault(name.label, name)
        entry[name.number] = list(names).index(name.label)
    return list(names.values()), entry[number]


def _refuse_sets(domain: ValueDomain) -> None:
    if domain.free:
        raise RequestError(
            "its values have no order, so that a set of them has no two bounds",
            where=f"column {domain.column}",
            instead="leave --bounds out, or give the column an order",
        )


def _names(
    domain: ValueDomain, sets: NDArray[np.bool_], released: NDArray[np.bool_]
) -> tuple[IntervalName, ...]:
    if domain.free:
        return name_sets(domain, sets, released)
    places = [np.flatnonzero(one) for one in sets]
    intervals = [DomainInterval(int(own[0]), int(own[-1]), "") for own in places]
    return name_intervals(domain, intervals, released)


AnyPublished = PublishedPolicy | PublishedBoxes
