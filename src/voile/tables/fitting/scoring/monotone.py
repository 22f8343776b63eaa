"""Check a measure's declared monotonicity on random chains before a search (Section 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.measures import Monotone
from voile.tables.fitting.kernels.cells import CellRules, LatticeCells
from voile.tables.fitting.scoring.group_scorer import MeasuredScorer
from voile.tables.fitting.scoring.group_sums import PLAIN_LOSS, PLAIN_RISK
from voile.tables.people.counts import CombinationCounts, Constraints
from voile.tables.scoring.group_measures import (
    GroupMeasure,
    RecordGroups,
    compute_values,
    information,
    matches,
    refuse_undeclared,
)

CHAINS, POLICIES = 4, 8
LONGEST = 2_000
SLACK = 1e-9


def check(
    measure: GroupMeasure,
    counts: CombinationCounts,
    *,
    chains: int = CHAINS,
    random_state: int | np.random.Generator = 0,
    columns: Sequence[str] = (),
) -> None:
    """Raise an error if a measure breaks its declared monotonicity on random merges.

    The check walks random maximal chains. Every other chain merges one attribute after another. It
    also checks all merges of some random policies. A measure that passes may still be wrong
    elsewhere: the check finds errors and proves nothing.

    Raises
    ------
    RequestError : a merge changes the measure in the wrong direction, or a group's number depends
        on other groups.
    """
    declared: Monotone = "falls" if measure.generalising == "falls" else "rises"
    refuse_undeclared(measure, declared)
    rng = np.random.default_rng(random_state)
    pair = (measure, information()) if declared == "falls" else (matches(), measure)
    cells = LatticeCells.of(counts)
    groups = RecordGroups.of(counts)
    _refuse_leaning(measure, groups, rng)
    looker = _MergeLooker(
        measure,
        MeasuredScorer.of(cells, groups, CellRules.of(Constraints(), counts), *pair),
        float(np.abs(compute_values(measure, groups)).sum()),
        columns,
    )
    for number in range(chains):
        looker.walk(rng, by_attribute=number % 2 == 1)
    for policy in rng.random((POLICIES, cells.n_bits)) < rng.random((POLICIES, 1)):
        looker.look_around(policy)


class _MergeLooker:
    """A checker of merges that raises an error at the first one that breaks the declaration."""

    def __init__(
        self,
        measure: GroupMeasure,
        scorer: MeasuredScorer,
        scale: float,
        columns: Sequence[str],
    ) -> None:
        self._measure, self._scorer, self._columns = measure, scorer, columns
        self._falls = measure.generalising == "falls"
        self._of = PLAIN_RISK if self._falls else PLAIN_LOSS
        self._scale = scale

    def walk(self, rng: np.random.Generator, *, by_attribute: bool) -> None:
        cuts = self._scorer.sizes - 1
        order = rng.permutation(int(cuts.sum()))
        if by_attribute:
            turn = rng.permutation(len(cuts))[np.repeat(np.arange(len(cuts)), cuts)]
            order = order[np.argsort(turn[order], kind="stable")]
        start = np.ones(len(order), dtype=np.bool_)
        start[order[:-LONGEST]] = False
        at = self._scorer.at(start)
        for step, bit in enumerate(order[-LONGEST:]):
            before = at.totals[self._of]
            at.step(int(bit))
            self._judge(at.totals[self._of] - before, before, int(bit), step)

    def look_around(self, policy: NDArray[np.bool_]) -> None:
        at = self._scorer.at(policy)
        change = at.changes()[:, self._of]
        for bit in np.flatnonzero(policy):
            merged = len(policy) - int(policy.sum())
            self._judge(change[bit], at.totals[self._of], int(bit), merged)

    def _judge(self, change: float, before: float, bit: int, merged: int) -> None:
        wrong = change if self._falls else -change
        if wrong <= SLACK * (self._scale + abs(before)):
            return
        cuts = self._scorer.sizes - 1
        d = int(np.searchsorted(np.cumsum(cuts), bit, side="right"))
        column = self._columns[d] if self._columns else f"attribute {d + 1}"
        did = "rose" if self._falls else "fell"
        raise RequestError(
            f"{self._measure.name} declares that it {self._measure.generalising} as policies "
            f"become more general, and {did} by {wrong:.4g} when cut {bit - cuts[:d].sum() + 1} "
            f"of {column} was merged after {merged} other cuts"
        )


def _refuse_leaning(measure: GroupMeasure, groups: RecordGroups, rng: np.random.Generator) -> None:
    """Raise an error if a measure's number for a group depends on the other groups."""
    some = rng.permutation(len(groups))[: max(1, len(groups) // 2)]
    part = RecordGroups(
        groups.subjects[some],
        groups.people[some],
        groups.width[some],
        tuple(counted[some] for counted in groups.outcomes),
    )
    if not np.allclose(
        compute_values(measure, groups)[some], compute_values(measure, part), rtol=1e-9, atol=0
    ):
        raise RequestError(
            f"the value of {measure.name} for a group depends on the other groups",
            instead="count each group alone: sums over groups are taken elsewhere",
        )
