"""Pictures of their own for docs/, from the charts of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from voile.report.charts import interval_chart, line_chart, svg
from voile.report.charts.svg import tag
from voile.report.sections import IntervalChart, LineChart

DOCS = Path(__file__).resolve().parents[1] / "docs" / "pictures"
LEFT, TOP, GAP, ROW = 70, 50, 90, 430
STYLE = """
text { font: 13px Helvetica, Arial, sans-serif; fill: #1c2429 }
.axes line { stroke: #d9d6cd } .axes text, .soft { fill: #555f66 }
.line { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; stroke-linejoin: round }
.band { opacity: .16 }
.line-0 { stroke: #14586b } .line-1 { stroke: #a33c0b; stroke-dasharray: 7 4 }
.line-2 { stroke: #5b3a8c; stroke-dasharray: 2 3 }
.line-3 { stroke: #2d6a2f; stroke-dasharray: 9 3 2 3 }
.band-0 { fill: #14586b } .band-1 { fill: #a33c0b }
.band-2 { fill: #5b3a8c } .band-3 { fill: #2d6a2f }
.dot { fill-opacity: .8 } .dot-0 { fill: #14586b } .dot-1 { fill: #a33c0b }
.dot-2 { fill: #5b3a8c } .dot-3 { fill: #2d6a2f }
.mark { fill: #1c2429; stroke: #fcfbf8; stroke-width: 1.5 } .named { font-weight: bold }
.mark-0 { fill: #a33c0b } .mark-1 { fill: #5b3a8c } .stop { fill: #14586b }
.under { fill: #14586b; fill-opacity: .08 }
.stairs { fill: none; stroke: #14586b; stroke-width: 2; vector-effect: non-scaling-stroke }
.even { fill: #e3edef } .odd { fill: #98bcc5 } .strip text { font-size: 11px }
"""


def save(name: str, title: str, parts: Sequence[Markup], width: int, height: int) -> None:
    """Write docs/pictures/NAME.svg."""
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    paper = tag("rect", width=width, height=height, fill="#fcfbf8")
    drawing = tag(
        "svg",
        tag("title", title),
        tag("style", STYLE),
        paper,
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        **size,
    )
    DOCS.mkdir(parents=True, exist_ok=True)
    (DOCS / f"{name}.svg").write_text(drawing + "\n", encoding="utf-8")


def panel(
    plot: Markup, x_name: str, y_name: str, *, left: int = LEFT, width: int, height: int = 320
) -> Markup:
    """Place a plot with the names of its axes; `left` and `width` are the plot's own, in pixels."""
    bounds = {"x": left, "y": TOP, "width": width, "height": height, "overflow": "visible"}
    return Markup("").join(
        [
            tag("text", f"↑ {y_name}", x=left - 50, y=TOP - 22, class_="soft"),
            tag("svg", plot, **bounds),
            tag(
                "text",
                f"{x_name} →",
                x=left + width,
                y=TOP + height + 42,
                text_anchor="end",
                class_="soft",
            ),
        ]
    )


def legend(entries: Sequence[tuple[str, Markup]], y: int, columns: int = 2) -> Iterator[Markup]:
    """Place names beside their swatches, in rows."""
    for i, (name, swatch) in enumerate(entries):
        x, down = LEFT + 340 * (i % columns), y + 22 * (i // columns)
        yield tag("svg", swatch, x=x, y=down - 10, width=28, height=12)
        yield tag("text", name, x=x + 38, y=down)


def save_lines(name: str, title: str, charts: Sequence[LineChart]) -> None:
    """Write charts of the same lines, two in a row, with one legend."""
    across = min(len(charts), 2)
    width = (790 - LEFT - 30 - GAP * (across - 1)) // across
    drawn = [line_chart.draw(chart) for chart in charts]
    panels = []
    for i, (chart, drawing) in enumerate(zip(charts, drawn, strict=True)):
        left = LEFT + i % across * (width + GAP)
        one = panel(drawing.plot, chart.x_name, chart.y_name, left=left, width=width)
        panels.append(tag("g", one, transform=f"translate(0 {ROW * (i // across)})"))
    names, down = drawn[0].legend, 450 + ROW * ((len(charts) - 1) // across)
    height = down + 22 * ((len(names) + 1) // 2)
    save(name, title, [*panels, *legend(names, down)], 790, height)


def save_intervals(name: str, chart: IntervalChart) -> None:
    """Write each column as every policy cuts it, strip under strip."""
    parts, y = [], 20
    longest = max(svg.text_width(policy) for policy, _ in chart.policies)
    left = 30 + int(longest)
    for column in interval_chart.draw(chart):
        parts.append(tag("text", column.column, x=20, y=y + 14, class_="named"))
        y += 24
        for strip in column.strips:
            count = f"{strip.count:,} interval{'s' if strip.count > 1 else ''}"
            bounds = {"x": left, "y": y, "width": 480, "height": 20}
            parts.append(tag("text", strip.policy, x=20, y=y + 15))
            parts.append(tag("svg", strip.picture, class_="strip", **bounds))
            parts.append(tag("text", count, x=left + 490, y=y + 15, class_="soft"))
            y += 24
        if column.ends:
            parts.append(tag("svg", column.ends, x=left, y=y, width=480, height=16, class_="strip"))
            y += 18
        y += 14
    save(name, chart.caption, parts, left + 600, y)
