"""Write SVG that stretches: positions are percentages of the plot, and sizes are pixels.

A drawing then fills any width, on a phone, a screen or paper. Its letters, points and lines keep
their size, without a script.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

Point = tuple[float, float]
_GRID = 10_000


def tag(name: str, *children: str | Markup, **attributes: str | float | None) -> Markup:
    """Write one element. ``class_`` becomes class, ``a_b`` becomes ``a-b``, and None is omitted.

    >>> tag("text", "a < b", class_="tick", text_anchor="end", dy=None)
    Markup('<text class="tick" text-anchor="end">a &lt; b</text>')
    """
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = Markup("").join(children)
    return Markup(f"<{name}{shown}>{inner}</{name}>" if inner else f"<{name}{shown}/>")


def percent(fraction: float) -> str:
    """Write a fraction of the plot's width or height as a percentage.

    >>> percent(0.5), percent(1 / 3)
    ('50%', '33.33%')
    """
    return f"{round(100 * fraction, 2):g}%"


def stretch_paths(*children: Markup) -> Markup:
    """Stretch paths drawn on the unit square to the plot. Lines keep their width."""
    return tag(
        "svg",
        *children,
        viewBox=f"0 0 {_GRID} {_GRID}",
        preserveAspectRatio="none",
        width="100%",
        height="100%",
    )


def path(points: Sequence[Point], *, closed: bool = False, class_: str) -> Markup:
    """Draw a line through points of the unit square, with y downwards, for `stretch_paths`."""
    return tag("path", d=outline(points, closed=closed), class_=class_)


def outline(points: Iterable[Point], *, closed: bool = False) -> str:
    """Write the data of an SVG path.

    >>> outline([(0, 0), (1, 0.5)], closed=True)
    'M0 0L10000 5000Z'
    """
    steps = (f"{round(_GRID * x)} {round(_GRID * y)}" for x, y in points)
    return "M" + "L".join(steps) + ("Z" if closed else "")


def boxes(spans: Iterable[tuple[float, float]], *, class_: str) -> Markup:
    """Draw full-height boxes, given as (left, right), as one path for `stretch_paths`."""
    data = "".join(outline([(a, 0), (b, 0), (b, 1), (a, 1)], closed=True) for a, b in spans)
    return tag("path", d=data, class_=class_)


def text_width(text: str) -> float:
    """Estimate the width of a chart's label in pixels. The estimate is rather too wide.

    >>> text_width("Safe Harbor")
    77.0
    """
    return 7.0 * len(text)
