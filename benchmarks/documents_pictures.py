"""The pictures of the experiments on text, drawn from the tables of their page.

`python -m benchmarks.documents_pictures` draws them anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks import picture
from benchmarks.documents_runs import DEFAULT, MISS_COSTS, PAPERS

from voile.report.sections import LineChart, Series

PAGE = Path(__file__).resolve().parents[1] / "docs" / "experiments-documents.md"
ONE_PASS = "one pass: "
LOOPS = {
    DEFAULT: DEFAULT,
    "loop in sample, selection": "the paper's, in sample",
    "loop across, selection": "the paper's, across folds",
    ONE_PASS: "one pass of the best by accuracy",
}
RIVALS = (DEFAULT, *(f"{name}, cost-sensitive" for name in ("crf", "svm", "ensemble")))

Panels = Mapping[str, Mapping[str, list[str]]]
"""The cells of each method, of each corpus."""


def draw() -> None:
    """Write docs/pictures/documents_*.svg."""
    page = PAGE.read_text(encoding="utf-8")
    tp, published, spaces = (
        table(page, title) for title in ("Figure 3:", "Figure 5:", "Figures 6 and 7:")
    )
    save("documents_tp", "TP_A against L/C", "TP_A", tp, LOOPS, before(" of "))
    save(
        "documents_published",
        "Publish ratio against L/C",
        "published",
        published,
        {name: name for name in RIVALS},
        float,
    )
    save(
        "documents_spaces",
        "Identifiers left against L/C",
        "% left",
        spaces,
        {name: f"loop across, {name}" for name in PAPERS},
        before("%"),
    )


def table(page: str, title: str) -> Panels:
    """Read the first table below a heading: corpus, method, and a cell for each L/C."""
    lines = page.partition(f"## {title}")[2].partition("\n| --- |")[2].split("\n")[1:]
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
    y: str,
    panels: Panels,
    methods: Mapping[str, str],
    number: Callable[[str], float],
) -> None:
    """Draw one panel for each corpus, with the same lines."""
    costs = tuple(map(float, MISS_COSTS))
    charts = [
        LineChart(
            tuple(
                Series(told, costs, tuple(map(number, panel[method])))
                for method, told in methods.items()
            ),
            "L/C",
            f"{y}, {name}",
            audience="public",
        )
        for name, panel in panels.items()
    ]
    picture.save_lines(file, title, charts)


if __name__ == "__main__":
    draw()
