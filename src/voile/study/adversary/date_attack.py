"""The attack on dates: an adversary who knows some true dates of a person, up to one offset.

The adversary has the release, knows that the person is in it, the first and last day of the
extract, and on which weekdays and in which months how many visits fall. Each released person has
an unknown offset. An offset is possible if it puts all of the person's dates within the extract,
on weekdays that have visits. Candidates are the people of whom some possible offset moves all
known dates to released ones. Success: one of them, drawn at random, is the person.

The offset itself is guessed too: the one under which the person's dates are likeliest. It is right
if it moves the person's true dates to the released ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.keys.date_rule import WEEK, DateRule
from voile.study.adversary.acquaintance import Reach
from voile.study.adversary.people import Days

KNOWN = (2, 3, 4)
THREE = "3 true dates"
TARGETS, CHUNK = 300, 2048
"""People who are attacked at most; people who are looked at together."""
NEVER = -1e6
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class DateRisk(Brief):
    """What dates reveal: by how many are known, and of how many people the offset is guessed."""

    reaches: tuple[Reach, ...]
    people: int
    guessed: int

    def to_data(self) -> dict[str, Any]:
        return {**vars(self), "reaches": [vars(one) for one in self.reaches]}


def attack_dates(
    dates: Mapping[str, Days], rule: DateRule, rng: np.random.Generator
) -> DateRisk | None:
    """Attack the dates of people; None where nobody has two.

    dates : of each person, true and released days, (dates, 2).
    Cost: O(targets people offsets known), and O(people days offsets) for the offsets.
    """
    people = sorted(name for name, own in dates.items() if len(own))
    if not any(len(own) > 1 for own in dates.values()):
        return None
    both = [dates[name] for name in people]
    calendar = _Calendar(both, rule)
    likely = calendar.likelihoods()
    guesses = calendar.offsets[likely.argmax(axis=1)]
    guessed = sum(
        bool((_written(own[:, 0] + o, rule) == own[:, 1]).all())
        for own, o in zip(both, guesses, strict=True)
    )
    found = [_reach(calendar, likely > NEVER / 2, known, rng) for known in KNOWN]
    return DateRisk(tuple(one for one in found if one.people), len(people), guessed)


def _written(days: NDArray[np.int64], rule: DateRule) -> NDArray[np.int64]:
    """Return moved days as they are written: the day, or the first of its month."""
    if not rule.months:
        return days
    return (
        days.astype("datetime64[D]")
        .astype("datetime64[M]")
        .astype("datetime64[D]")
        .astype(np.int64)
    )


def _weekday(days: NDArray[np.int64]) -> NDArray[np.int64]:
    return days % WEEK


def _month(days: NDArray[np.int64]) -> NDArray[np.int64]:
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


class _Calendar:
    """The released days of people, on a calendar that every moved day is on."""

    def __init__(self, both: Sequence[Days], rule: DateRule) -> None:
        self.both, self.rule = both, rule
        true = np.concatenate([own[:, 0] for own in both])
        self.first, self.last = int(true.min()), int(true.max())
        self.start = self.first - rule.days - 31
        self.days = np.arange(self.start, self.last + rule.days + 32)
        self.offsets = np.arange(-(rule.days // rule.step), rule.days // rule.step + 1) * rule.step
        self._true = true

    def likelihoods(self) -> Floats:
        """Return the log-likelihood of each offset of each person, (people, offsets)."""
        usual = self._usual()
        by_offset = np.zeros((len(self.days), len(self.offsets)), np.float32)
        for column, offset in enumerate(self.offsets):
            if not offset:  # nobody stays
                continue
            whence = self.days - offset - self.first
            inside = (whence >= 0) & (whence < len(usual))
            by_offset[inside, column] = usual[whence[inside]]
        if self.rule.months:  # a month may stand for each of its days
            _, starts, place = np.unique(_month(self.days), return_index=True, return_inverse=True)
            by_offset = np.add.reduceat(by_offset, starts)[place]
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(by_offset), NEVER)
        return np.concatenate(
            [self.released(n).astype(np.float32) @ logs for n in range(0, len(self.both), CHUNK)]
        )

    def _usual(self) -> Floats:
        """Return how usual each day of the extract is: by its weekday, and by its month."""
        days = np.arange(self.first, self.last + 1)
        usual = np.ones(len(days), np.float32)
        for of in (_weekday, _month):
            kinds, place = np.unique(of(days), return_inverse=True)
            visits = np.bincount(np.searchsorted(kinds, of(self._true)), minlength=len(kinds))
            usual *= (visits / np.bincount(place))[place].astype(np.float32)
        return np.asarray(usual / usual.sum(), np.float32)

    def possible_days(self, at: int) -> Mask:
        """Return on which days a moved date may be of the people of a chunk, (people, days)."""
        released = self.released(at)
        if not self.rule.months:
            return released
        starts = np.searchsorted(self.days, _written(self.days, self.rule))
        return np.asarray(released[:, starts])

    def released(self, at: int) -> Mask:
        """Return which days are released of the people of a chunk, (people, days)."""
        own = self.both[at : at + CHUNK]
        shown = np.zeros((len(own), len(self.days)), np.bool_)
        for row, days in enumerate(own):
            shown[row, days[:, 1] - self.start] = True
        return shown


def _reach(calendar: _Calendar, possible: Mask, known: int, rng: np.random.Generator) -> Reach:
    """Count the candidates of some people of whom so many dates are known."""
    enough = np.flatnonzero([len(own) >= known for own in calendar.both])
    targets = rng.permutation(enough)[:TARGETS]
    rule = calendar.rule
    reach = int(calendar.offsets[-1])
    left = np.zeros(len(targets), np.int64)
    knows = [rng.choice(calendar.both[n][:, 0], known, replace=False) for n in targets]
    for at in range(0, len(calendar.both), CHUNK):
        days, may = calendar.possible_days(at), possible[at : at + CHUNK]
        for row, true in enumerate(knows):
            fits = may.copy()
            for day in true - calendar.start:
                fits &= days[:, day - reach : day + reach + 1 : rule.step]
            left[row] += int(fits.any(axis=1).sum())
    return Reach.of(f"{known} true dates", np.maximum(left, 1).tolist())
