"""Forecast the reading for assumed rates, before anything is fitted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.core.errors import RequestError
from voile.documents.acceptance.limits import Floats
from voile.documents.acceptance.plan import AcceptanceGoal, ReadingForecast, ReadingPlan, plan

TOP, HELD = 0.05, 0.76
"""In news articles, the likeliest twentieth of the tokens that classifiers left contained this
share of the remaining identifiers. A poorer ranking requires more reading.
"""
TIMES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""The default rates, as multiples of the goal."""


@dataclass(frozen=True)
class AssumedPlan:
    """The plan for an assumed number of identifiers left per 1,000 tokens.

    The plan is None if no reading proves the goal.
    """

    left: float
    plan: ReadingPlan | None


def plan_for(
    words: int, signs: int, goal: AcceptanceGoal, lefts: tuple[float, ...], recall: float
) -> list[AssumedPlan]:
    """Return the plan for each assumed rate, in identifiers left per 1,000 tokens.

    Tokens are words and signs. Seeded identifiers measure the readers.

    Raises
    ------
    RequestError : no amount of reading proves the goal at any of the rates.
    """
    found, refused = [], None
    for left in lefts:
        try:
            scores = assumed_scores(words, left / 1000 * (words + signs) / words)
            made = plan(ReadingForecast(scores, recall, signs=signs), goal)
        except RequestError as error:
            made, refused = None, refused or error
        found.append(AssumedPlan(left, made))
    if refused is not None and all(one.plan is None for one in found):
        raise refused
    return found


def assumed_scores(tokens: int, rate: float) -> Floats:
    """Return scores with the mean `rate`, of which the likeliest tokens have the share `HELD`.

    >>> assumed_scores(20, .1).round(3)[[0, 1, -1]].tolist()
    [1.0, 0.025, 0.025]
    """
    top = np.arange(tokens) < TOP * tokens
    scores = np.where(top, HELD / TOP, (1 - HELD) / (1 - TOP)) * rate
    return np.minimum(scores, 1.0)
