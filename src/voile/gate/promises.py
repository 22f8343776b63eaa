"""The limits that a kit sets for a released table, and their checks against the gate's findings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from voile.core.errors import InfeasibleError
from voile.gate.finding import GateFinding

MEASURED = {
    "l_diversity": ("distinct_l",),
    "entropy_l": ("entropy_l",),
    "t_closeness": ("t_closeness_ordered", "t_closeness"),
}
"""The measures for each limit of a sensitive column. The first available measure is checked.

Only columns of numbers have the ordered distance, which is never larger than the other distance.
"""
DISTANCES = ("t_closeness",)
"""The limits that a release must not exceed. All other limits are minimums."""
BREAKS = {
    "l_diversity": "has fewer values of",
    "entropy_l": "has fewer effective values of",
    "t_closeness": "is farther from everybody's values of",
}
SLACK = 1e-8


@dataclass(frozen=True)
class ColumnPromise:
    """A limit of one sensitive column of a release."""

    constraint: str
    column: str
    limit: float

    def value(self, figures: Mapping[str, float]) -> float | None:
        """Return the release's figure for this limit, or None if the release has no such figure."""
        names = (f"{measure}({self.column})" for measure in MEASURED[self.constraint])
        return next((figures[name] for name in names if name in figures), None)

    def is_kept(self, value: float) -> bool:
        """Return whether a release with this value satisfies the limit."""
        over = value - self.limit if self.constraint in DISTANCES else self.limit - value
        return over <= SLACK * max(1.0, abs(self.limit))

    def check(self, figures: Mapping[str, float], *, instead: str) -> None:
        """Raise InfeasibleError if a release breaks the limit, or has no figure to check."""
        value = self.value(figures)
        if value is None:
            raise InfeasibleError(
                f"the gate cannot measure {self.column} of this source as the kit requires",
                instead="give the column the type that the fit had",
            )
        if not self.is_kept(value):
            raise InfeasibleError(
                f"a group of the release {BREAKS[self.constraint]} {self.column} than the "
                f"{self.limit:g} that the kit requires: {value:.4g}",
                instead=instead,
            )


def promises_of(
    constraints: Mapping[str, float], columns: Sequence[str]
) -> Iterator[ColumnPromise]:
    """Yield the limits of each sensitive column. Limits of 1 have no effect and are omitted."""
    for name in MEASURED:
        limit = constraints.get(name, 1)
        if limit != 1:
            yield from (ColumnPromise(name, column, limit) for column in columns)


def promised_people(k: int, max_risk: float) -> int:
    """Return the number of people who must share a record: the larger of k and 1 / `max_risk`.

    Only released people count, because a register of the population has no records of several rows.

    >>> promised_people(2, 0.2)
    5
    """
    return max(k, math.ceil(1 / max_risk - 1e-9))


@dataclass(frozen=True)
class TableLimits:
    """The limits of a kit for each group.

    k : the smallest allowed number of people in a group.
    max_risk : the largest allowed risk of a person.
    constraints : the limits of sensitive columns, by name.
    columns : the sensitive columns.
    """

    k: int
    max_risk: float
    constraints: Mapping[str, float]
    columns: Sequence[str]

    def check(self, figures: Mapping[str, float], *, instead: str) -> None:
        """Raise an error if a release breaks a limit.

        Data that the fit did not see may break a limit.

        Raises
        ------
        InfeasibleError : a figure that the gate counted is beyond its limit.
        """
        if figures["max_risk"] > self.max_risk + 1e-9:
            raise InfeasibleError(
                f"a record of the release has a risk of {figures['max_risk']:.4g}, and the kit "
                f"allows {self.max_risk:g} at most",
                instead=instead,
            )
        if figures["k"] < self.k:
            raise InfeasibleError(
                f"a group of the release has fewer people than the {self.k} that the kit requires: "
                f"{figures['k']:.0f}",
                instead=instead,
            )
        if math.isfinite(figures["k"]):  # otherwise nothing is released
            for promise in promises_of(self.constraints, self.columns):
                promise.check(figures, instead=instead)


class JoinedRowsError(InfeasibleError):
    """People are unique by their joined rows. Fit per person, or release without pseudonyms."""


def check_records(findings: Iterable[GateFinding], k: int, *, instead: str) -> None:
    """Raise an error if a release singles people out by all their rows.

    Raises
    ------
    JoinedRowsError : some person has records that fewer than `k` people share.
    """
    below = next((one for one in findings if one.name == "people_below_k"), None)
    if below is None or not below.value:
        return
    people = "1 person has" if below.value == 1 else f"{below.value:,.0f} people have"
    raise JoinedRowsError(
        f"{people} records that fewer than {k} people share, for an adversary who {below.knows}",
        instead=instead,
    )
