"""Draw a kit's frontier as a picture of its own: frontier_picture.py KIT OUT.svg."""

import re
import sys
from pathlib import Path

from voile.modules import find_module
from voile.release.kit import StoredKit
from voile.report.charts import frontier_chart
from voile.report.charts.svg import tag
from voile.report.sections import FrontierChart

WIDTH, HEIGHT = 760, 460
PLOT = {"x": 70, "y": 50, "width": 650, "height": 340, "overflow": "visible"}
STYLE = """
text { font: 13px Helvetica, Arial, sans-serif; fill: #1c2429 }
.axes line { stroke: #d9d6cd } .axes text { fill: #555f66 }
.under { fill: #14586b; fill-opacity: .08 }
.stairs { fill: none; stroke: #14586b; stroke-width: 2; vector-effect: non-scaling-stroke }
.stop { fill: #14586b } .named text { font-weight: bold }
.mark { stroke: #fcfbf8; stroke-width: 1.5 } .mark-0 { fill: #a33c0b } .mark-1 { fill: #5b3a8c }
"""


def picture(chart: FrontierChart) -> str:
    """Return a standalone SVG of the frontier on a logarithmic risk axis."""
    plot = dict(frontier_chart.draw(chart).plots)["log"]
    size = {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "width": WIDTH, "height": HEIGHT}
    across = f"{chart.risk_name}, logarithmic →"
    drawing = tag(
        "svg",
        tag("title", chart.caption),
        tag("style", STYLE),
        tag("rect", width=WIDTH, height=HEIGHT, fill="#fcfbf8"),
        tag("text", f"↑ {chart.loss_name}", x=20, y=28),
        tag("svg", plot, **PLOT),
        tag("text", across, x=720, y=440, text_anchor="end"),
        xmlns="http://www.w3.org/2000/svg",
        **size,
    )
    return re.sub(r' data-at="\d+"', "", drawing)


def main(kit: str, out: str) -> None:
    """Read the kit, find its frontier in the public report, and draw it."""
    opened = StoredKit.load(Path(kit))
    sections = find_module(opened.kind).report(opened, (), audience="public")
    blocks = [block for section in sections for block in section.blocks]
    chart = next(block for block in blocks if isinstance(block, FrontierChart))
    Path(out).write_text(picture(chart), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
