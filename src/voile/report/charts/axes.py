"""Axes of charts: map values to fractions of the plot, and choose round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from voile.report.charts import numbers
from voile.report.charts.svg import percent, tag

TICKS = 5  # approximate number of ticks on a side
_ZERO_GUTTER = 0.06


@dataclass(frozen=True)
class PlotAxis:
    """One axis of a plot.

    Parameters
    ----------
    low, high : the ends of the axis, low < high. Both are above 0 if `log`.
    ticks : the values to mark, in increasing order, within the ends.
    log : whether equal distances are equal ratios.
    zero : whether a log axis has a gutter at its start for values that are 0.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False
    zero: bool = False

    def place(self, value: float) -> float:
        """Return the position of `value`, in [0, 1] from the start of the axis."""
        if not self.log:
            return (value - self.low) / (self.high - self.low)
        start = _ZERO_GUTTER if self.zero else 0.0
        if value <= 0:
            return 0.0
        ratio = math.log(value / self.low) / math.log(self.high / self.low)
        return start + (1 - start) * ratio


def linear(values: Iterable[float], *, target: int = TICKS) -> PlotAxis:
    """Return a linear axis with round ends.

    It starts at 0, or below 0 if there are negative values.

    >>> linear([0.02, 0.33]).ticks
    (0.0, 0.1, 0.2, 0.3, 0.4)
    >>> linear([]).ticks
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """
    known = [v for v in values if math.isfinite(v)]
    low, high = min([0.0, *known]), max([0.0, *known])
    if low == high:
        high = 1.0
    step = _round_step((high - low) / target)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(i * step, 12) for i in range(first, last + 1))
    return PlotAxis(low=ticks[0], high=ticks[-1], ticks=ticks)


def build_axis(values: Iterable[float]) -> PlotAxis:
    """Return an axis from the least to the greatest value, with round ticks inside.

    >>> axis = build_axis([3.0, 11.0])
    >>> axis.low, axis.high, axis.ticks
    (3.0, 11.0, (4.0, 6.0, 8.0, 10.0))
    """
    known = [v for v in values if math.isfinite(v)]
    if not known or min(known) == max(known):
        return linear(known)
    low, high = min(known), max(known)
    step = _round_step((high - low) / TICKS)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return PlotAxis(low, high, tuple(round(i * step, 12) for i in range(first, last + 1)))


def log10(values: Iterable[float]) -> PlotAxis:
    """Return a log10 axis between round ends. Values of 0 get a separate position.

    >>> log10([0.0, 0.0031, 0.7]).ticks
    (0.001, 0.01, 0.1, 1.0)
    """
    known = list(values)
    positive = [v for v in known if v > 0]
    low, high = (min(positive), max(positive)) if positive else (0.1, 1.0)
    bottom, top = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    if bottom == top:
        bottom -= 1
    every = 1 + (top - bottom) // 6
    ticks = tuple(float(f"1e{e}") for e in range(top, bottom - 1, -every))[::-1]
    zero = len(positive) < len(known)
    return PlotAxis(10.0**bottom, 10.0**top, ticks, log=True, zero=zero)


def draw(across: PlotAxis, up: PlotAxis, *, shares: bool) -> Markup:
    """Draw the grid lines and tick labels of a plot.

    The labels are outside, on the left and below.
    """
    write = numbers.share_tick if shares else numbers.number
    parts = [_horizontal(1 - up.place(v), write(v)) for v in up.ticks]
    parts += [_vertical(across.place(v), write(v)) for v in across.ticks]
    if across.zero:
        parts.append(_vertical(0.0, "0"))
    return tag("g", *parts, class_="axes")


def _horizontal(y: float, label: str) -> Markup:
    at = percent(y)
    text = tag("text", label, y=at, dx="-8", dy="4", text_anchor="end")
    return tag("line", x2="100%", y1=at, y2=at) + text


def _vertical(x: float, label: str) -> Markup:
    at = percent(x)
    text = tag("text", label, x=at, y="100%", dy="18", text_anchor="middle")
    return tag("line", x1=at, x2=at, y2="100%") + text


def _round_step(rough: float) -> float:
    """Return the least of 1, 2, 5 times a power of ten that is at least `rough`."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
