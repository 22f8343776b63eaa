"""What a release promises of its sensitive columns, and of the counts that its marginals imply."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from voile.report.suppression import FEW
from voile.tables.scoring.catalogue import MEASURES
from voile.tables.scoring.disclosure import of_column

SLACK = 1e-8
LEAST_IMPLIED = "least_implied"
"""The least count of people that boxes and marginals imply together and boxes alone do not."""
MEASURED = {
    "l_diversity": ("distinct_l",),
    "entropy_l": ("entropy_l",),
    "t_closeness": ("t_closeness_ordered", "t_closeness"),
}
"""The measures of each constraint on a sensitive column; a release is held to the first it has.

The ordered distance is that of numbers alone, and never more than the other.
"""


def least_of(k: int) -> int:
    """Return the least count that marginals may imply, where groups hold k people."""
    return max(FEW, k)


def least_people(k: int, max_risk: float) -> int:
    """Return the least people of any group, by k and by the largest risk."""
    return max(k, math.ceil(1 / max_risk - 1e-9))


class Promise(NamedTuple):
    """A limit of one sensitive column of a release."""

    constraint: str
    column: str
    limit: float

    def value(self, figures: Mapping[str, float]) -> float | None:
        """Return what a release has; None where nothing was counted."""
        names = (of_column(measure, self.column) for measure in MEASURED[self.constraint])
        return next((figures[name] for name in names if name in figures), None)

    def is_kept(self, value: float) -> bool:
        """Whether a release of this value keeps it."""
        worst = MEASURES[MEASURED[self.constraint][0]].worst([value, self.limit])
        return math.isclose(worst, self.limit, rel_tol=SLACK, abs_tol=SLACK)


def promises_of(constraints: Mapping[str, float], columns: Sequence[str]) -> Iterator[Promise]:
    """Yield what is promised of each sensitive column; a limit of 1 promises nothing."""
    for name in MEASURED:
        limit = constraints.get(name, 1)
        if limit != 1:
            yield from (Promise(name, column, limit) for column in columns)
