"""The attack on dates: an adversary who knows some true dates of a person.

The adversary has the release and knows that the person is in it. The adversary also knows the first
and last day of the extract, and the distribution of visits over weekdays and months. Each released
person has an unknown offset. An offset is possible if it moves all of the person's dates back into
the extract, to weekdays with visits. A person is a candidate if a possible offset moves all known
dates to the person's released ones. Success: one of the candidates, drawn at random, is the person.

The attack also guesses the offset itself, as the one with the highest likelihood of the person's
dates. The guess is right if it moves the person's true dates to the released ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from voile.gate.finding import GateFinding, StatedAdversary
from voile.gate.people import count_candidates
from voile.keys.date_rule import WEEK, DateRule
from voile.study.adversary.people import Days

KNOWN = (2, 3, 4)
THREE = "3 true dates"
KNOWS_DATES = StatedAdversary(
    "knows some true dates of a released person, the extract's ends and the usual days",
    "release and source",
)
GUESSED = "offset_guessed"
GUESSES = StatedAdversary(
    "knows the extract's ends and the usual days, and guesses each person's offset",
    "release and source",
)
TARGETS, CHUNK = 300, 4_096
"""The maximum number of attacked people; the number of people processed together."""
NEVER = -1e6
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Bits = NDArray[np.uint8]
"""Masks of people, eight per byte."""


def attack_dates(
    dates: Mapping[str, Days], rule: DateRule, rng: np.random.Generator
) -> tuple[GateFinding, ...]:
    """Attack the dates of people: count the candidates and the correctly guessed offsets.

    Return no finding if nobody has two dates.

    Parameters
    ----------
    dates : for each person, the true and the released days, (dates, 2).
    rule : the rule by which dates move. rng : for the choice of people and known dates.

    Cost: O(targets people offsets known), with 64 people per machine word, and O(dates offsets) for
    the offsets. Memory: O(offsets) for each of `CHUNK` people, for any distance between dates.
    """
    people = sorted(name for name, own in dates.items() if len(own))
    if not any(len(own) > 1 for own in dates.values()):
        return ()
    both = [dates[name] for name in people]
    calendar = _DayCalendar(both, rule)
    attacks = [_DateAttack(both, known, rng) for known in KNOWN]
    guessed = 0
    for at in range(0, len(both), CHUNK):
        own = both[at : at + CHUNK]
        likely = calendar.likelihoods(own)
        for days, o in zip(own, calendar.offsets[likely.argmax(axis=1)], strict=True):
            guessed += bool((_write_days(days[:, 0] + o, rule) == days[:, 1]).all())
        for attack in attacks:
            attack.look_at(calendar, own, likely > NEVER / 2)
    found = [attack.candidates() for attack in attacks if attack.knows]
    return (*chain(*found), GUESSES.finds(GUESSED, guessed, "people", n=len(people)))


def _write_days(days: NDArray[np.int64], rule: DateRule) -> NDArray[np.int64]:
    """Return moved days as they are written: the day, or the first of its month."""
    return _first_day(_month(days)) if rule.months else days


def _weekday(days: NDArray[np.int64]) -> NDArray[np.int64]:
    return days % WEEK


def _month(days: NDArray[np.int64]) -> NDArray[np.int64]:
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _first_day(months: NDArray[np.int64]) -> NDArray[np.int64]:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


class _DayCalendar:
    """The frequency of each day of the extract, and the possible offsets of a person."""

    def __init__(self, both: Sequence[Days], rule: DateRule) -> None:
        self.rule = rule
        steps = rule.days // rule.step
        self.offsets = np.arange(-steps, steps + 1) * rule.step
        true = np.concatenate([own[:, 0] for own in both])
        self._first = int(true.min())
        usual = self._usual(true)
        self._before = np.append(0.0, usual.cumsum())
        with np.errstate(divide="ignore"):
            inside = np.maximum(np.log(usual), NEVER)
        self._log_usual = np.concatenate([[NEVER], inside, [NEVER]])  # no visit is outside

    def likelihoods(self, people: Sequence[Days]) -> Floats:
        """Return the log-likelihood of each offset of each person, (people, offsets)."""
        likely = np.empty((len(people), len(self.offsets)), np.float32)
        each = self._of_months if self.rule.months else self._of_days
        for row, own in zip(likely, people, strict=True):
            row[:] = each(np.unique(own[:, 1])).sum(axis=0)
        likely[:, self.offsets == 0] = NEVER  # an offset of 0 is never used
        return likely

    def _of_days(self, moved: NDArray[np.int64]) -> NDArray[np.float64]:
        whence = moved[:, None] - self.offsets - (self._first - 1)
        return np.asarray(self._log_usual[whence.clip(0, len(self._log_usual) - 1)])

    def _of_months(self, starts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log-likelihoods of months. Each month represents all of its days."""
        ends = _first_day(_month(starts) + 1)
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(self._up_to(ends) - self._up_to(starts)), NEVER)

    def _up_to(self, moved: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the share of visits before moved days, under each offset, (days, offsets)."""
        whence = moved[:, None] - self.offsets - self._first
        return np.asarray(self._before[whence.clip(0, len(self._before) - 1)])

    def _usual(self, true: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the expected frequency of each day of the extract, by its weekday and month."""
        days = np.arange(self._first, true.max() + 1)
        usual = np.ones(len(days))
        for of in (_weekday, _month):
            kinds, place = np.unique(of(days), return_inverse=True)
            visits = np.bincount(np.searchsorted(kinds, of(true)), minlength=len(kinds))
            usual *= (visits / np.bincount(place))[place]
        return np.asarray(usual / usual.sum())


class _DateAttack:
    """The attack on some people with a number of known dates; it counts their candidates."""

    def __init__(self, both: Sequence[Days], known: int, rng: np.random.Generator) -> None:
        enough = np.flatnonzero([len(own) >= known for own in both])
        targets = rng.permutation(enough)[:TARGETS]
        self.known = known
        self.knows = [rng.choice(both[n][:, 0], known, replace=False) for n in targets]
        self._left = np.zeros(len(targets), np.int64)

    def look_at(self, calendar: _DayCalendar, people: Sequence[Days], possible: Mask) -> None:
        """Count the candidates among some people, given their possible offsets."""
        days, released = _list_released(people)
        may = np.packbits(possible.T, axis=1)
        for row, true in enumerate(self.knows):
            fits = may.copy()
            for day in true:
                wanted = _write_days(day + calendar.offsets, calendar.rule)
                at = np.searchsorted(days, wanted)
                at[days.take(at, mode="clip") != wanted] = len(days)
                fits &= released[at]
            candidates = np.bitwise_or.reduce(fits, axis=0)
            self._left[row] += int(np.bitwise_count(candidates).sum())

    def candidates(self) -> tuple[GateFinding, ...]:
        return count_candidates(
            KNOWS_DATES, f"{self.known} true dates", np.maximum(self._left, 1).tolist()
        )


def _list_released(people: Sequence[Days]) -> tuple[NDArray[np.int64], Bits]:
    """Return the released days, and a mask of their people, (days + 1, people).

    The last row of the mask is empty.
    """
    every = np.concatenate([own[:, 1] for own in people])
    days, at = np.unique(every, return_inverse=True)
    has = np.zeros((len(days) + 1, len(people)), np.bool_)
    has[at, np.repeat(np.arange(len(people)), [len(own) for own in people])] = True
    return days, np.packbits(has, axis=1)
