"""The pictures of the experiments on text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from benchmarks import picture
from benchmarks.documents_attack import COSTLY, Found, Made, best_single
from benchmarks.documents_data import SOURCES
from benchmarks.documents_quality import published
from benchmarks.documents_runs import DEFAULT, MISS_COSTS, PAPERS, Outcome

from voile.sections import LineChart, Series

LOOPS = {DEFAULT: DEFAULT, "the paper's, in sample": "loop in sample, selection"}
LOOPS |= {"the paper's, across folds": "loop across, selection"}


def draw(found: Found, made: Made) -> None:
    """Write docs/pictures/documents_*.svg."""

    def tp(name: str) -> Mapping[str, Sequence[float]]:
        lines = {
            told: [made[name, method, cost, "published"].tp for cost in MISS_COSTS]
            for told, method in LOOPS.items()
        }
        one = made[name, best_single(found[name]), MISS_COSTS[0], "published"]
        return lines | {"one pass of the best by accuracy": [one.tp] * len(MISS_COSTS)}

    def of(methods: Sequence[str], value: Callable[[Outcome], float]) -> Lines:
        return lambda name: {
            method: [value(Outcome.pooled(found[name][method, c])) for c in MISS_COSTS]
            for method in methods
        }

    rivals = (DEFAULT, *(name for name in COSTLY if "adaboost" not in name))
    spaces = [f"loop across, {name}" for name in PAPERS]
    save("documents_tp", "TP_A against L/C", "TP_A", tp)
    save("documents_published", "Publish ratio against L/C", "published", of(rivals, published))
    save("documents_spaces", "Identifiers left against L/C", "share left", of(spaces, left))


Lines = Callable[[str], Mapping[str, Sequence[float]]]


def left(one: Outcome) -> float:
    return float(one.left.sum() / one.identifiers.sum())


def save(file: str, title: str, y: str, lines: Lines) -> None:
    """Draw one panel for each corpus, with the same lines."""
    costs = tuple(map(float, MISS_COSTS))
    charts = [
        LineChart(
            tuple(Series(told, costs, tuple(values)) for told, values in lines(name).items()),
            "L/C",
            f"{y}, {name}",
            audience="public",
        )
        for name in SOURCES
    ]
    picture.save_lines(file, title, charts)
