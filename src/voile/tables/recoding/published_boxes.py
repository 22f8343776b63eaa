"""Define a tree policy as one release shows it. It is determined after the last row."""

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
    """The part of a tree policy that a release shows.

    Attributes
    ----------
    codebook : the codebook of the leaves with released rows.
    box_of : (leaves of the policy,) the number of each leaf in the codebook, or -1 if it is not
        there. A policy per person has one entry for each leaf of rows.
    finest : the global policy with every split point of a released leaf, in its published form.
    marginals : the marginals of the columns with more than one run.
    begins : by these columns, (runs,) the position at which each run begins.
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
        """Name the intervals of leaves by the values of released rows.

        `stands` (leaves,) is the node of the pruned tree that represents each leaf in the release,
        or -1 if no row is released. People in `counted` are published as marginals.
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
        """Return the published intervals of positions in the domains, or -1 if not released."""
        assert isinstance(self.policy, TreePolicy)  # values determine labels
        found = self.policy.box_of(codes)
        box = np.where(found >= 0, self.box_of[found], UNKNOWN)
        nowhere = (UNKNOWN,) * codes.shape[1]
        return np.array([*self.codebook.boxes, nowhere], dtype=np.int32)[box]

    def entries(self, column: str, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the codebook entries of a column in rows of these leaves of the policy."""
        place = self.policy.columns.index(column)
        own = np.array([box[place] for box in self.codebook.boxes], dtype=np.int32)
        return own[self.box_of[numbers]]

    def write_cells(self, column: str, numbers: NDArray[np.int32]) -> list[pa.Array]:
        """Return the cells of a column in rows of these leaves of the policy."""
        return write_entries(self.codebook.column(column), self.entries(column, numbers))


def _name_sets(
    domain: ValueDomain,
    released: NDArray[np.bool_],
    sets: NDArray[np.bool_],
    number: NDArray[np.int32],
) -> tuple[list[IntervalName], NDArray[np.int32]]:
    """Return the names of a column's value sets, and each leaf's name number.

    Sets with equal names share one entry.
    """
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
