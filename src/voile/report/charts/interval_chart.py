"""Draw policies as strips: the intervals into which a policy divides each ordered domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from markupsafe import Markup

from voile.report.charts import svg
from voile.report.charts.svg import percent, tag
from voile.report.sections import IntervalChart, Strip

_WIDE, _NARROW = 480.0, 200.0
_DRAWN_ONE_BY_ONE = 120


@dataclass(frozen=True)
class StripDrawing:
    """The intervals of one policy in one column: a picture, their number, and their labels."""

    policy: str
    picture: Markup
    count: int
    labels: tuple[str, ...]
    printed: bool


@dataclass(frozen=True)
class ColumnDrawing:
    """One column with a strip for each policy.

    `ends` labels both ends if no strip has room for it.
    """

    column: str
    strips: tuple[StripDrawing, ...]
    ends: Markup | None


def draw(chart: IntervalChart) -> tuple[ColumnDrawing, ...]:
    """Draw each column with one strip for each policy, in the order of the columns."""
    columns = dict.fromkeys(s.column for _, strips in chart.policies for s in strips)
    return tuple(_column(chart, column) for column in columns)


def _column(chart: IntervalChart, column: str) -> ColumnDrawing:
    cuts = [s for _, strips in chart.policies for s in strips if s.column == column]
    finest = max(cuts, key=lambda strip: len(strip.intervals))
    return ColumnDrawing(column, tuple(_strips(chart, column)), _ends(finest))


def _strips(chart: IntervalChart, column: str) -> Iterator[StripDrawing]:
    for rank, (policy, strips) in enumerate(chart.policies):
        for strip in strips:
            if strip.column == column:
                labels = tuple(label for label, _ in strip.intervals)
                yield StripDrawing(policy, _picture(strip), len(labels), labels, rank == 0)


def _picture(strip: Strip) -> Markup:
    total = sum(share for _, share in strip.intervals) or 1.0
    ends = list(accumulate((share / total for _, share in strip.intervals), initial=0.0))
    spans = list(pairwise(ends))
    labels = [label for label, _ in strip.intervals]
    many = len(spans) > _DRAWN_ONE_BY_ONE
    fills = _all_at_once(spans) if many else _one_by_one(spans, labels)
    texts = [_text(label, *span) for label, span in zip(labels, spans, strict=True)]
    return Markup("").join([fills, *texts])


def _all_at_once(spans: list[tuple[float, float]]) -> Markup:
    return svg.stretch_paths(
        svg.boxes(spans[::2], class_="even"), svg.boxes(spans[1::2], class_="odd")
    )


def _one_by_one(spans: list[tuple[float, float]], labels: list[str]) -> Markup:
    return Markup("").join(
        tag(
            "rect",
            tag("title", label),
            x=percent(left),
            width=percent(right - left),
            height="100%",
            class_=("even", "odd")[i % 2],
        )
        for i, (label, (left, right)) in enumerate(zip(labels, spans, strict=True))
    )


def _ends(strip: Strip) -> Markup | None:
    """Write the first and last interval under a strip that has no room for these labels."""
    if len(strip.intervals) < 2:
        return None
    first, last = strip.intervals[0][0], strip.intervals[-1][0]
    total = sum(share for _, share in strip.intervals) or 1.0
    edges = ((label, share / total) for label, share in (strip.intervals[0], strip.intervals[-1]))
    if all(_width(label) <= _WIDE * share for label, share in edges):
        return None
    if _width(first) + _width(last) > _NARROW:
        return None
    start = tag("text", first, x="0%", y=12, text_anchor="start")
    return start + tag("text", last, x="100%", y=12, text_anchor="end")


def _width(label: str) -> float:
    return svg.text_width(label) + 6


def _text(label: str, left: float, right: float) -> Markup:
    """Write a label if it fits: on any screen, on wide ones only, or not at all."""
    needed = _width(label)
    if needed > _WIDE * (right - left):
        return Markup("")
    wide = "wide" if needed > _NARROW * (right - left) else None
    at = percent((left + right) / 2)
    return tag("text", label, x=at, y="50%", dy=4, text_anchor="middle", class_=wide)
