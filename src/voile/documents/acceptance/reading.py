"""Run a reading: select the next tokens, and decide by the answers.

A try first reads the census, the likeliest remaining tokens. It reads half of the planned census,
then makes a new plan from the answers, until little of the census remains. Then the rest is fixed,
and a random sample of it is read in the turns of a `SampleDesign`. All tokens read before a try
count as its census. The same seed and answers give the same reading, so a reading can be repeated
from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from voile.documents.acceptance.design import TURNS, SampleDesign, design
from voile.documents.acceptance.limits import Floats, lower_recall, missed_limit
from voile.documents.acceptance.plan import (
    PLANTED,
    AcceptanceGoal,
    ReadingForecast,
    ReadingPlan,
    plan,
)

Numbers = NDArray[np.intp]
Purpose = Literal["census", "sample"]
FEW = 100
"""The fewest tokens of a census to read before voile makes a new plan."""
FURTHER = 0.1
"""The share by which a corrected plan must extend the census to continue it."""


@dataclass(frozen=True, eq=False)
class DueTokens:
    """The numbers of the next tokens to read, and the number of identifiers to seed among them."""

    purpose: Purpose
    tokens: Numbers
    planted: int


@dataclass(frozen=True)
class AcceptanceVerdict:
    """The result of a try.

    Parameters
    ----------
    accepted : whether the goal is proved.
    tokens : the tokens of the release that are not replaced.
    rest : the tokens from which the sample was drawn.
    allowed : the identifiers that the goal allows among all tokens.
    read : the tokens read in all tries together, including the seeded ones.
    census, census_found : the tokens read before the sample, and the identifiers found there.
    sample, sample_found : the tokens of the sample, and the identifiers found there.
    planted, seen : the seeded identifiers, and those that were found.
    recall, missed : the lower limit of the readers' recall, and the upper limit of the identifiers
        that they missed in the census.
    number : the number of the try, from 1.
    """

    accepted: bool
    tokens: int
    rest: int
    allowed: int
    read: int
    census: int
    census_found: int
    sample: int
    sample_found: int
    planted: int
    seen: int
    recall: float
    missed: int | None
    number: int

    @property
    def expected_left(self) -> float:
        """The estimated number of identifiers left: in the rest, and missed in the census."""
        recall = self.seen / self.planted if self.planted else 1.0
        there = self.sample_found * self.rest / max(self.sample, 1) / max(recall, 1e-9)
        return there - self.sample_found + self.census_found * (1 / max(recall, 1e-9) - 1)


class AcceptanceReading:
    """The reading of one release.

    Parameters
    ----------
    scores : (n,), the probability that each remaining token identifies a person.
    most_planted : the number of identifiers available for seeding. If they are too few, the
        readers' recall is assumed to be 1.
    recall : the expected recall of the readers. The plan depends on it, and the proof does not.
    least : the fewest tokens of the census, for scores that may be far too low.
    signs : the number of additional remaining tokens. They identify no one and are not read.
    """

    def __init__(
        self,
        scores: Floats,
        goal: AcceptanceGoal,
        *,
        seed: int | Sequence[int],
        most_planted: int = PLANTED[-1],
        recall: float = 0.97,
        least: int = 0,
        signs: int = 0,
    ) -> None:
        self.goal, self.scores, self._signs = goal, scores, signs
        self.most_planted, self._least = most_planted, least
        self.measured = most_planted >= PLANTED[0]
        self.recall = recall if self.measured else 1.0
        self.read = np.zeros(len(scores), dtype=np.bool_)
        self.found = np.zeros(len(scores), dtype=np.bool_)
        self.planted = self.seen = 0
        self.number = 1
        self._rng = np.random.default_rng(seed)
        self._order = np.argsort(-scores, kind="stable")
        self._begin()

    def _begin(self) -> None:
        self._plan: ReadingPlan | None = None
        self._design: SampleDesign | None = None
        self._sample: Numbers | None = None  # the rest, in the order of drawing
        self._sampled = self._before = self._known = 0

    def again(self) -> None:
        """Begin the next try, on the tokens that no try has read."""
        self.number += 1
        self._begin()

    def plan(self) -> ReadingPlan:
        """Return the current plan."""
        order = self._order[np.argsort(~self.read[self._order], kind="stable")]
        forecast = ReadingForecast(
            self.scores[order],
            self.recall,
            self.most_planted if self.measured else 0,
            int(self.read.sum()),
            int(self.found.sum()),
            self._least,
            self._signs,
        )
        return plan(forecast, self.goal, self.number)

    def due(self) -> DueTokens | AcceptanceVerdict:
        """Return the next tokens to read, or the verdict if the try has ended."""
        if self._sample is None:
            now = self.plan()
            done = int(self.read.sum())
            if self._plan is None or now.census > done * (1 + FURTHER):
                self._plan = now
                if now.census > done:
                    size = max(FEW, ceil((now.census - done) / 2))
                    return self._census(now, min(size, now.census - done))
            self._freeze()
            return self._turn(now.turns[0], max(self._plan.planted - self.planted, 0))
        if self._design is None:
            return self._verdict(False)
        found = self._found_in_sample()
        decided = self._design.decide(self._sampled, found)
        if decided is not None:
            return self._verdict(decided)
        return self._turn(self._design.turns[found], 0)

    def take(self, due: DueTokens, found: Numbers, seen: int = 0) -> None:
        """Record the identifiers found in and near the due tokens, and the seeded ones seen."""
        self.read[due.tokens] = self.found[found] = True
        self.planted += due.planted
        self.seen += seen
        if due.purpose == "sample":
            self._sampled += len(due.tokens)
            if self._design is None:
                self._design = self._design_sample()
        else:
            self.read[found] = True

    def _census(self, now: ReadingPlan, size: int) -> DueTokens:
        """Return half of the unread tokens in the plan. Their answers correct the scores."""
        unread = self._order[~self.read[self._order]][:size]
        new = max(now.planted - self.planted, 0)
        share = len(unread) / (now.census - int(self.read.sum()) + now.turns[0])
        return DueTokens("census", unread, round(new * min(share, 1.0)))

    def _freeze(self) -> None:
        self._sample = self._rng.permutation(np.flatnonzero(~self.read))
        self._before, self._known = int(self.read.sum()), int(self.found.sum())

    def _turn(self, until: int, planted: int) -> DueTokens:
        assert self._sample is not None
        until = min(until, len(self._sample))
        return DueTokens("sample", self._sample[self._sampled : until], planted)

    def _found_in_sample(self) -> int:
        assert self._sample is not None
        return int(self.found[self._sample[: self._sampled]].sum())

    @property
    def _limits(self) -> tuple[float, int | None]:
        """The limits of the recall (lower) and of the identifiers missed in the census (upper)."""
        if not self.measured:
            return 1.0, 0
        levels = self.goal.levels(self.number)
        recall = lower_recall(self.seen, self.planted, levels.recall)
        return recall, missed_limit(self._known, recall, levels.census)

    def _design_sample(self) -> SampleDesign | None:
        """Return the design of the sample after the census; None if no design proves the goal."""
        assert self._sample is not None
        recall, missed = self._limits
        if missed is None:
            return None
        allowed = self.goal.count_allowed(self._tokens) - missed
        level = self.goal.levels(self.number, planted=self.measured).rest
        return design(len(self._sample), allowed, recall, level, TURNS)

    @property
    def _tokens(self) -> int:
        """The number of tokens in the release without the identifiers found in the census."""
        return len(self.scores) + self._signs - self._known

    def _verdict(self, accepted: bool) -> AcceptanceVerdict:
        recall, missed = self._limits
        found = self._found_in_sample()
        return AcceptanceVerdict(
            accepted=accepted,
            tokens=len(self.scores) + self._signs - int(self.found.sum()),
            rest=len(self.scores) - self._before,
            allowed=self.goal.count_allowed(self._tokens),
            read=int(self.read.sum()) + self.planted,
            census=self._before,
            census_found=self._known,
            sample=self._sampled,
            sample_found=found,
            planted=self.planted,
            seen=self.seen,
            recall=recall,
            missed=missed,
            number=self.number,
        )
