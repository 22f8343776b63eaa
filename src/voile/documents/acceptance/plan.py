"""Plan the reading for a goal: a census of the likeliest tokens, then a random sample.

The census costs one token each, and removes as many identifiers as the scores expect. The sample of
the rest costs less if fewer identifiers are left in it. `plan` balances the two by the scores,
before any reading. The proof does not depend on the scores. Poor scores cost reading, not
confidence.
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
"""The share of the remaining error that each try reserves for later tries."""
REST, CENSUS, RECALL = 0.7, 0.1, 0.2
"""The division of a try's error if seeded identifiers measure the reader."""
SIZES = 15
PLANTED = (20, 40, 60, 90, 120, 180, 240, 360)
MARKING = 10
"""The cost of marking a seeded identifier, in addition to reading it, in words read."""
HOPE = 0.5
"""The least probability of a proof for which a plan is usable, if the forecast is true."""
SPREAD = 4.0
"""The shape of the negative binomial distribution of the identifiers left.

With this shape, a forecast may be wrong by a factor of two.
"""


@dataclass(frozen=True)
class AcceptanceGoal:
    """A limit of `at_most` identifiers left per `per` tokens, with a confidence.

    Raises
    ------
    RequestError : a number is outside its legal range.
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
        """The limit in the form in which it was requested: 8, not 8.0."""
        return int(self.at_most) if self.at_most == int(self.at_most) else self.at_most

    def count_allowed(self, tokens: int) -> int:
        """Return the number of identifiers that may be left among `tokens` tokens."""
        return floor(self.at_most * tokens / self.per + 1e-9)

    def levels(self, number: int, *, planted: bool = True) -> ErrorLevels:
        """Return the error levels of a try, numbered from 1.

        All tries together have the error 1 - confidence.
        """
        share = (1 - self.confidence) * (1 - NEXT) * NEXT ** (number - 1)
        if not planted:
            return ErrorLevels(share, 0.0, 0.0)
        return ErrorLevels(share * REST, share * CENSUS, share * RECALL)

    def __str__(self) -> str:
        return f"at most {self.at_most:g} per {self.per:,} tokens"


@dataclass(frozen=True)
class ErrorLevels:
    """The error levels of a try.

    They apply to the sample of the rest, the identifiers missed in the census, and the recall.
    """

    rest: float
    census: float
    recall: float


@dataclass(frozen=True)
class ReadingPlan:
    """The tokens to read.

    Parameters
    ----------
    census : the number of likeliest tokens, which are all read.
    planted : the number of seeded identifiers.
    turns : the turns of the sample if the forecast is true. See `SampleDesign`.
    expected : the expected number of tokens read in total.
    chance : the probability that this try is accepted.
    left : the forecast of identifiers in the rest.
    price : the figure by which plans are compared. It adds the expected tokens, the cost of marking
        the seeded ones, and the sample again if it proves nothing.

    All figures assume that as many identifiers are left as the forecast expects.
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
        """The total number of tokens read if the sample shows no identifier."""
        return self.census + self.planted + self.turns[0]

    @property
    def most(self) -> int:
        """The total number of tokens read when the try ends, with or without a proof."""
        return self.census + self.planted + self.turns[-1]

    def in_words(self) -> str:
        """Return a sentence with the numbers of tokens to read."""
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
    scores : (n,), the probability that each remaining token identifies a person, decreasing.
    recall : the expected recall of the reader.
    planted : the number of identifiers available for seeding. It is 0 if the recall is not
        measured.
    read : the tokens of the census that were already read.
    found : the identifiers found in them.
    least : the fewest tokens of the census, for scores that may be far too low.
    signs : the number of additional remaining tokens that identify no one.
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
        """The number of all remaining tokens."""
        return len(self.scores) + self.signs

    @property
    def shortest(self) -> int:
        """The tokens of the shortest census."""
        return min(max(self.read, self.least), len(self.scores))

    @property
    def corrected_scores(self) -> Floats:
        """The scores, multiplied by one factor from the tokens read, between a tenth and ten."""
        past = float(self.scores[: self.read].sum())
        factor = (self.found / self.recall + 1) / (past + 1)
        return np.minimum(self.scores * min(max(factor, 0.1), 10.0), 1.0)


def plan(forecast: ReadingForecast, goal: AcceptanceGoal, number: int = 1) -> ReadingPlan:
    """Return the census and sample with the lowest expected price.

    Raises
    ------
    RequestError : no amount of reading can prove the goal. The message contains the nearest
        provable goal.
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
    """Return the smallest goal, in two digits, that reading is expected to prove."""
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
    """Yield a usable plan for each number of seeded identifiers and each size of the census.

    Plans with a price above `most`, or above that of an earlier plan, are omitted.
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
    """Return sizes of a census from `least` to `most`, with growing steps."""
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
    """Return the plan with a census of `there` expected identifiers, and `left` in the rest.

    The result is None if it cannot prove the goal, or if its price must exceed `most`. No sample is
    shorter than its first turn.
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
    """Return the approximate share of the rest read at each turn; empty if no turn proves the goal.

    Suppose that K tokens identify a person, and each is shown with the probability q. Then a or
    fewer are shown with the probability I_{1-q}(K - a, a + 1). The design itself uses exact counts.
    """
    from scipy.special import betaincinv

    if allowed < 0:
        return np.zeros(0)
    found = np.arange(TURNS)
    shares: Floats = betaincinv(found + 1, allowed + 1, 1 - level * FALLING**found) / recall
    return shares[: int(np.argmax(shares > 1)) if (shares > 1).any() else TURNS]


@cache
def _list_forecast_factors() -> Floats:
    """Return eight equally likely factors between the forecast and the true rate, (8,)."""
    from scipy.stats import gamma

    factors: Floats = gamma.ppf((np.arange(8) + 0.5) / 8, SPREAD) / SPREAD
    return factors


def _expect_acceptance(shares: Floats, seen: float) -> tuple[float, float]:
    """Return the probability of acceptance and the mean share read, if about `seen` can be seen.

    The number is Poisson, with a mean that has a gamma distribution of shape `SPREAD`.
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
