from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.report.charts import axes, bar_chart, frontier_chart, interval_chart, line_chart
from voile.report.sections import (
    CHOSEN,
    Bar,
    BarChart,
    FrontierChart,
    IntervalChart,
    LineChart,
    Series,
    Strip,
)

SHARE = st.integers(0, 1000).map(lambda i: i / 1000)


def parsed(markup: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<svg>{markup}</svg>")


def chart(points: list[tuple[float, float]], *marks: tuple[str, float, float]) -> FrontierChart:
    return FrontierChart(
        risk=tuple(r for r, _ in points),
        loss=tuple(u for _, u in points),
        described=tuple(f"{r} {u}" for r, u in points),
        marks=marks,
        risk_name="risk",
        loss_name="loss",
    )


def stops(drawing: frontier_chart.FrontierDrawing) -> list[str]:
    """Return what the stops say, in the order that the keyboard walks them."""
    root = parsed(drawing.plots[0][1])
    found = [e for e in root.iter() if "stop" in (e.get("class") or "").split()]
    said = [e.findtext("title") or "" for e in found if e.get("data-at") is None]
    named = [e for e in found if e.get("data-at") is not None]
    for mark in sorted(named, key=lambda e: int(e.get("data-at") or 0)):
        said.insert(int(mark.get("data-at") or 0), mark.findtext("title") or "")
    return said


@given(st.lists(st.tuples(SHARE, SHARE), max_size=12), st.lists(SHARE, max_size=5))
def test_stops_come_in_order_of_risk_and_none_is_lost(
    points: list[tuple[float, float]], risks: list[float]
) -> None:
    marks = [(f"mark {i}", r, 0.5) for i, r in enumerate(risks)]
    said = stops(frontier_chart.draw(chart(points, *marks)))
    risk_of = {f"{r} {u}": r for r, u in points}
    risk_of |= {m.says: m.risk for m in frontier_chart.draw(chart(points, *marks)).marks}
    assert len(said) == len(points) + len(marks)
    assert [risk_of[s] for s in said] == sorted(risk_of[s] for s in said)
    assert sorted(said) == sorted(
        [f"{r} {u}" for r, u in points] + [s for s in risk_of if s.startswith("mark")]
    )


@given(st.dictionaries(SHARE, SHARE, min_size=1, max_size=12), SHARE)
def test_the_staircase_is_the_least_loss_within_a_risk(
    found: dict[float, float], risk: float
) -> None:
    points = [
        (r, u) for r, u in found.items() if not any(s < r and v <= u for s, v in found.items())
    ]
    drawing = frontier_chart.draw(chart([*points, (1.0, 0.0)]))
    root = parsed(drawing.plots[0][1])
    path = next(e for e in root.iter("path") if e.get("class") == "stairs").get("d") or ""
    corners = [tuple(map(int, c.split())) for c in re.split("[ML]", path) if c]
    reached = [y for x, y in corners if x <= 10_000 * risk + 0.5]
    within = [u for r, u in [*points, (1.0, 0.0)] if r <= risk]
    top = max(u for _, u in [*points, (1.0, 0.0)])
    if within and top:
        scale = axes.linear([top]).high
        assert max(reached) == pytest.approx(10_000 * (1 - min(within) / scale), abs=1)
    assert bool(reached) == bool(within)


def test_a_frontier_is_drawn_on_both_axes_with_one_path_and_light_points(
    frontier: Callable[..., FrontierChart],
) -> None:
    drawing = frontier_chart.draw(frontier(3000))
    assert [scale for scale, _ in drawing.plots] == ["linear", "log"]
    for _, plot in drawing.plots:
        assert plot.count('class="stairs"') == 1
        assert plot.count("<circle") == 3000
    assert len(drawing.plots[1][1]) < 100 * 3000


def test_marks_differ_by_shape(frontier: Callable[..., FrontierChart]) -> None:
    marks = frontier_chart.draw(frontier()).marks
    assert len({m.shape for m in marks}) == len(marks) == 3


@pytest.mark.parametrize("names", [["Safe Harbor", CHOSEN], [CHOSEN, "Safe Harbor"]])
def test_the_diamond_is_the_chosen_policy_and_no_other(names: list[str]) -> None:
    marks = frontier_chart.draw(chart([], *((name, 0.5, 0.5) for name in names))).marks
    assert {mark.name for mark in marks if mark.kind == 0} == {CHOSEN}


def test_a_frontier_of_nothing_says_so() -> None:
    drawing = frontier_chart.draw(chart([]))
    assert drawing.summary == "No policy to show."
    assert "stairs" not in drawing.plots[0][1]


@pytest.mark.parametrize(
    ("policies", "shown"),
    [
        ([], []),
        ([(0.0005, 1.0), (0.07, 0.5), (0.3, 0.21)], [(0.1, 0.5), (0.5, 0.25)]),
        ([(0.0005, 1.0), (0.07, 0.989)], [(0.001, 1.0)]),
        ([(0.07, 0.989)], [(0.1, 1.0)]),
    ],
)
def test_the_public_sees_each_frontier_that_there_is(
    policies: list[tuple[float, float]], shown: list[tuple[float, float]]
) -> None:
    public = frontier_chart.coarse(chart(policies))
    assert list(zip(public.risk, public.loss, strict=True)) == shown
    assert (frontier_chart.draw(public).summary == "No policy to show.") == (not policies)


def test_a_risk_of_zero_stands_apart_on_the_log_axis() -> None:
    plot = frontier_chart.draw(chart([(0.0, 1.0), (0.001, 0.5), (1.0, 0.0)])).plots[1][1]
    texts = [e.text for e in parsed(plot).iter("text")]
    assert texts[-4:] == ["1%", "10%", "100%", "0"]


def test_labels_that_would_collide_are_left_to_the_legend() -> None:
    crowd = [(f"policy number {i}", 0.5, 0.5) for i in range(12)]
    drawing = frontier_chart.draw(chart([(0.1, 0.9), (0.9, 0.1)], *crowd))
    labels = [t for t in drawing.plots[0][1].split("<text")[1:] if "policy number" in t]
    assert len(labels) < 12
    assert len(drawing.marks) == 12


@pytest.mark.parametrize(("risk", "loss"), [(0.64, 0.58), (0.5, 0.5), (0.3, 0.72)])
def test_a_label_stands_off_the_curve(risk: float, loss: float) -> None:
    stairs = [(0.0, 0.1), (0.2, 0.1), (0.2, 0.45), (0.62, 0.45), (0.62, 0.8), (1.0, 0.8)]
    marks = frontier_chart.draw(chart([(0.1, 0.9)], ("Safe Harbor", risk, loss))).marks
    (side,) = frontier_chart._sides(marks, [(risk, 1 - loss)], stairs)
    assert side is not None
    assert not frontier_chart._covers("Safe Harbor", side, (risk, 1 - loss), stairs)


def test_six_hundred_intervals_are_not_six_hundred_labels(
    policies: Callable[..., IntervalChart],
) -> None:
    column = interval_chart.draw(policies(600))[3]
    strip = column.strips[0]
    assert strip.count == len(strip.labels) == 600
    assert strip.picture.count("<path") == 2
    assert "<text" not in strip.picture
    assert column.ends is not None
    assert [t.text for t in parsed(column.ends).iter("text")] == [strip.labels[0], strip.labels[-1]]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_a_strip_is_filled_from_end_to_end(weights: list[int]) -> None:
    total = sum(weights)
    strip = Strip("age", tuple((str(i), w / total) for i, w in enumerate(weights)))
    drawn = interval_chart.draw(IntervalChart((("one", (strip,)),)))[0].strips[0]
    boxes = [(e.get("x"), e.get("width")) for e in parsed(drawn.picture).iter("rect")]
    widths = [float((w or "").rstrip("%")) for _, w in boxes]
    assert len(boxes) == len(weights)
    assert widths == pytest.approx([100 * w / total for w in weights], abs=0.006)


def test_columns_are_compared_across_policies_whatever_their_order() -> None:
    age = Strip("age", (("0–44", 0.5), ("45+", 0.5)))
    sex = Strip("sex", (("F–M", 1.0),))
    columns = interval_chart.draw(IntervalChart((("a", (age, sex)), ("b", (sex, age)))))
    assert [(c.column, [s.policy for s in c.strips]) for c in columns] == [
        ("age", ["a", "b"]),
        ("sex", ["a", "b"]),
    ]
    assert [s.printed for s in columns[0].strips] == [True, False]


def test_bars_carry_their_value_and_interval_as_text() -> None:
    bars = bar_chart.draw(BarChart((("risk", (Bar("now", 0.02, 0.01, 0.04),)),), "share"))
    (bar,) = bars.groups[0][1]
    assert (bar.value, bar.interval) == ("2.0%", "1.0–4.0%")
    rect = next(parsed(bar.picture).iter("rect"))
    assert rect.get("width") == "50%"


def test_an_unknown_bar_is_not_drawn_as_none() -> None:
    bars = bar_chart.draw(BarChart((("risk", (Bar("now", math.nan),)),), "share"))
    (bar,) = bars.groups[0][1]
    assert bar.value == "–"
    assert "<rect" not in bar.picture


def test_a_line_breaks_where_a_value_is_unknown() -> None:
    y = (0.1, 0.2, math.nan, 0.3, 0.4)
    series = Series("s", (0.0, 1.0, 2.0, 3.0, 4.0), y, low=y, high=y)
    drawing = line_chart.draw(LineChart((series,), "x", "y"))
    assert drawing.plot.count('class="line line-0"') == 2
    assert drawing.plot.count('class="band band-0"') == 2
    assert "nan" not in drawing.plot
    assert drawing.table.rows[2] == ("s", "2", "–", "–")


def test_a_long_line_shows_a_dozen_figures_with_both_ends() -> None:
    x = tuple(float(i) for i in range(1000))
    rows = line_chart.draw(LineChart((Series("s", x, x),), "x", "y")).table.rows
    assert len(rows) == 12
    assert (rows[0][1], rows[-1][1]) == ("0", "999")


@pytest.mark.parametrize("n", [0, 1])
def test_a_line_of_no_or_one_point_is_drawn(n: int) -> None:
    drawing = line_chart.draw(LineChart((Series("s", (2.0,) * n, (0.5,) * n),), "x", "y"))
    assert len(drawing.table.rows) == n


def test_what_is_proved_is_drawn_inside_the_plot_and_below_the_policies() -> None:
    points = [(0.01, 0.8), (0.2, 0.4), (1.0, 0.0)]
    floor = ((0.0, 1.0), (0.01, 0.7), (0.2, 0.3), (1.0, 0.0))
    for _, plot in frontier_chart.draw(replace(chart(points), floor=floor)).plots:
        lines = {e.get("class"): e.get("d") or "" for e in parsed(plot).iter("path")}
        corners = {
            name: [(int(x), int(y)) for x, y in re.findall(r"(\d+) (\d+)", lines[name])]
            for name in ("stairs", "floor")
        }
        assert len(corners["floor"]) == 3  # a loss of 1 is off the chart
        stairs = {x: max(y for at, y in corners["stairs"] if at == x) for x, _ in corners["stairs"]}
        for x, y in corners["floor"]:
            assert y >= stairs[x]  # further down
    assert "floor" not in str(frontier_chart.draw(chart(points)).plots)
