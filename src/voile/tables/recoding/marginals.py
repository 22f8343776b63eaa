"""Count released people by runs of a column's values, as marginals.

Runs are named in the same way as intervals, by the values of released rows. Each run has `least`
people or more. Public counts have two digits, or are tens below 100, like all counts of people. An
adversary who knows everybody else cannot find the last person by subtraction, unless a count is at
the limit of rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import TamperedError
from voile.core.rounding import round_number
from voile.tables.domains.domain import ValueDomain
from voile.tables.policies.policy import DomainInterval
from voile.tables.recoding.codebook import CodebookEntry, CodedColumn
from voile.tables.recoding.naming import name_intervals
from voile.tables.recoding.runs import Ints, choose_cuts, straddling

FEW = 11
MOST = 2**53


@dataclass(frozen=True)
class ColumnMarginal:
    """The runs of one column, in order, and the people in each."""

    column: str
    runs: tuple[CodebookEntry, ...]
    people: tuple[int, ...]

    @property
    def public(self) -> ColumnMarginal:
        """Return the marginal with counts rounded for the public."""
        return replace(self, people=tuple(map(state_people, self.people)))

    def may_count(self, people: float) -> bool:
        """Return whether the public counts of these runs may come from this number of people."""
        return abs(sum(self.people) - people) <= sum(max(9, n / 20) for n in self.people)

    def to_data(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> ColumnMarginal:
        """Build a marginal from the data of `to_data`, also after JSON.

        Raises
        ------
        TamperedError : the data is not a result of `to_data`.
        """
        try:
            runs = tuple(CodebookEntry(**{**e, "values": tuple(e["values"])}) for e in data["runs"])
            made = cls(str(data["column"]), runs, tuple(data["people"]))
        except (LookupError, TypeError) as error:
            raise _refuse_damaged() from error
        if len(runs) != len(made.people) or not all(type(n) is int for n in made.people):
            raise made.stranger
        return made

    def find_reached(self, column: CodedColumn) -> NDArray[np.bool_]:
        """Return whether an interval of the column and a run share a value.

        The result is (intervals, runs) bool.

        Raises
        ------
        TamperedError : an interval shares no value with any run.
        """
        n = len(column.entries)
        shared = replace(column, entries=column.entries + self.runs).overlaps[:n, n:]
        if not shared.any(axis=1).all():
            raise self.stranger
        return shared

    def check_public(self) -> None:
        """Raise TamperedError if a release cannot have such public counts."""
        if not self.people or not all(FEW <= n <= MOST for n in self.people):
            raise self.stranger

    @property
    def stranger(self) -> TamperedError:
        """Return the error for marginals that contradict the leaves of the release."""
        return TamperedError(
            "the marginals are not those of the release", where=f"column {self.column}"
        )


def state_people(count: int) -> int:
    """Round a count of people for the public.

    >>> [state_people(count) for count in (11, 20, 99, 101, 104, 32_561)]
    [20, 20, 100, 100, 100, 33000]
    """
    return 10 * ceil(count / 10) if count < 100 else round_number(count)


def least_implied(column: CodedColumn, marginal: ColumnMarginal, people: Ints) -> int:
    """Return the least count that exact runs, and the people of each interval, imply.

    It is the least of two kinds of counts. The first are the people of each run. The second are
    people of intervals that extend beyond some neighbouring runs, with a value in these runs.

    Raises
    ------
    TamperedError : no people could be in these intervals and in these runs.
    """
    reached, held = marginal.find_reached(column), np.array(marginal.people)
    runs = replace(column, entries=marginal.runs).overlaps
    first, last = reached.argmax(axis=1), len(held) - 1 - reached[:, ::-1].argmax(axis=1)
    beyond, some = straddling(first, last, people, np.arange(len(held) + 1), held)
    pairs = np.triu(np.ones_like(some), 1)
    fits = (runs == np.eye(len(held), dtype=np.bool_)).all()
    fits &= (reached.sum(axis=1) == last - first + 1).all() and held.sum() == people.sum()
    if not fits or (beyond[pairs & ~some] != 0).any() or (beyond[pairs] < 0).any():
        raise marginal.stranger
    return int(min(held.min(), beyond[pairs & some].min(initial=held.min())))


def _refuse_damaged() -> TamperedError:
    return TamperedError("the marginals are not such as a release has")


def marginals_in(manifest: Mapping[str, Any]) -> dict[str, ColumnMarginal]:
    """Return the marginals of a manifest by column. Those of a private manifest are exact.

    Raises
    ------
    TamperedError : the manifest's marginals are damaged.
    """
    given = manifest.get("marginals", [])
    if not isinstance(given, list):
        raise _refuse_damaged()
    found = [ColumnMarginal.from_data(one) for one in given]
    made = {one.column: one for one in found}
    if len(made) < len(found):
        raise _refuse_damaged()
    return made


@dataclass(frozen=True)
class ReleasedCounts(BriefRepr):
    """Released people, each counted once.

    Attributes
    ----------
    people : (boxes,) the people in each leaf of a policy.
    values : by column, (values,) the people with each value.
    least : the least count that leaves and runs together may imply, unless leaves alone imply less.
    """

    shows = ("least",)

    people: Ints
    values: Sequence[Ints]
    least: int


def marginal_of(
    domain: ValueDomain, coded: CodedColumn, boxes: Sequence[Ints], counts: Ints, least: int
) -> tuple[ColumnMarginal, Ints] | None:
    """Count people by runs of a column's values.

    Parameters
    ----------
    coded : the column as it is published.
    boxes : (boxes,) each: the first and the last position of every released leaf, and its people.
    counts : (values,) released people by position.
    least : the least count that leaves and runs together may imply, unless leaves alone imply less.

    Returns
    -------
    marginal : the marginal and (runs,) the position at which each run begins. None if there is only
        one run.
    """
    if domain.free:  # its leaves are sets without runs
        return None
    low, high, people = boxes
    places = _told_apart(domain, counts > 0)
    first = np.searchsorted(places, low)
    last = np.searchsorted(places, high, side="right") - 1
    cuts = choose_cuts(first, last, people, counts[places], least)
    if len(cuts) < 3:
        return None
    ends = np.append(places[cuts[:-1]], len(domain))
    ends[0] = 0
    runs = [DomainInterval(int(a), int(b) - 1, "") for a, b in pairwise(ends)]
    names = name_intervals(domain, runs, counts > 0)
    held = np.add.reduceat(counts[places], cuts[:-1])
    bounds = len(coded.released) == 2
    entries = CodedColumn.of(domain, names, bounds=bounds).entries
    return ColumnMarginal(domain.column, entries, tuple(map(int, held))), ends[:-1]


def _told_apart(domain: ValueDomain, released: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the positions of values between which a release can show a split point."""
    shown = released | domain.is_declared
    if domain.is_scale and domain.is_contiguous:
        shown[: len(domain) - domain.nullable] = True
    return np.flatnonzero(shown)
