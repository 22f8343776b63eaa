"""Define one policy's scores, and determine whether it beats another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.frontier import Frontier
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.family import AnyPolicy
from voile.tables.policies.policy import Policy
from voile.tables.scoring.group_measures import (
    FLAT,
    EvenSpread,
    RecordGroups,
    WeightedLoss,
    compute_values,
)
from voile.tables.scoring.losses import (
    LOSSES,
    CombinationGrouping,
    distribution_of_all,
    nats_of,
    uncertain_by_column,
)
from voile.tables.trees.policy import TreePolicy

Floats = NDArray[np.float64]
SAME = 1e-11


class PolicyScore(NamedTuple):
    """One policy's scores.

    The scores are risk and loss of the search, suppressed share, expected matches, divergence loss,
    entropy loss and NCP. Risk and loss use the measures of the search.
    """

    risk: float
    loss: float
    suppressed: float
    matches: float
    distribution: float
    resolution: float
    ncp: float

    @property
    def loses_nothing(self) -> bool:
        """Return whether the policy loses no information by any loss."""
        return max(self.loss, self.distribution, self.resolution) <= SAME

    def beats(self, other: PolicyScore) -> bool:
        """Return whether this policy has no more risk and no more loss, and less of one of them."""
        more = (self.risk - other.risk, self.loss - other.loss)
        return max(more) <= SAME and min(more) < -SAME

    @property
    def losses(self) -> dict[str, float]:
        """Return the three losses by name."""
        return {name: getattr(self, name) for name in LOSSES}


def score_marks(space: CountedSpace, marks: Mapping[str, Policy]) -> dict[str, PolicyScore]:
    """Score reference policies without suppression."""
    plain = space.without_constraints()
    return {name: score_policy(plain, mark) for name, mark in marks.items()}


def beating(frontier: Frontier, score: PolicyScore) -> NDArray[np.intp]:
    """Return the policies with no more risk and no more loss than a score, and less of one."""
    more = np.array([frontier.risk - score.risk, frontier.loss - score.loss])
    return np.flatnonzero((more <= SAME).all(axis=0) & (more < -SAME).any(axis=0))


def score_policy(space: CountedSpace, policy: AnyPolicy) -> PolicyScore:
    """Score one policy by its groups. Groups that break a constraint are suppressed.

    A search scores many policies with compiled kernels, with the same figures up to rounding
    errors. Cost: O(combinations x attributes), and a sort of the combinations.
    """
    counts, grouping = space.counts, space.grouping(policy)
    groups = RecordGroups.merge_counts(counts, grouping)
    dropped = counts.sample[~grouping.kept[grouping.group]]
    suppressed = float(dropped.sum()) / counts.subjects
    matches = float((groups.subjects / groups.group).sum())
    estimate = space.estimated_matches(policy) if space.estimates else None
    risk = _share(float(compute_values(space.risk, groups).sum()), space.source_risk)
    if estimate is not None and isinstance(policy, TreePolicy):
        risk = estimate / space.source_risk
    uncertain = uncertain_by_column(counts, grouping)
    loss = _score_loss(space, grouping, groups, uncertain)
    loss = min(max(loss + suppressed, 0.0), 1.0) if loss is not None else 0.0
    values = (risk, loss, suppressed, matches, *space.losses_of(grouping, uncertain).values())
    return PolicyScore(*(0.0 if abs(value) < SAME else value for value in values))


def _share(total: float, unit: float) -> float:
    return min(max(total / unit, 0.0), 1.0) if unit > 0 else 0.0


def _score_loss(
    space: CountedSpace, grouping: CombinationGrouping, groups: RecordGroups, uncertain: Floats
) -> float | None:
    """Return the released groups' share of the largest loss, or None if no loss is possible."""
    counts, each = space.counts, space.loss.each
    if isinstance(each, WeightedLoss):
        charged = np.array(each.charges) * uncertain
        return float(each.spread * nats_of(counts, grouping) + charged.sum()) / each.unit
    if isinstance(each, EvenSpread):
        most = distribution_of_all(counts)
        return nats_of(counts, grouping) / most if most else None
    source = compute_values(space.loss, RecordGroups.of(counts))
    everybody = CombinationGrouping.of_all(counts)
    whole = compute_values(space.loss, RecordGroups.merge_counts(counts, everybody)).sum()
    unit = whole - source.sum()
    if unit <= FLAT * np.abs(source).sum():
        return None
    released = grouping.kept[grouping.group[counts.sample > 0]]
    return float(compute_values(space.loss, groups).sum() - source[released].sum()) / float(unit)
