"""Draw the frontier as a staircase of policies, with named marks of different shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, floor, inf
from typing import Any

from markupsafe import Markup

from voile.core.rounding import coarse as to_two_digits
from voile.report.charts import axes, numbers, svg
from voile.report.charts.axes import PlotAxis
from voile.report.charts.svg import Point, percent, tag
from voile.report.sections import CHOSEN, Detail, FrontierChart

LEVELS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
"""The risk levels at which the public sees a frontier, in decreasing order."""
STEPS = 20
"""The number of loss steps in public. With so few steps, one person does not change a step."""

_SHAPES = (
    "M0-8L8 0L0 8L-8 0Z",  # diamond
    "M-6-6H6V6H-6Z",  # square
    "M0-8L8 6H-8Z",  # triangle
    "M-2-8H2V-2H8V2H2V8H-2V2H-8V-2H-2Z",  # plus
    "M0 8L8-6H-8Z",  # triangle, upside down
)
_NARROW, _WIDE = (280.0, 320.0), (760.0, 320.0)


@dataclass(frozen=True)
class PolicyMark:
    """A named policy on the chart.

    Parameters
    ----------
    name : the name of the policy.
    risk, loss : its coordinates.
    shape : SVG path data about (0, 0).
    kind : the number of its shape, for the style.
    at : its position among all keyboard stops of the chart.
    risk_name, loss_name : the names of the axes.
    """

    name: str
    risk: float
    loss: float
    shape: str
    kind: int
    at: int
    risk_name: str
    loss_name: str

    @property
    def says(self) -> str:
        risk, loss = numbers.share(self.risk), numbers.share(self.loss)
        return f"{self.name}: {self.risk_name} {risk}, {self.loss_name} {loss}"

    @property
    def symbol(self) -> Markup:
        path = tag("path", d=self.shape, class_=f"mark mark-{self.kind}")
        attributes = {"aria_hidden": "true"}
        return tag("svg", path, viewBox="-10 -10 20 20", width=16, height=16, **attributes)


@dataclass(frozen=True)
class FrontierDrawing:
    marks: tuple[PolicyMark, ...]
    summary: str
    plots: tuple[tuple[str, Markup], ...]
    details: Mapping[str, Any]


def draw(chart: FrontierChart) -> FrontierDrawing:
    """Draw a frontier on a linear and on a log10 risk axis, in O(n log n) for n policies.

    The points are in increasing order of risk. Only the linear plot contains the descriptions, so
    that the page has them once.
    """
    order = sorted(range(len(chart.risk)), key=lambda i: (chart.risk[i], -chart.loss[i]))
    points = [(chart.risk[i], chart.loss[i]) for i in order]
    titles = [chart.described[i] for i in order]
    marks = _marks(chart, [risk for risk, _ in points])
    risks = [risk for risk, _ in points] + [m.risk for m in marks]
    up = axes.linear([loss for _, loss in points] + [m.loss for m in marks])
    linear = _plot(points, titles, marks, chart.floor, axes.linear(risks), up)
    log = _plot(points, None, marks, chart.floor, axes.log10(risks), up)
    details = chart.details and [*(chart.details[i] for i in order), *chart.details[len(order) :]]
    plots = (("linear", linear), ("log", log))
    return FrontierDrawing(marks, _summary(points, chart), plots, _pool_details(details))


def _pool_details(details: Sequence[Detail]) -> dict[str, Any]:
    """Return the details in the page's form, with values of several policies stored once."""
    names, intervals, strips = _NumberPool(), _NumberPool(), _NumberPool()

    def cut(column: str, parts: Sequence[tuple[str, float]]) -> int:
        places = (intervals((label, round(share, 4))) for label, share in parts)
        return strips((column, tuple(places)))

    stops = [
        (
            [(names(name), value) for name, value in one.facts],
            [cut(strip.column, strip.intervals) for strip in one.strips],
        )
        for one in details
    ]
    pools = {"names": names, "intervals": intervals, "strips": strips}
    return {"stops": stops, **{name: list(pool) for name, pool in pools.items()}} if stops else {}


class _NumberPool(dict[Any, int]):
    """A dictionary that numbers distinct values in order of their first occurrence."""

    def __call__(self, thing: Any) -> int:
        return self.setdefault(thing, len(self))


def coarse(chart: FrontierChart) -> FrontierChart:
    """Return the public view of a frontier: the least loss at a few levels of risk.

    An adversary who knows all rows but one could find the last row from the exact positions of
    hundreds of policies. So the loss at a level is rounded up to steps of 5%, and its proved bound
    is rounded down. Levels with total loss are left out, unless there is no other level. Only the
    marks keep the details of their policies.
    """
    policies = list(zip(chart.risk, chart.loss, strict=True))
    shown: list[Point] = []
    for level in LEVELS[::-1]:
        within = [loss for risk, loss in policies if risk <= level]
        if within and (loss := _step(min(within), ceil)) < (shown[-1][1] if shown else inf):
            shown.append((level, loss))
    shown = [stop for stop in shown if stop[1] < 1.0] or shown
    risk_name, loss_name = chart.risk_name, chart.loss_name
    return replace(
        chart,
        risk=tuple(level for level, _ in shown),
        loss=tuple(loss for _, loss in shown),
        described=tuple(
            f"{risk_name} {numbers.share(level)} or less: {loss_name} {numbers.share(loss)} at most"
            for level, loss in shown
        ),
        details=chart.details and (*(Detail() for _ in shown), *chart.details[len(policies) :]),
        marks=to_two_digits(chart.marks),
        floor=tuple(_list_proved(chart.floor)),
        caption="Lowest loss of the policies found at selected levels of risk, rounded up to steps "
        "of 5%.",
    )


def _list_proved(line: Sequence[Point]) -> Iterator[Point]:
    """Yield each level, lowest first, with the proved bound at the next greater risk."""
    for level in LEVELS[::-1]:
        proved = [loss for risk, loss in line if risk >= level]
        if proved:
            yield level, _step(proved[0], floor)


def _step(loss: float, towards: Callable[[float], int]) -> float:
    return towards(round(loss * STEPS, 9)) / STEPS


def _summary(points: Sequence[tuple[float, float]], chart: FrontierChart) -> str:
    if not points:
        return "No policy to show."
    (low_risk, high_loss), (high_risk, low_loss) = points[0], points[-1]
    return (
        f"{len(points):,} drawn, from {chart.risk_name} {numbers.share(low_risk)} with "
        f"{chart.loss_name} {numbers.share(high_loss)} to {chart.risk_name} "
        f"{numbers.share(high_risk)} with {chart.loss_name} {numbers.share(low_loss)}."
    )


def _marks(chart: FrontierChart, risks: Sequence[float]) -> tuple[PolicyMark, ...]:
    """Place each mark among the points by its risk, counting the marks before it."""
    ranked = sorted(range(len(chart.marks)), key=lambda i: chart.marks[i][1])
    before = {i: sum(r < chart.marks[i][1] for r in risks) + n for n, i in enumerate(ranked)}
    others = [name for name, *_ in chart.marks if name != CHOSEN]
    kinds = {CHOSEN: 0} | {
        name: 1 + i % (len(_SHAPES) - 1) for i, name in enumerate(dict.fromkeys(others))
    }
    return tuple(
        PolicyMark(
            name,
            risk,
            loss,
            _SHAPES[kinds[name]],
            kinds[name],
            before[i],
            chart.risk_name,
            chart.loss_name,
        )
        for i, (name, risk, loss) in enumerate(chart.marks)
    )


def _plot(
    points: Sequence[tuple[float, float]],
    titles: Sequence[str] | None,
    marks: Sequence[PolicyMark],
    floor: Sequence[tuple[float, float]],
    across: PlotAxis,
    up: PlotAxis,
) -> Markup:
    placed = [(across.place(risk), 1 - up.place(loss)) for risk, loss in points]
    parts = [axes.draw(across, up, shares=True)]
    stairs = list(_staircase(placed))
    if placed:
        area = [*stairs, (stairs[-1][0], 1.0), (stairs[0][0], 1.0)]
        under = svg.path(area, closed=True, class_="under")
        parts.append(svg.stretch_paths(under, svg.path(stairs, class_="stairs")))
    shown = [(r, x) for r, x in floor if across.low <= r <= across.high and x <= up.high]
    if shown:
        line = [(across.place(risk), 1 - up.place(loss)) for risk, loss in shown]
        parts.append(svg.stretch_paths(svg.path(line, class_="floor")))
    parts += [_point(p, titles[i] if titles else None) for i, p in enumerate(placed)]
    spots = [(across.place(m.risk), 1 - up.place(m.loss)) for m in marks]
    for mark, spot, side in zip(marks, spots, _sides(marks, spots, stairs), strict=True):
        parts.append(_mark(mark, spot, side, titled=titles is not None))
    return Markup("").join(parts)


def _staircase(placed: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield the corners of the staircase. A policy's loss applies until the next policy's risk."""
    for i, (x, y) in enumerate(placed):
        if i:
            yield x, placed[i - 1][1]
        yield x, y


def _point(place: tuple[float, float], title: str | None) -> Markup:
    says = [] if title is None else [tag("title", title)]
    x, y = place
    return tag("circle", *says, class_="stop", cx=percent(x), cy=percent(y), r=2.5)


def _mark(mark: PolicyMark, spot: tuple[float, float], side: str | None, *, titled: bool) -> Markup:
    says = [tag("title", mark.says)] if titled else []
    shape = tag("path", d=mark.shape, class_=f"mark mark-{mark.kind}")
    label = [] if side is None else [_label(mark.name, side)]
    return tag(
        "svg",
        *says,
        shape,
        *label,
        class_="stop named",
        x=percent(spot[0]),
        y=percent(spot[1]),
        overflow="visible",
        data_at=mark.at,
    )


_SIDES = {  # possible positions of a label: (text-anchor, x, y of its baseline)
    "right above": ("start", 11, -8),
    "left below": ("end", -11, 18),
    "right": ("start", 13, 4),
    "left": ("end", -13, 4),
    "right below": ("start", 11, 18),
    "left above": ("end", -11, -8),
    "above": ("middle", 0, -14),
    "below": ("middle", 0, 24),
}


def _label(name: str, side: str) -> Markup:
    anchor, x, y = _SIDES[side]
    return tag("text", name, x=x, y=y, text_anchor=anchor)


def _sides(
    marks: Sequence[PolicyMark], spots: Sequence[Point], stairs: Sequence[Point]
) -> list[str | None]:
    """Choose the position of each label so that none covers another on the narrowest plot.

    Positions off the curve are preferred. A label without a free position appears only in the
    legend.
    """
    width, height = _NARROW
    centres = [(width * x, height * y) for x, y in spots]
    taken = [(x - 9, y - 9, x + 9, y + 9) for x, y in centres]
    chosen: list[str | None] = []
    for i, (mark, (x, y)) in enumerate(zip(marks, centres, strict=True)):
        others = taken[:i] + taken[i + 1 :]
        boxes = {side: _box(mark.name, x, y, side) for side in _SIDES}
        free = [s for s, b in boxes.items() if _inside(b) and not any(_meet(b, o) for o in others)]
        off = (side for side in free if not _covers(mark.name, side, spots[i], stairs))
        side = next(off, next(iter(free), None))
        chosen.append(side)
        if side:
            taken.append(boxes[side])
    return chosen


def _covers(name: str, side: str, spot: Point, stairs: Sequence[Point]) -> bool:
    """Return whether a label is on the curve, on the narrowest plot or on a wide one."""
    for width, height in (_NARROW, _WIDE):
        box = _box(name, width * spot[0], height * spot[1], side)
        corners = [(width * x, height * y) for x, y in stairs]
        for (a, b), (c, d) in pairwise(corners):
            if _meet(box, (min(a, c), min(b, d), max(a, c), max(b, d))):
                return True
    return False


_Box = tuple[float, float, float, float]


def _box(name: str, x: float, y: float, side: str) -> _Box:
    anchor, dx, dy = _SIDES[side]
    width = svg.text_width(name)
    left = x + dx - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, y + dy - 13, left + width, y + dy + 4


def _inside(box: _Box) -> bool:
    left, top, right, bottom = box
    return left >= 0 and top >= -4 and right <= _NARROW[0] + 8 and bottom <= _NARROW[1]


def _meet(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
