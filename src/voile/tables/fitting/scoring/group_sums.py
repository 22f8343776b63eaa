"""Compute a generalised group's terms in the sums of a search, by measures in NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.tables.fitting.kernels.cells import CellRules
from voile.tables.fitting.kernels.scorer import Sums
from voile.tables.scoring.disclosure import distinct_values, has_shares
from voile.tables.scoring.group_measures import GroupMeasure, RecordGroups, compute_values

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PLAIN_RISK, PLAIN_LOSS, KEPT_RISK, KEPT_LOSS, SUPPRESSED = range(5)
KEPT = slice(KEPT_RISK, SUPPRESSED + 1)
BASE = 0


@dataclass(frozen=True, eq=False)
class GroupTally:
    """The counts of some groups, by row. Merging groups sums all counts.

    The columns of `more` (m, columns) are, in order:

    - the loss of the source's combinations in the group (`BASE`),
    - the group's subjects by value of each outcome column,
    - by value of each quasi-identifier, if the loss needs them,
    - by value of each sensitive column, if the rules need them.
    """

    n: Floats
    people: Floats
    more: Floats


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Five sums of groups: plain risk and loss, kept risk and loss, suppressed subjects.

    `outcomes`, `columns` and `sensitive` are the positions of each column in a tally's `more`. A
    sensitive column also has all people's shares, and whether its values are ordered.
    """

    risk: GroupMeasure
    loss: GroupMeasure
    rules: CellRules
    outcomes: tuple[slice, ...]
    columns: tuple[slice, ...]
    sensitive: tuple[tuple[slice, Floats, bool], ...]

    def __call__(self, tally: GroupTally, width: Floats) -> Floats:
        """Return the terms of each group, (m, 5).

        Cost: that of the measures.
        """
        if not len(width):
            return np.zeros((0, 5))
        outcomes, columns = (
            tuple(tally.more[:, own] for own in counted)
            for counted in (self.outcomes, self.columns)
        )
        groups = RecordGroups(tally.n, tally.people, width, outcomes, columns)
        sums = np.zeros((len(width), 5))
        sums[:, PLAIN_RISK] = compute_values(self.risk, groups)
        sums[:, PLAIN_LOSS] = compute_values(self.loss, groups) - tally.more[:, BASE]
        sums[:, KEPT_RISK : KEPT_LOSS + 1] = sums[:, : PLAIN_LOSS + 1]
        if self.rules.active:
            gone = ~self._is_kept(groups, tally.more)
            sums[gone, KEPT_RISK] = 0.0
            sums[gone, KEPT_LOSS] = tally.n[gone] * self.rules.wholly_lost
            sums[gone, SUPPRESSED] = tally.n[gone]
        return sums

    def _is_kept(self, groups: RecordGroups, more: Floats) -> NDArray[np.bool_]:
        rules = self.rules
        kept = (groups.subjects >= rules.least_n) & (groups.group >= rules.least_g)
        for own, whole, ordered in self.sensitive:
            kept &= distinct_values(more[:, own]) >= rules.least_l
            kept &= has_shares(
                more[:, own], whole, nats=rules.least_entropy, t=rules.most_t, ordered=ordered
            )
        return kept


def sum_by_row(row: Ints, sums: Floats, rows: int) -> Sums:
    kept: Sums = np.stack([sum_by_place(row, part, rows) for part in sums[:, KEPT].T], axis=1)
    return kept


def sum_by_place(at: Ints, values: Floats, room: int) -> Floats:
    return np.bincount(at, values, room).astype(np.float64)


def sum_by_group(values: Floats, group: Ints) -> Floats:
    """Sum rows by group. The groups are those that occur, in order."""
    order = np.argsort(group, kind="stable")
    return np.add.reduceat(values[order], np.flatnonzero(np.diff(group[order], prepend=-1)), axis=0)


def scatter_rows(rows: Floats, at: Ints, room: int) -> Floats:
    """Put rows, in order, at the distinct positions of `at`. Other rows are zero."""
    made = np.zeros((room, rows.shape[1]))
    made[np.unique(at)] = rows
    return made
