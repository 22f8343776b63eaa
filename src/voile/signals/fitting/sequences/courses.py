"""Courses of scores over time, and fits of their laws for many subjects at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.signals.model.codec.pieces import Floats
from voile.signals.model.sequences.basis import TimeBasis
from voile.signals.model.sequences.direction import CLEAR, GROSS, DirectionLaw

ROUNDS = (12, 6, 6, 6)  # rounds of expectation-maximisation; outliers are removed in between
STEPS = np.array([-0.1, -0.03, -0.01, -0.003, 0.0, 0.003, 0.01, 0.03, 0.1])
EDGE = 0.98  # largest autocorrelation
DRIFTS = (0.0, 1e-4, 1e-3, 1e-2)
LEAST = 1e-6  # smallest variance of a coefficient
LEAST_SWING = 1e-4  # smallest variance of deviations, so that dither stays small for a constant


@dataclass(frozen=True, eq=False)
class SubjectCourses:
    """The times of readings, with one row per subject, the longest first.

    Parameters
    ----------
    rows : (n, T) row numbers of readings; -1 beyond a subject's last.
    times : (n, T) units of time, increasing along a row, also beyond the last.
    """

    rows: NDArray[np.intp]
    times: NDArray[np.int64]

    @classmethod
    def of(cls, whose: NDArray[np.intp], times: NDArray[np.int64]) -> SubjectCourses:
        """Arrange readings by subject, given each subject's rows in order of time."""
        order = np.argsort(whose, kind="stable")
        sizes = np.unique(whose, return_counts=True)[1]
        starts = np.cumsum(sizes) - sizes
        longest = np.argsort(-sizes, kind="stable")
        at = np.arange(sizes.max())
        here = at < sizes[longest, None]
        place = np.minimum(starts[longest, None] + at, len(order) - 1)
        last = times[order[(starts + sizes - 1)[longest]]]
        beyond = last[:, None] + 1 + at - sizes[longest, None]
        rows = np.where(here, order[place], -1)
        return cls(rows, np.where(here, times[rows], beyond))

    @cached_property
    def here(self) -> NDArray[np.bool_]:
        """Whether there is a reading, (n, T)."""
        return self.rows >= 0

    @cached_property
    def gaps(self) -> Floats:
        """The units of time between readings, (n, T - 1)."""
        return np.diff(self.times, axis=1).astype(np.float64)

    def of_rows(self, values: Floats) -> Floats:
        """Return values by subject and time, (n, T), with 0 where there is no reading."""
        return np.where(self.here, values[self.rows], 0.0)

    def to_rows(self, values: Floats, out: Floats) -> None:
        """Write (n, T) values back to their rows."""
        out[self.rows[self.here]] = values[self.here]

    def over(self, basis: TimeBasis) -> Floats:
        """Return the functions of time, (n, T, K)."""
        return basis.over(self.times, self.times[:, 0])


@dataclass(frozen=True, eq=False)
class DirectionForecasts:
    """A direction's forecasts of readings, (n, T) each: means, spreads and surprises."""

    mean: Floats
    spread: Floats
    surprise: Floats  # of sent values, in spreads
    cleared: Floats  # the scores without their outlying part

    def likelihood(self, here: NDArray[np.bool_]) -> float:
        """Return the log-likelihood up to a constant, with large surprises clipped at the limit."""
        size = np.minimum(np.abs(self.surprise[here]), GROSS)
        return float((-0.5 * size * size - np.log(self.spread[here])).sum())


def forecasts(
    law: DirectionLaw, courses: SubjectCourses, functions: Floats, known: Floats, sent: Floats
) -> DirectionForecasts:
    """Forecast the scores of all subjects at once, as `DirectionLaw` does for one subject.

    Cost: O(n T K^2).
    """
    n, T = courses.rows.shape
    prior = np.array(law.covariance)
    coefficients, doubt = np.tile(law.mean, (n, 1)), np.tile(prior, (n, 1, 1))
    mean, spread, surprise, cleared = np.zeros((4, n, T))
    before = np.full(n, np.inf)  # the first reading is always learnt fully
    for t in range(T):
        on = int(courses.here[:, t].sum())  # subjects with more readings come first
        parts, noise = functions[:on, t], np.full(on, law.swing)
        start = np.zeros(on)
        if t:
            gap = courses.gaps[:on, t - 1]
            kept = law.kept**gap
            parts = parts - kept[:, None] * functions[:on, t - 1]
            noise = law.swing * (1 - kept * kept)
            start = kept * cleared[:on, t - 1]
            doubt[:on] += (law.drift * gap)[:, None, None] * prior
        gain = np.einsum("nkl,nl->nk", doubt[:on], parts)
        variance = np.einsum("nk,nk->n", gain, parts) + noise
        here = start + np.einsum("nk,nk->n", parts, coefficients[:on])
        root = np.sqrt(variance)
        away = (known[:on, t] - here) / root
        share = np.clip((GROSS - np.abs(away)) / (GROSS - CLEAR), 0, 1)
        share[np.abs(before[:on]) > CLEAR] = 1
        before = away if t else np.zeros(on)
        moved = share * away / root
        coefficients[:on] += gain * moved[:, None]
        doubt[:on] -= (share / variance)[:, None, None] * gain[:, :, None] * gain[:, None]
        mean[:on, t], spread[:on, t] = here, root
        cleared[:on, t] = here + share * away * root
        surprise[:on, t] = (sent[:on, t] - here) / root
    return DirectionForecasts(mean, spread, surprise, cleared)


def fit_direction(courses: SubjectCourses, basis: TimeBasis, y: Floats) -> DirectionLaw:
    """Fit a direction's law to (n, T) scores by expectation-maximisation.

    Cost: O(n T K^2) per round, for about thirty rounds.
    """
    functions = courses.over(basis)
    law = _beginning(courses, basis, y)
    cleared = y
    for rounds in ROUNDS:
        for _ in range(rounds):
            law = _round(law, courses, functions, cleared)
        cleared = forecasts(law, courses, functions, y, y).cleared
    tried = [replace(law, drift=drift) for drift in DRIFTS]
    scored = [forecasts(one, courses, functions, y, y).likelihood(courses.here) for one in tried]
    return tried[int(np.argmax(scored))]


def _beginning(courses: SubjectCourses, basis: TimeBasis, y: Floats) -> DirectionLaw:
    """Return a starting law: most variance in the level, with small slopes and seasons."""
    total = max(float(y[courses.here].var()), LEAST)
    mean, own = np.zeros(basis.size), np.full(basis.size, 0.05 * total)
    mean[0], own[0] = y[courses.here].mean(), 0.75 * total
    return _law(mean, np.diag(own), 0.25 * total, 0.4)


def _law(mean: Floats, covariance: Floats, swing: float, kept: float) -> DirectionLaw:
    rows = tuple(tuple(row) for row in covariance.tolist())
    return DirectionLaw(tuple(mean.tolist()), rows, max(swing, LEAST_SWING), kept, 0.0)


def _round(
    law: DirectionLaw, courses: SubjectCourses, functions: Floats, y: Floats
) -> DirectionLaw:
    """Apply one round: estimate every subject's coefficients, then maximise the likelihood."""
    own, parts, _ = _apart(law.kept, courses, functions, y)
    inverse = np.linalg.inv(np.array(law.covariance))
    precision = np.einsum("ntk,ntl->nkl", parts, parts) / law.swing + inverse
    doubt = np.linalg.inv(precision)
    pull = np.einsum("ntk,nt->nk", parts, own) / law.swing + inverse @ np.array(law.mean)
    found = np.einsum("nkl,nl->nk", doubt, pull)
    mean = found.mean(axis=0)
    apart = found - mean
    covariance = (apart.T @ apart + doubt.sum(axis=0)) / len(found)
    covariance += LEAST * np.eye(len(mean))
    kept, swing = _swings(law.kept, courses, functions, y, found, doubt)
    return _law(mean, covariance, swing, kept)


def _swings(
    before: float,
    courses: SubjectCourses,
    functions: Floats,
    y: Floats,
    found: Floats,
    doubt: Floats,
) -> tuple[float, float]:
    """Return an updated autocorrelation near its old value, and the variance of deviations."""
    count, best = courses.here.sum(), (np.inf, before, 1.0)
    for kept in np.unique(np.clip(before + STEPS, -EDGE, EDGE)).tolist():
        own, parts, logs = _apart(kept, courses, functions, y)
        left = own - np.einsum("ntk,nk->nt", parts, found)
        unsure = np.vdot(parts.transpose(0, 2, 1) @ parts, doubt)
        swing = float(((left * left).sum() + unsure) / count)
        best = min(best, (0.5 * count * np.log(max(swing, LEAST_SWING)) - logs, kept, swing))
    return best[1], best[2]


def _apart(
    kept: float, courses: SubjectCourses, functions: Floats, y: Floats
) -> tuple[Floats, Floats, float]:
    """Return whitened scores and functions: minus the AR(1) prediction, with equal variance.

    Also return the sum of the logs of their weights.
    """
    share = np.where(courses.here[:, 1:], kept**courses.gaps, 0.0)
    weight = np.concatenate([np.ones((len(y), 1)), 1 / np.sqrt(1 - share * share)], axis=1)
    weight = np.where(courses.here, weight, 0.0)
    own, parts = y.copy(), functions.copy()
    own[:, 1:] -= share * y[:, :-1]
    parts[:, 1:] -= share[..., None] * functions[:, :-1]
    logs = float(np.log(weight[courses.here]).sum())
    return own * weight, parts * weight[..., None], logs


def likelihood(
    laws: Sequence[DirectionLaw], courses: SubjectCourses, basis: TimeBasis, scores: Floats
) -> float:
    """Return the log-likelihood of (m, readings) scores under the laws of their directions."""
    functions, total = courses.over(basis), 0.0
    for law, y in zip(laws, scores, strict=True):
        values = courses.of_rows(y)
        total += forecasts(law, courses, functions, values, values).likelihood(courses.here)
    return total
