"""The pictures of the experiments on text, drawn from the tables of their page.

`python -m benchmarks.documents_pictures` draws them anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks import picture
from benchmarks.documents_attack import BUDGETS
from benchmarks.documents_runs import DEFAULT, PAPERS

from voile.report.sections import LineChart, Series

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "papers_text.md"
COSTS = (1, 5, 10, 20)
CURVES = (5, 10)
"""The L/C of Figures 6 and 7, and both of Figure 4."""
PAPERS_LOOP = "loop in sample, selection"
ONE_PASS = "one pass: "


def shown(method: str) -> str:
    """Return what the page calls a method."""
    return method.replace("loop in sample", "GreedySanitize")


LOOPS = {
    DEFAULT: "voile's default",
    shown(PAPERS_LOOP): "GreedySanitize",
    ONE_PASS: "one pass of the best by accuracy",
}
RIVALS = {
    DEFAULT: "voile's default",
    shown(PAPERS_LOOP): "GreedySanitize",
    "crf, cost-sensitive": "CRF, cost-sensitive",
    "svm, cost-sensitive": "SVM, cost-sensitive",
}
SPACES = {f"GreedySanitize, {name}": name for name in PAPERS}

Panels = Mapping[str, Mapping[str, list[str]]]
"""The cells of each method, of each corpus."""


def draw() -> None:
    """Write docs/pictures/documents_*.svg."""
    page = PAGE.read_text(encoding="utf-8")
    tp = table(page, "## Figure 3(b):")
    save("documents_tp", "TP_A against L/C", COSTS, "L/C", "TP_A", tp, LOOPS, before(" of "))
    ratios = table(page, "## Figure 5:")
    name, title = "documents_published", "Publish ratio against L/C"
    save(name, title, COSTS, "L/C", "published", ratios, RIVALS, float)
    for name, title, heading, methods in (
        ("documents_found", "Found / B against B, L/C = 10", "## Figure 4:", RIVALS),
        ("documents_spaces", "Found / B against B, L/C = 10", "### Figure 7:", SPACES),
    ):
        below = page.partition(heading)[2].partition("L/C = 10")[2]
        panels = {
            of: {m: cells[1:] for m, cells in own.items()} for of, own in _read(below).items()
        }
        save(name, title, BUDGETS, "B", "found / B", panels, methods, float)


def curve_of(found: Sequence[float]) -> list[str]:
    """Return the share of each B that is found, as a cell."""
    return [f"{one / budget:.3f}" for one, budget in zip(found, BUDGETS, strict=True)]


def table(page: str, heading: str) -> Panels:
    """Read the first table below a heading: corpus, method, and a cell for each L/C."""
    return _read(page.partition(heading)[2])


def _read(below: str) -> Panels:
    lines = below.partition("\n| --- |")[2].split("\n")[1:]
    panels: dict[str, dict[str, list[str]]] = {}
    for line in lines[: lines.index("")]:
        corpus, method, *cells = line.strip("| ").split(" | ")
        name = ONE_PASS if method.startswith(ONE_PASS) else method
        panels.setdefault(corpus, {})[name] = cells
    return panels


def before(sign: str) -> Callable[[str], float]:
    """Read the number before a sign."""
    return lambda cell: float(cell.partition(sign)[0].replace(",", ""))


def save(
    file: str,
    title: str,
    x: Sequence[int],
    x_name: str,
    y: str,
    panels: Panels,
    methods: Mapping[str, str],
    number: Callable[[str], float],
) -> None:
    """Draw one panel for each corpus, with the same lines."""
    charts = [
        LineChart(
            tuple(
                Series(called, tuple(map(float, x)), tuple(map(number, panel[method])))
                for method, called in methods.items()
            ),
            x_name,
            f"{y}, {name}",
            audience="public",
        )
        for name, panel in panels.items()
    ]
    picture.save_lines(file, title, charts)


if __name__ == "__main__":
    draw()
