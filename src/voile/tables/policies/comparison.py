"""Find policies that beat another policy, and describe the differences in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.frontier import Frontier
from voile.report.wording import join_names
from voile.tables.policies.policy import Policy


def most_different(
    frontier: Frontier, beating: NDArray[np.intp], *, most: int = 3
) -> NDArray[np.intp]:
    """Return up to `most` of the given policies that differ from each other as much as possible.

    The first has the least loss. Each next policy has the largest distance, in split points, from
    those chosen (Gonzalez 1985). The distance must exceed 1 in 20 of the first policy's split
    points.
    """
    if not len(beating):
        return beating
    rows = np.asarray(frontier.policies)[beating]
    picked = [int(np.argmin(frontier.loss[beating]))]
    distance = (rows != rows[picked[0]]).sum(axis=1)
    while len(picked) < most and distance.max() > rows[picked[0]].sum() / 20:
        picked.append(int(np.argmax(distance)))
        distance = np.minimum(distance, (rows != rows[picked[-1]]).sum(axis=1))
    return beating[picked]


def in_words(
    policy: Policy,
    scores: tuple[float, float],
    other: Policy,
    other_scores: tuple[float, float],
    name: str,
) -> str:
    """Describe where a policy is coarser and where it is finer than a named policy.

    Scores are (risk, loss).
    """
    finer: list[str] = []
    coarser: list[str] = []
    moved: list[str] = []
    same: list[str] = []
    for column, intervals in policy.intervals.items():
        own, its = len(intervals), len(other.intervals[column])
        if policy.intervals[column] == other.intervals[column]:
            same.append(column)
        elif own == its:
            moved.append(column)
        else:
            said = f"{own} group{'s' * (own != 1)} where {name} has {its}"
            if own > its:
                finer.append(f"{column} in {said}")
            else:
                coarser.append(f"{column} into {said}")
    parts = [f"it keeps {join_names(finer)}"] if finer else []
    parts += [f"it merges {join_names(coarser)}"] if coarser else []
    parts += [f"it cuts {join_names(moved)} elsewhere"] if moved else []
    parts += [f"{join_names(same)} stays as in {name}"] if same else []
    risk, loss = (_change(*pair) for pair in zip(scores, other_scores, strict=True))
    return f"Risk {risk}, loss {loss}: {'; '.join(parts)}."


def _change(own: float, its: float) -> str:
    share = own / its - 1 if its else 0.0
    if abs(share) < 0.005:
        return "equal"
    return f"{abs(share):.0%} {'lower' if share < 0 else 'higher'}"
