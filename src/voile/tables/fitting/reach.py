"""Reject constraints that no policy can meet, since one group of all people breaks them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from voile.core.errors import InfeasibleError
from voile.tables.fitting.space import PolicySpace
from voile.tables.people.counts import CombinationCounts, Constraints
from voile.tables.scoring.disclosure import distinct_l, entropy_l

SLACK = 1e-9


def refuse_kept_cuts(space: PolicySpace) -> None:
    """Raise `InfeasibleError` if the required split points leave groups that are too small."""
    required = space.constraints.required
    if required is None or not required.any():
        return
    scores = space.evaluator.scores(required[None, :])
    if not space.evaluator.feasible(required[None, :], scores)[0]:
        raise InfeasibleError(
            f"the most general policy that keeps the required cuts suppresses "
            f"{scores.suppressed[0]:.1%} of subjects, and {space.constraints.suppress:.1%} may be",
            instead="require fewer cuts, ask for a smaller k, or raise suppress",
        )


def refuse_unreachable(
    counts: CombinationCounts, rules: Constraints, sensitive: Sequence[str]
) -> None:
    """Raise `InfeasibleError` if all people together break a constraint.

    A group never has more subjects or values than all people together. The least even of several
    groups is at most as even as all of them together.
    """
    subjects = counts.subjects
    if rules.k > subjects + SLACK:
        raise _unreachable(f"k is {rules.k:,}, and there are {subjects:,.6g} subjects", subjects)
    for column, (own, _) in zip(sensitive, counts.by_column(counts.sensitive), strict=True):
        whole = own.sum(axis=0, keepdims=True)
        values, even = distinct_l(whole), entropy_l(whole)
        if rules.l_diversity > values:
            what = f"l-diversity is {rules.l_diversity}, and column {column} has {values:g} "
            raise _unreachable(f"{what}value{'s' * (values > 1)}", values)
        if rules.entropy_l > even * (1 + SLACK):
            what = f"entropy-l is {rules.entropy_l:g}, and the values of column {column} are as "
            least = math.floor(even * 100) / 100
            raise _unreachable(f"{what}even as {least:g} equally frequent ones", least)


def _unreachable(what: str, most: float) -> InfeasibleError:
    return InfeasibleError(what, instead=f"ask for {most:,.6g} at most")
