"""The course of one direction of a subject's scores, a reading at a time: plain Python.

A score is y_t = f_t b + e_t. The subject's coefficients b weigh functions of time f_t. Around
them the score swings as an AR(1) process e_t. b is normal, and drifts. This is its Kalman filter.
The score of a moment is known exactly, so that only b is in doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from math import nan, sqrt
from typing import Any, NamedTuple, TypeAlias

from voile.signals.model.sequences.messages import moment, numbers
from voile.signals.model.sequences.written_out import Numbers, Row, steps

CLEAR, GROSS = 3.0, 4.0
"""In standard deviations: surprises up to the first are learnt whole, from the second on not.

A second surprise in a row is learnt: readings that stay at a new level are no spike.
"""


class DirectionState(NamedTuple):
    """The estimate of one direction of one subject's scores."""

    coefficients: Numbers  # (K,) their mean
    doubt: Numbers  # (K K,) their covariance, row after row
    last: float  # the latest score, without what of it was gross
    surprise: float  # how far it lay from its forecast, in standard deviations; 0 of the first
    time: int  # when it was
    since: int  # when the first was

    def to_json(self) -> list[object]:
        """Return plain data for `json`, the covariance as (K, K) rows."""
        size = len(self.coefficients)
        rows = [self.doubt[at : at + size] for at in range(0, len(self.doubt), size)]
        return [self.coefficients, rows, *self[2:]]


class ScoreForecast(NamedTuple):
    """The law of a score to come: normal, of this mean and standard deviation."""

    mean: float
    spread: float
    gain: Numbers  # (K,) its covariance with the coefficients
    doubt: Numbers  # (K K,) of the coefficients, drift included


Forecasting: TypeAlias = Callable[..., ScoreForecast]
Learning: TypeAlias = Callable[["DirectionState | None", int, ScoreForecast, float], DirectionState]


@dataclass(frozen=True)
class DirectionLaw:
    """The law of one direction, of one class."""

    mean: tuple[float, ...]  # (K,) of the coefficients
    covariance: tuple[tuple[float, ...], ...]  # (K, K) of them among subjects
    swing: float  # variance of the swings, above 0
    kept: float  # the correlation of a swing with that one unit of time before, 0 to below 1
    drift: float  # the share of the covariance by which coefficients move in a unit of time

    @cached_property
    def forecast(self) -> Forecasting:
        """Return the law of a score, given functions of time now, and at the latest score.

        Return only its mean if there was a score before, and the reading lacks this one.
        """
        found: Forecasting = self._compiled_functions["forecast"]
        return found

    @cached_property
    def learn(self) -> Learning:
        """Return the estimate after a score."""
        found: Learning = self._compiled_functions["learn"]
        return found

    @cached_property
    def _compiled_functions(self) -> dict[str, Any]:
        """Both functions, and their inputs."""
        made = {
            "mean": self.mean,
            "prior": _flatten_rows(self.covariance),
            "swing": self.swing,
            "kept": self.kept,
            "drift": self.drift,
            "clear": CLEAR,
            "share_of": share_of,
            "power": power,
            "sqrt": sqrt,
            "nan": nan,
            "new": tuple.__new__,
            "Forecast": ScoreForecast,
            "State": DirectionState,
        }
        exec(steps(len(self.mean), drifts=self.drift > 0), made)
        return made


def read_state(saved: object, size: int) -> DirectionState:
    """Read the JSON data of a state with `size` coefficients, or raise a ValueError."""
    parts = saved if isinstance(saved, list | tuple) else ()
    coefficients, doubt, *scores, time, since = parts
    means, rows = numbers(coefficients), tuple([numbers(row) for row in doubt])
    last, surprise = numbers(scores)
    square = len(means) == len(rows) == size and all(len(row) == size for row in rows)
    if not square or any(rows[k][k] < 0 for k in range(size)):
        raise ValueError("the estimate of a score belongs to another map")
    if moment(time) < moment(since):
        raise ValueError("a reading is before the first")
    return DirectionState(means, _flatten_rows(rows), last, surprise, time, since)


def _flatten_rows(rows: Iterable[Row]) -> Numbers:
    return tuple([value for row in rows for value in row])


def power(base: float, exponent: int) -> float:
    """Return base^exponent, exponent >= 0, by products: no library function takes part.

    >>> power(0.5, 3), power(0.0, 0)
    (0.125, 1.0)
    """
    out = 1.0
    while exponent:
        if exponent & 1:
            out *= base
        base *= base
        exponent >>= 1
    return out


def share_of(surprise: float) -> float:
    """Return the share of a surprise that is learnt: 0 for a gross one, such as a spike.

    >>> share_of(-2.9), share_of(3.5), share_of(4.0)
    (1.0, 0.5, 0.0)
    """
    size = abs(surprise)
    if size <= CLEAR:
        return 1.0
    return 0.0 if size >= GROSS else (GROSS - size) / (GROSS - CLEAR)
