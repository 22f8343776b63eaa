"""How a register is linked to a release, and how often the names given are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.linkage_games import Game, alike

from voile.core.evidence import Rate
from voile.keys.random import streams
from voile.tables.attack.estimation import excess_over_chance, expectation
from voile.tables.attack.linkage import LinkageClaims, link
from voile.tables.attack.model import HitMiss
from voile.tables.attack.patterns import AgreementPatterns, agreement_patterns
from voile.tables.attack.records import IntervalRecords, distinct_rows

BEFORE, AFTER, GIVEN = "before", "after", "overlap given"


class Independent:
    """Chances as products of the columns' own frequencies."""

    def __init__(self, register: np.ndarray) -> None:
        self.register = register

    def of(self, patterns: AgreementPatterns) -> np.ndarray:
        """Return (c, 2^q)."""
        chances = np.ones((len(patterns.combinations), 1))
        for held, shown in zip(self.register.T, patterns.combinations.T, strict=True):
            counts = np.bincount(held[held >= 0], minlength=shown.max() + 1)
            share = np.maximum(counts[shown], 1e-3)[:, None] / counts.sum()
            chances = np.hstack([chances, chances * share])
        return chances


@dataclass(frozen=True)
class Played:
    """Of each name: what was stated, whether it was right, and how many released are alike."""

    stated: np.ndarray
    right: np.ndarray
    alike: np.ndarray
    model: HitMiss

    def of(self, fewest: int, most: int) -> Played:
        """Keep names for people of whom so many are alike in the release."""
        these = (self.alike >= fewest) & (self.alike <= most)
        return Played(self.stated[these], self.right[these], self.alike[these], self.model)


def play(task: tuple[Game, str]) -> Played:
    """Link one release to its register in one way."""
    game, way = task
    release, register = game.parts()
    if way == BEFORE:
        claims, model = before(release, register)
    else:
        held = float(np.isin(release.subject, register.subject).mean())
        claims, model = link(release, register, overlap=held if way == GIVEN else None)
    (ties,) = streams(game.seed, f"ties of {game}")
    right = ties.random(len(claims.right)) < claims.right
    return Played(claims.posterior, right, alike(release.codes)[np.argsort(release.subject)], model)


def before(release: IntervalRecords, register: IntervalRecords) -> tuple[LinkageClaims, HitMiss]:
    """Link with the chances of independent columns and error rates that the data alone decide."""
    combinations, of = distinct_rows(release.codes)
    some = slice(None, None, -(-len(combinations) // 2_000))
    patterns = agreement_patterns(combinations[some], register.codes)
    independent, weight = Independent(register.codes), np.bincount(of)[some].astype(float)
    chances = independent.of(patterns)
    excess = excess_over_chance(patterns, chances)
    model = HitMiss(np.full(combinations.shape[1], 0.05), 0.9)
    for _ in range(100):
        misses, seen, found, _ = expectation(patterns, excess, weight, model)
        model = HitMiss(misses / seen, min(found / weight.sum(), 1.0))
    return link(release, register, model, chance=independent)


@dataclass(frozen=True)
class Tenth:
    """Names of which about the same was stated: the mean of it, and how often they were right."""

    tenth: int
    stated: float
    rate: Rate

    @property
    def outside(self) -> float:
        """How far what was stated lies outside the interval of what was observed; 0 inside."""
        low, high = self.rate.interval()
        return max(low - self.stated, self.stated - high, 0.0)


def reliability(played: Sequence[Played]) -> Iterator[Tenth]:
    """Yield the tenths of what was stated in which there are names.

    The names of one game share its people and its model: of several games, these are clusters.
    """
    stated, right = (np.concatenate([getattr(p, n) for p in played]) for n in ("stated", "right"))
    game = np.repeat(np.arange(len(played)), [len(p.stated) for p in played])
    tenth = np.minimum((stated * 10).astype(int), 9)
    for ten in np.unique(tenth[stated > 0]):
        here = (tenth == ten) & (stated > 0)
        right_in, names_in = (np.bincount(game[here], w, len(played)) for w in (right[here], None))
        rate = Rate(int(right_in.sum()), int(names_in.sum()))
        if len(played) > 1:
            rate = Rate.from_clusters(right_in, names_in)
        yield Tenth(int(ten), float(stated[here].mean()), rate)
