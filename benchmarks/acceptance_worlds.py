"""Readers who miss some, of releases with few identifiers left, as often as a test wants."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from voile.documents.acceptance.plan import AcceptanceGoal, ReadingPlan
from voile.documents.acceptance.reading import AcceptanceReading, AcceptanceVerdict, DueTokens


@dataclass
class World:
    """Words with scores, which of them identify, and with what chance a reader sees each."""

    scores: NDArray[np.float64]
    truth: NDArray[np.bool_]
    recall: NDArray[np.float64]
    signs: int = 0  # tokens beside these, which identify nobody
    plans: dict[tuple[int, int, int], ReadingPlan] = field(default_factory=dict)


class Cached(AcceptanceReading):
    """A reading that does not plan twice what it planned for the same answers."""

    world: World

    def plan(self) -> ReadingPlan:
        key = (self.number, int(self.read.sum()), int(self.found.sum()))
        if key not in self.world.plans:
            self.world.plans[key] = super().plan()
        return self.world.plans[key]


def clustered(rng: np.random.Generator, *, tokens: int, left: int, size: int) -> World:
    """Return a text where identifiers stand `size` side by side, each run with one score for all.

    A third of the runs lie where no score points at them.
    """
    truth = np.zeros(tokens, dtype=np.bool_)
    scores = rng.beta(1, 2000, tokens)
    starts = rng.choice(tokens // size, max(left // size, 1), replace=False) * size
    for start in starts.tolist():
        truth[start : start + size] = True
        if rng.random() < 2 / 3:
            scores[start : start + size] = rng.beta(1, 12)
    return World(scores, truth, np.ones(tokens))


def read(
    world: World,
    goal: AcceptanceGoal,
    seed: int,
    *,
    planted: NDArray[np.float64] | None,
    tries: int = 1,
) -> tuple[AcceptanceVerdict, int]:
    """Read until a verdict, at most so many tries; return it, and how many are left in truth.

    planted : the chances with which planted identifiers are seen; None: none are planted.
    """
    rng = np.random.default_rng([seed, 1])
    most = 0 if planted is None else 360
    reading = Cached(world.scores, goal, seed=seed, most_planted=most, signs=world.signs)
    reading.world = world
    while True:
        due = reading.due()
        if isinstance(due, AcceptanceVerdict):
            if due.accepted or reading.number == tries:
                return due, int((world.truth & ~reading.found).sum())
            reading.again()
            continue
        reading.take(due, *_answers(world, due, planted, rng))


def _answers(
    world: World, due: DueTokens, planted: NDArray[np.float64] | None, rng: np.random.Generator
) -> tuple[NDArray[np.intp], int]:
    there = due.tokens[world.truth[due.tokens]]
    seen = there[rng.random(len(there)) < world.recall[there]]
    if planted is None:
        return seen, 0
    return seen, int((rng.random(due.planted) < rng.choice(planted, due.planted)).sum())
