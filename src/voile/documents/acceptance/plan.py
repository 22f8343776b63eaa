"""How much must be read for a goal: a census of the likeliest tokens, then a random sample.

The census costs one token each and removes as many identifiers as the scores expect. The sample of
the rest costs less if fewer identifiers are left in it. `plan` weighs the two by the scores, before
anything is read. The proof rests on none of the scores: a poor score costs reading, not confidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from math import ceil, floor
from typing import Any

import numpy as np

from voile.core.errors import RequestError
from voile.documents.acceptance.design import FALLING, NOMINAL, TURNS
from voile.documents.acceptance.limits import Floats, lower_recall, missed_limit

NEXT = 0.1
"""The share of the remaining error that each try leaves to those after it."""
REST, CENSUS, RECALL = 0.7, 0.1, 0.2
"""How a try's error is dealt out where the reader is measured by planted identifiers."""
SIZES = 15
PLANTED = (20, 40, 60, 90, 120, 180, 240, 360)
MARKING = 10
"""The cost of marking a planted identifier, on top of reading it, in words that are read."""
HOPE = 0.5
"""A goal that is proved more seldom, if the forecast comes true, counts as one that is not."""
SPREAD = 4.0
"""The shape of the negative binomial of the identifiers left: a forecast may be half or double."""


@dataclass(frozen=True)
class AcceptanceGoal:
    """At most `at_most` identifiers left per `per` tokens, with this confidence.

    Raises
    ------
    RequestError : a number outside of its legal interval.
    """

    at_most: float
    per: int = 1000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not 0 < self.at_most < self.per:
            raise RequestError(
                "a goal of no identifier left at all cannot be proved by a sample, nor one of all",
                instead="give --at-most above 0 and below --per",
            )
        if not 0.5 <= self.confidence < 1:
            raise RequestError("a confidence lies from .5 to below 1", instead="give .95")

    @property
    def shown_limit(self) -> float:
        """The identifiers that may be left, as they were asked for: 8, not 8.0."""
        return int(self.at_most) if self.at_most == int(self.at_most) else self.at_most

    def count_allowed(self, tokens: int) -> int:
        """Return how many identifiers may be left among so many tokens."""
        return floor(self.at_most * tokens / self.per + 1e-9)

    def levels(self, number: int, *, planted: bool = True) -> ErrorLevels:
        """Deal out the error of the try of this number, from 1; all tries have 1 - confidence."""
        share = (1 - self.confidence) * (1 - NEXT) * NEXT ** (number - 1)
        if not planted:
            return ErrorLevels(share, 0.0, 0.0)
        return ErrorLevels(share * REST, share * CENSUS, share * RECALL)

    def __str__(self) -> str:
        return f"at most {self.at_most:g} per {self.per:,} tokens"


@dataclass(frozen=True)
class ErrorLevels:
    """The error of a try: of the rest's sample, of the census's misses and of the recall."""

    rest: float
    census: float
    recall: float


@dataclass(frozen=True)
class ReadingPlan:
    """The tokens to read.

    Parameters
    ----------
    census : tokens that are all read, the likeliest to identify. planted : identifiers planted.
    turns : of the sample of the rest, if the forecast comes true. See `Design`.
    expected : tokens read in all, on average. chance : that this try is accepted.
    left : identifiers in the rest, by the forecast.
    price : the figure by which plans are compared. It adds the expected tokens, the cost of marking
        the planted ones, and the sample again if it proves nothing.

    All figures are true if as many identifiers are left as the forecast expects.
    """

    census: int
    planted: int
    turns: tuple[int, ...]
    expected: float
    chance: float
    left: float
    price: float

    @property
    def least(self) -> int:
        """Tokens read in all where the sample shows none."""
        return self.census + self.planted + self.turns[0]

    @property
    def most(self) -> int:
        """Tokens read in all when the try ends, proved or not."""
        return self.census + self.planted + self.turns[-1]

    def in_words(self) -> str:
        """Say how many tokens are read."""
        return (
            f"{round(self.expected):,} tokens expected, {self.least:,} at least, {self.most:,} at "
            f"most; {min(self.chance, 0.99):.0%} of such readings prove it"
        )

    def as_data(self) -> dict[str, Any]:
        return {**asdict(self), "least": self.least, "most": self.most}


@dataclass(frozen=True)
class ReadingForecast:
    """The facts before the reading.

    Parameters
    ----------
    scores : (n,) how likely each token that is left identifies somebody, falling.
    recall : expected of the reader. planted : how many identifiers can be planted to measure it. It
        is 0 if the recall is not measured.
    read : tokens of the census that were read already. found : identifiers found in them.
    least : the fewest tokens of the census, for scores that may be far too low.
    signs : further tokens that are left and identify nobody.
    """

    scores: Floats
    recall: float = 0.97
    planted: int = PLANTED[-1]
    read: int = 0
    found: int = 0
    least: int = 0
    signs: int = 0

    @property
    def tokens(self) -> int:
        """All that are left."""
        return len(self.scores) + self.signs

    @property
    def shortest(self) -> int:
        """Tokens of the shortest census."""
        return min(max(self.read, self.least), len(self.scores))

    @property
    def corrected_scores(self) -> Floats:
        """The scores, corrected by the tokens read: by one factor, from a tenth to ten."""
        past = float(self.scores[: self.read].sum())
        factor = (self.found / self.recall + 1) / (past + 1)
        return np.minimum(self.scores * min(max(factor, 0.1), 10.0), 1.0)


def plan(forecast: ReadingForecast, goal: AcceptanceGoal, number: int = 1) -> ReadingPlan:
    """Return the census and sample that are expected to cost least reading.

    Raises
    ------
    RequestError : no amount of reading can prove the goal; the nearest that can is named.
    """
    coarse = _sizes(forecast.shortest, len(forecast.scores))
    best = _best(_list_plans(forecast, goal, number, coarse))
    if best is not None:
        place = coarse.index(best.census)
        finer = _sizes(*(coarse[max(place - 1, 0)], coarse[min(place + 1, len(coarse) - 1)]))
        tried = _list_plans(forecast, goal, number, finer, (best.planted,), most=best.price)
        best = _best([best, *tried])
    if best is None:
        nearest = _nearest(forecast, goal, number)
        raise RequestError(
            f"no amount of reading by readers who find {forecast.recall:.0%} can prove {goal}"
            f" in {forecast.tokens:,} tokens",
            instead=f"ask for at most {nearest:g} per {goal.per:,}, release more text at once, or"
            " read it twice",
        )
    return best


def _best(tried: Iterable[ReadingPlan]) -> ReadingPlan | None:
    return min(tried, key=lambda one: one.price, default=None)


def _nearest(forecast: ReadingForecast, goal: AcceptanceGoal, number: int) -> float:
    """Return the smallest goal, in two digits, that some amount of reading is expected to prove."""
    low, high = goal.at_most, float(goal.per)
    for _ in range(10):
        middle = (low * high) ** 0.5
        sizes = _sizes(forecast.shortest, len(forecast.scores))
        found = any(
            True for _ in _list_plans(forecast, replace(goal, at_most=middle), number, sizes)
        )
        low, high = (low, middle) if found else (middle, high)
    digits = 10.0 ** (floor(np.log10(high)) - 1)
    return float(ceil(high / digits) * digits)


def _list_plans(
    forecast: ReadingForecast,
    goal: AcceptanceGoal,
    number: int,
    sizes: Sequence[int],
    planted: Sequence[int] = PLANTED,
    *,
    most: float = np.inf,
) -> Iterator[ReadingPlan]:
    """Yield a plan for each number of planted identifiers and size of census that can do.

    Those are left out whose price must be above `most`, or that of one before.
    """
    expected = np.concatenate([[0.0], np.cumsum(forecast.corrected_scores)])
    for number_planted in [one for one in planted if one <= forecast.planted] or [0]:
        for census in sizes:
            there = float(expected[census])
            left = float(expected[-1]) - there
            one = _cost(forecast, goal, number, number_planted, census, there, left, most)
            if one is not None and one.chance >= HOPE:
                most = min(most, one.price)
                yield one


def _sizes(least: int, most: int) -> list[int]:
    """Return sizes of a census between two, the steps growing from the first."""
    steps = np.unique(np.geomspace(1, max(most - least, 1), SIZES).astype(int))
    return [least + int(one) - 1 for one in steps]


def _cost(
    forecast: ReadingForecast,
    goal: AcceptanceGoal,
    number: int,
    planted: int,
    census: int,
    there: float,
    left: float,
    most: float,
) -> ReadingPlan | None:
    """Weigh a census where `there` identifiers are expected, and `left` in the rest.

    None where it cannot do, or its price must be above `most`: no sample is shorter than its first
    turn.
    """
    certain = census + planted + MARKING * planted
    if certain > most:
        return None
    levels = goal.levels(number, planted=bool(forecast.planted))
    recall, missed = 1.0, 0
    if forecast.planted:
        recall = lower_recall(round(forecast.recall * planted), planted, levels.recall)
        found = missed_limit(round(there * forecast.recall), recall, levels.census)
        if found is None:
            return None
        missed = found
    allowed = goal.count_allowed(forecast.tokens) - missed
    shares = _shares(allowed, recall, levels.rest * NOMINAL)
    rest = len(forecast.scores) - census
    if not len(shares) or certain + shares[0] * rest > most:
        return None
    chance, share = _expect_acceptance(shares, left * forecast.recall)
    expected = census + planted + share * rest
    price = expected + MARKING * planted + (1 - chance) * shares[-1] * rest
    turns = tuple(ceil(one * rest) for one in shares)
    return ReadingPlan(census, planted, turns, expected, chance, left, price)


def _shares(allowed: int, recall: float, level: float) -> Floats:
    """Return about which share of the rest is read at each turn; empty if no turn can prove it.

    Let K tokens identify, and let each be shown with the chance q. Then a or fewer are shown with
    the chance I_{1-q}(K - a, a + 1). The design itself counts exactly.
    """
    from scipy.special import betaincinv

    if allowed < 0:
        return np.zeros(0)
    found = np.arange(TURNS)
    shares: Floats = betaincinv(found + 1, allowed + 1, 1 - level * FALLING**found) / recall
    return shares[: int(np.argmax(shares > 1)) if (shares > 1).any() else TURNS]


@cache
def _list_forecast_factors() -> Floats:
    """Return eight equally likely factors by which a forecast may be wrong."""
    from scipy.stats import gamma

    factors: Floats = gamma.ppf((np.arange(8) + 0.5) / 8, SPREAD) / SPREAD
    return factors


def _expect_acceptance(shares: Floats, seen: float) -> tuple[float, float]:
    """Return the chance of acceptance and the mean share read, where about so many can be seen.

    They are Poisson, with a mean that itself is gamma of shape `SPREAD`.
    """
    from scipy.special import gammaln, xlogy

    means = _list_forecast_factors() * seen  # (8,)
    mean_more = means[:, None, None] * np.diff(shares, prepend=0.0)[:, None]
    count = np.arange(len(shares))
    more = np.zeros((*mean_more.shape[:2], len(shares) + 1))  # (8, turn, x), the last for none
    more[:, :, :-1] = np.exp(xlogy(count, mean_more) - mean_more - gammaln(count + 1))
    steps = more[:, :, np.maximum(count - count[:, None], -1)]  # (8, turn, x before, x after)
    chances = np.zeros((len(means), 1, len(shares)))
    chances[:, :, 0] = 1.0
    accepted, mean = np.zeros(len(means)), np.zeros(len(means))
    for turn, share in enumerate(shares):
        chances = chances @ steps[:, turn]
        accepted += chances[:, 0, turn]
        mean += chances[:, 0, turn] * share
        chances[:, :, : turn + 1] = 0.0
    return float(accepted.mean()), float(mean.mean() + (1 - accepted.mean()) * shares[-1])
