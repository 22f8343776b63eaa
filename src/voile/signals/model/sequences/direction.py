"""The course of one direction of a subject's scores, one reading at a time, in plain Python.

A score is y_t = f_t b + e_t. The subject's coefficients b weight functions of time f_t. The
deviation e_t is an AR(1) process. b is normal and drifts. This module is the Kalman filter of the
model. The score of each reading is known exactly, so only b is uncertain.
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
"""Limits in standard deviations: smaller surprises are learnt fully, larger ones not at all.

Surprises below the first limit are learnt fully, and those above the second are ignored. A second
large surprise in a row is learnt, since readings that stay at a new level are not a spike.
"""


class DirectionState(NamedTuple):
    """The estimated state of one direction of one subject's scores."""

    coefficients: Numbers  # (K,) mean of the coefficients
    doubt: Numbers  # (K K,) covariance of the coefficients, in row order
    last: float  # the latest score, without its ignored part
    surprise: float  # its distance from the forecast, in standard deviations; 0 for the first
    time: int  # its time
    since: int  # time of the first score

    def to_json(self) -> list[object]:
        """Return plain data for `json`, with the covariance as (K, K) rows."""
        size = len(self.coefficients)
        rows = [self.doubt[at : at + size] for at in range(0, len(self.doubt), size)]
        return [self.coefficients, rows, *self[2:]]


class ScoreForecast(NamedTuple):
    """The normal distribution of a future score: its mean and standard deviation."""

    mean: float
    spread: float
    gain: Numbers  # (K,) covariance of the score and the coefficients
    doubt: Numbers  # (K K,) covariance of the coefficients, including drift


Forecasting: TypeAlias = Callable[..., ScoreForecast]
Learning: TypeAlias = Callable[["DirectionState | None", int, ScoreForecast, float], DirectionState]


@dataclass(frozen=True)
class DirectionLaw:
    """The law of one direction in one class."""

    mean: tuple[float, ...]  # (K,) mean of the coefficients
    covariance: tuple[tuple[float, ...], ...]  # (K, K) their covariance among subjects
    swing: float  # variance of the AR(1) deviation, above 0
    kept: float  # autocorrelation of the deviation after one unit of time, in [0, 1)
    drift: float  # share of the covariance by which coefficients drift per unit of time

    @cached_property
    def forecast(self) -> Forecasting:
        """The function that returns the distribution of a score.

        It takes the functions of time now and at the latest score. It returns only the mean if
        there was a score before and the reading lacks this one.
        """
        found: Forecasting = self._compiled_functions["forecast"]
        return found

    @cached_property
    def learn(self) -> Learning:
        """The function that returns the state after a score."""
        found: Learning = self._compiled_functions["learn"]
        return found

    @cached_property
    def _compiled_functions(self) -> dict[str, Any]:
        """The compiled functions and their inputs, by name."""
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
    """Read a state with `size` coefficients from JSON data.

    Raises
    ------
    ValueError : the data is not a state of this size.
    """
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
    """Return base^exponent, exponent >= 0, by repeated products without a library function.

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
    """Return the share of a surprise that is learnt, between 0 for a spike and 1.

    >>> share_of(-2.9), share_of(3.5), share_of(4.0)
    (1.0, 0.5, 0.0)
    """
    size = abs(surprise)
    if size <= CLEAR:
        return 1.0
    return 0.0 if size >= GROSS else (GROSS - size) / (GROSS - CLEAR)
