"""Choose one time structure of scores for all classes, by held-out likelihood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from voile.signals.fitting.sequences.courses import SubjectCourses, fit_direction, likelihood
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.sequences.basis import LONGEST, TimeBasis

HARMONICS = 2
FREE = 12  # units of time: such a short season may need each harmonic
LEAST_GAIN = 2.0  # required gain in held-out log-likelihood per added coefficient
MOMENTS = 5  # readings of a subject needed for a slope or a season
PERIODS = 400  # maximum number of periods to try


def choose_basis(
    scores: Sequence[Floats],
    whose: NDArray[np.intp],
    times: NDArray[np.int64],
    codes: NDArray[np.intp],
    period: int | None,
) -> TimeBasis:
    """Choose whether scores have a slope and a season, the same for all classes.

    Parameters
    ----------
    scores : for each class (m, n) rotated scores of its readings, in their order.
    whose, times, codes : (n,) for all readings.
    period : period of the season, in units of time. 0: no season. None: estimated.

    Subjects are split into two halves. The laws of a class are fitted to one half and tested on the
    other.
    """
    together = SubjectCourses.of(whose, times)
    if together.rows.shape[1] < MOMENTS:
        return TimeBasis()
    slope = float(max(np.ptp(np.where(together.here, together.times, 0), axis=1).max(), 1))
    if period is None:
        period = _period(together, _join_scores(scores, codes))
    all_shapes = (period - 1) // 2
    shapes = {min(HARMONICS, all_shapes), all_shapes} if period <= FREE else {HARMONICS}
    seasons = [(0, 0)] + [(period, one) for one in sorted(shapes) if period]
    best, most = TimeBasis(), -np.inf
    for rise, (every, harmonics) in product((0.0, slope), seasons):
        basis = TimeBasis.of(rise, every, harmonics)
        found = _held_out(scores, whose, times, codes, basis) - LEAST_GAIN * basis.size
        if found > most:
            best, most = basis, found
    return best


def _join_scores(scores: Sequence[Floats], codes: NDArray[np.intp]) -> Floats:
    out = np.empty((len(scores[0]), len(codes)))
    for which, own in enumerate(scores):
        out[:, codes == which] = own
    return out


def _held_out(
    scores: Sequence[Floats],
    whose: NDArray[np.intp],
    times: NDArray[np.int64],
    codes: NDArray[np.intp],
    basis: TimeBasis,
) -> float:
    total = 0.0
    for which, own in enumerate(scores):
        mine, when = whose[codes == which], times[codes == which]
        second = np.unique(mine, return_inverse=True)[1] % 2 == 1
        halves = [
            (SubjectCourses.of(mine[half], when[half]), own[:, half]) for half in (second, ~second)
        ]
        for (learnt, theirs), (tried, others) in (halves, halves[::-1]):
            laws = [fit_direction(learnt, basis, learnt.of_rows(y)) for y in theirs]
            total += likelihood(laws, tried, basis, others)
    return total


def _period(courses: SubjectCourses, scores: Floats) -> int:
    """Return the period with the highest power in the detrended scores, or 0."""
    longest = int(np.ptp(np.where(courses.here, courses.times, courses.times[:, :1]), axis=1).max())
    periods = list(_periods(min(longest // 2, LONGEST)))
    if not periods:
        return 0
    left = [_whiten_scores(courses, _less_trend(courses, courses.of_rows(y))) for y in scores]
    powers = []
    for period in periods:
        turn = np.exp(-2j * np.pi * (courses.times % period) / period) * courses.here
        count = np.maximum(courses.here.sum(axis=1), 1)
        powers.append(sum(float((np.abs((y * turn).sum(axis=1)) ** 2 / count).sum()) for y in left))
    return periods[int(np.argmax(powers))]


def _periods(longest: int) -> Iterator[int]:
    """Yield whole periods from 3: all small ones, then with growing steps."""
    period = 3
    while period <= longest:
        yield period
        period = max(period + 1, int(period * (1 + 3 / PERIODS)))


def _less_trend(courses: SubjectCourses, y: Floats) -> Floats:
    here = courses.here
    count = np.maximum(here.sum(axis=1, keepdims=True), 1)
    time = np.where(here, courses.times - courses.times[:, :1], 0).astype(np.float64)
    time = np.where(here, time - time.sum(axis=1, keepdims=True) / count, 0)
    y = np.where(here, y - y.sum(axis=1, keepdims=True) / count, 0)
    slope = (time * y).sum(axis=1) / np.maximum((time * time).sum(axis=1), 1)
    out: Floats = y - slope[:, None] * time
    return out


def _whiten_scores(courses: SubjectCourses, y: Floats) -> Floats:
    """Remove the autocorrelation. Otherwise the longest period would have the highest power."""
    both = courses.here[:, 1:]
    before, after = y[:, :-1][both], y[:, 1:][both]
    kept = float(before @ after / max(float(before @ before), 1e-12))
    out = np.zeros_like(y)
    out[:, 1:] = np.where(both, y[:, 1:] - kept * y[:, :-1], 0)
    return out
