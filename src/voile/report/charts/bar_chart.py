"""Draw shares as bars in the rows of a table. The figure is text, and its interval a whisker."""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup

from voile.report.charts import axes, numbers
from voile.report.charts.axes import PlotAxis
from voile.report.charts.svg import percent, tag
from voile.report.sections import Bar, BarChart


@dataclass(frozen=True)
class BarDrawing:
    """One bar: its label, its picture, and its value and interval as text."""

    label: str
    picture: Markup
    value: str
    interval: str


@dataclass(frozen=True)
class BarsDrawing:
    """All bars on one axis from 0."""

    groups: tuple[tuple[str, tuple[BarDrawing, ...]], ...]
    axis: Markup


def draw(chart: BarChart) -> BarsDrawing:
    """Draw the bars of all groups on one linear axis from 0."""
    bars = [bar for _, group in chart.groups for bar in group]
    ends = [end for bar in bars for end in (bar.value, bar.high) if end is not None]
    axis = axes.linear([*ends, *[1.0] * chart.whole], target=4)
    groups = tuple(
        (name, tuple(_bar(bar, i, axis) for i, bar in enumerate(group)))
        for name, group in chart.groups
    )
    return BarsDrawing(groups, _ticks(axis))


def _bar(bar: Bar, rank: int, axis: PlotAxis) -> BarDrawing:
    known = not math.isnan(bar.value)
    parts = [_grid(axis)]
    if known:
        width = percent(axis.place(bar.value))
        parts.append(tag("rect", y=4, width=width, height=14, class_=f"bar bar-{rank % 4}"))
    interval = ""
    if bar.low is not None and bar.high is not None:
        interval = numbers.share_interval(bar.low, bar.high)
        parts.append(_whisker(axis.place(bar.low), axis.place(bar.high)))
    return BarDrawing(bar.label, Markup("").join(parts), numbers.share(bar.value), interval)


def _whisker(low: float, high: float) -> Markup:
    left, right = percent(low), percent(high)
    lines = (
        tag("line", x1=left, x2=right, y1=11, y2=11),
        tag("line", x1=left, x2=left, y1=7, y2=15),
        tag("line", x1=right, x2=right, y1=7, y2=15),
    )
    return tag("g", *lines, class_="halo") + tag("g", *lines, class_="whisker")


def _grid(axis: PlotAxis) -> Markup:
    places = [percent(axis.place(v)) for v in axis.ticks]
    return tag("g", *(tag("line", x1=x, x2=x, y2="100%") for x in places), class_="axes")


def _ticks(axis: PlotAxis) -> Markup:
    return tag(
        "g",
        *(
            tag("text", numbers.share_tick(v), x=percent(axis.place(v)), y=14, text_anchor="middle")
            for v in axis.ticks
        ),
        class_="axes",
    )
