"""What one policy scores, and when it beats another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.frontier import Frontier
from voile.tables.policies.family import AnyPolicy
from voile.tables.policies.policy import Policy
from voile.tables.policies.space import PolicySpace
from voile.tables.scoring.losses import LOSSES
from voile.tables.trees.policy import TreePolicy
from voile.tables.verbs.forests import score_tree

SAME = 1e-11


class PolicyScore(NamedTuple):
    """What one policy scores: risk and loss as searched for, share suppressed, expected matches.

    And what it loses of distribution and of resolution, and its NCP, whatever was searched for.
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
        """Whether the policy loses nothing, by whatever loss."""
        return max(self.loss, self.distribution, self.resolution) <= SAME

    def beats(self, other: PolicyScore) -> bool:
        """Whether this policy has no more risk and no more loss, and less of one of them."""
        more = (self.risk - other.risk, self.loss - other.loss)
        return max(more) <= SAME and min(more) < -SAME

    @property
    def losses(self) -> dict[str, float]:
        """The three losses by name."""
        return {name: getattr(self, name) for name in LOSSES}


def score_marks(space: PolicySpace, marks: Mapping[str, Policy]) -> dict[str, PolicyScore]:
    """Score named policies as if nothing were suppressed of them."""
    plain = space.without_constraints()
    return {name: score_policy(plain, mark) for name, mark in marks.items()}


def beating(frontier: Frontier, score: PolicyScore) -> NDArray[np.intp]:
    """Return the policies of no more risk and no more loss than a score, and less of one."""
    more = np.array([frontier.risk - score.risk, frontier.loss - score.loss])
    return np.flatnonzero((more <= SAME).all(axis=0) & (more < -SAME).any(axis=0))


def score_policy(space: PolicySpace, policy: AnyPolicy) -> PolicyScore:
    """Score one policy as the space scores those that it searches."""
    if isinstance(policy, TreePolicy):
        return _score_tree(space, policy)
    rows = policy.bits[None]
    scores, figures = space.evaluator.scores(rows), space.evaluator.figures(rows)
    columns = (scores.risk, scores.loss, scores.suppressed, figures.expected_matches)
    lost = (getattr(figures, name) for name in LOSSES)
    values = (float(value) for (value,) in (*columns, *lost))
    return PolicyScore(*(0.0 if abs(value) < SAME else value for value in values))


def _score_tree(space: PolicySpace, policy: TreePolicy) -> PolicyScore:
    """Count the boxes of a tree, none of which is suppressed."""
    _, classes, _ = space.groups(policy)
    matches = float((classes.sample / classes.people).sum())
    return PolicyScore(*score_tree(space, policy), 0.0, matches, **space.losses(policy))
