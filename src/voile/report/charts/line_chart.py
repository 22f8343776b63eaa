"""Draw lines over a common x, each with its band. Lines differ in dashes as well as in colour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from voile.report.charts import axes, numbers, svg
from voile.report.charts.svg import tag
from voile.report.sections import Grid, LineChart, Series

_SHOWN_IN_TABLE = 12


@dataclass(frozen=True)
class LinesDrawing:
    """The plot, its summary, its legend as (name, swatch) pairs, and its figures as a table."""

    plot: Markup
    summary: str
    legend: tuple[tuple[str, Markup], ...]
    table: Grid


def draw(chart: LineChart) -> LinesDrawing:
    """Draw the lines on linear axes. The x axis spans the data, and the y axis starts at 0."""
    heights = [v for s in chart.series for v in (*s.y, *s.low, *s.high)]
    across, up = axes.build_axis([x for s in chart.series for x in s.x]), axes.linear(heights)
    bands, lines = [], []
    for i, series in enumerate(chart.series):
        xs = [across.place(x) for x in series.x]
        ys, low, high = ([1 - up.place(v) for v in s] for s in (series.y, series.low, series.high))
        lines += [_line(xs, ys, run, i % 4) for run in _split_runs(ys)]
        if low and high:
            bands += [_band(xs, low, high, run, i % 4) for run in _split_runs(low, high)]
    grid = axes.draw(across, up, shares=False)
    legend = tuple((s.name, _swatch(i % 4)) for i, s in enumerate(chart.series))
    summary = f"{chart.y_name} against {chart.x_name}"
    table = Grid(
        columns=("line", chart.x_name, chart.y_name, "interval"),
        rows=tuple(row for s in chart.series for row in _rows(s)),
        caption=summary,
        numeric=(1, 2, 3),
    )
    return LinesDrawing(grid + svg.stretch_paths(*bands, *lines), summary, legend, table)


def _split_runs(*values: Sequence[float]) -> list[list[int]]:
    """Return runs of consecutive positions without an unknown value (NaN).

    Lines break between runs.
    """
    runs: list[list[int]] = [[]]
    for i, at in enumerate(zip(*values, strict=True)):
        if any(math.isnan(v) for v in at):
            runs.append([])
        else:
            runs[-1].append(i)
    return [run for run in runs if run]


def _line(xs: Sequence[float], ys: Sequence[float], run: Sequence[int], kind: int) -> Markup:
    return svg.path([(xs[i], ys[i]) for i in run], class_=f"line line-{kind}")


def _band(
    xs: Sequence[float], low: Sequence[float], high: Sequence[float], run: Sequence[int], kind: int
) -> Markup:
    around = [(xs[i], low[i]) for i in run] + [(xs[i], high[i]) for i in reversed(run)]
    return svg.path(around, closed=True, class_=f"band band-{kind}")


def _swatch(kind: int) -> Markup:
    line = tag("path", d="M0 6H28", class_=f"line line-{kind}")
    attributes = {"aria_hidden": "true"}
    return tag("svg", line, width=28, height=12, **attributes)


def _rows(series: Series) -> list[tuple[str, str, str, str]]:
    """Return at most a dozen evenly spaced points of a line, including its ends."""
    last = len(series.x) - 1
    steps = min(last, _SHOWN_IN_TABLE - 1)
    at = [round(i * last / steps) for i in range(steps + 1)] if steps > 0 else range(last + 1)
    banded = bool(series.low and series.high)
    return [
        (
            series.name,
            numbers.number(series.x[i]),
            numbers.number(series.y[i]),
            numbers.number_interval(series.low[i], series.high[i]) if banded else "",
        )
        for i in at
    ]
