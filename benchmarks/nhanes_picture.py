"""The paper's Figures 2 and 3 from ours: children before and after, by class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from benchmarks.picture import LEFT, TOP, legend, panel, save
from markupsafe import Markup

from voile.report.charts import axes
from voile.report.charts.axes import PlotAxis
from voile.report.charts.svg import tag

WIDTH, HEIGHT, GAP = 330, 300, 70
COLOURS = ("#a33c0b", "#98bcc5", "#5b3a8c", "#14586b")
ORDER = (1, 3, 2, 0)  # the commonest below, the rarest above
NAMES = ("underweight", "healthy", "overweight", "obese")


def draw(panels: Sequence[tuple[str, np.ndarray]], c: np.ndarray) -> None:
    """Write docs/pictures/nhanes.svg: (title, (n, 2) points) each, and classes 1 to 4."""
    parts: list[Markup] = []
    for i, (title, Z) in enumerate(panels):
        left = LEFT + (i % 2) * (WIDTH + GAP)
        down = (i // 2) * (HEIGHT + 110)
        drawn = panel(plot(Z, c), "weight", "BMI", left=left, width=WIDTH, height=HEIGHT)
        name = tag("text", title, x=left, y=TOP - 4, class_="named")
        parts.append(tag("g", drawn, name, transform=f"translate(0 {down})"))
    rows = -(-len(panels) // 2)
    bottom = rows * (HEIGHT + 110) + 20
    dots = [tag("circle", cx=14, cy=6, r=5, fill=colour) for colour in COLOURS]
    parts += legend(list(zip(NAMES, dots, strict=True)), bottom, columns=2)
    title = "Weight and BMI of children by class: as read, and as sent by three maps"
    save("nhanes", title, parts, LEFT + 2 * WIDTH + GAP + 30, bottom + 50)


def plot(Z: np.ndarray, c: np.ndarray) -> Markup:
    """Draw the middle 99.8% of each column; each class is one path of dots."""
    low, high = np.quantile(Z, [0.001, 0.999], axis=0)
    across, up = (axes.build_axis(ends) for ends in zip(low, high, strict=True))
    shown = ((low <= Z) & (high >= Z)).all(axis=1)
    dots = [
        tag(
            "path",
            d=path(Z[shown & (c == k + 1)], across, up),
            stroke=COLOURS[k],
            fill="none",
            stroke_width=3.2,
            stroke_linecap="round",
            stroke_opacity=0.75,
        )
        for k in ORDER
    ]
    return Markup("").join([axes.draw(across, up, shares=False), *dots])


def path(points: np.ndarray, across: PlotAxis, up: PlotAxis) -> str:
    return "".join(
        f"M{WIDTH * across.place(x):.0f} {HEIGHT * (1 - up.place(y)):.0f}h0"
        for x, y in points.tolist()
    )
