"""Measure risks and losses that are sums over groups (Section 6) for the nodes of a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.tables.fitting.trees.estimating import CountedPeople
from voile.tables.people.counts import CombinationCounts
from voile.tables.scoring.group_measures import GroupMeasure, RecordGroups, compute_values
from voile.tables.trees.tree import BoxTree

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BoxMeasures(BriefRepr):
    """The measures for pruning trees, if they are not the usual risk or the usual loss.

    Parameters
    ----------
    counts : the counts of the combinations.
    risk, loss : the measures. None is the usual one.
    units : the sums that are a risk and a loss of 1. 0 if nothing can be lost.
    counted : people by some columns, if the risk is estimated from these.
    """

    counts: CombinationCounts
    risk: GroupMeasure | None
    loss: GroupMeasure | None
    units: tuple[float, float]
    counted: CountedPeople | None = None

    def of_boxes(self, tree: BoxTree) -> tuple[Floats | None, Floats | None]:
        """Return each node's share of risk and of loss, (boxes,), or None for a usual measure."""
        groups = self._groups(tree)
        risk = loss = None
        if self.risk is not None:
            risk = compute_values(self.risk, groups)
            if self.counted is not None:
                risk = self.counted.matches(groups.subjects, tree)
        if self.loss is not None:
            source = RecordGroups.of(self.counts)
            seen = self.counts.codes[self.counts.sample > 0]
            kept = tree.add_up(seen, compute_values(self.loss, source))
            loss = compute_values(self.loss, groups) - kept
        return _share(risk, self.units[0]), _share(loss, self.units[1])

    def _groups(self, tree: BoxTree) -> RecordGroups:
        counts = self.counts

        def add_up(weight: Floats) -> Floats:
            return tree.add_up(counts.codes, np.ascontiguousarray(weight))

        return RecordGroups(
            add_up(counts.sample),
            add_up(counts.population),
            tree.widths.prod(axis=1),
            tuple(np.column_stack([add_up(one) for one in by.T]) for by in counts.outcomes),
        )


def _share(sums: Floats | None, unit: float) -> Floats | None:
    if sums is None:
        return None
    return sums / unit if unit > 0 else np.zeros_like(sums)
