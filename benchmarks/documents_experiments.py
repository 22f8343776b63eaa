"""The paper's Figures 3 to 8, from the same fits as `documents_quality` and `documents_attack`.

`python -m benchmarks.documents_experiments PATH [--format i2b2-2006] [--types PATIENT DOCTOR]`
makes the same on a corpus of yours and prints it; nothing of it is kept.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from benchmarks import documents_pictures
from benchmarks.documents_attack import (
    COSTLY,
    Attack,
    Found,
    Job,
    Made,
    attacks,
    best_single,
    costly_rows,
)
from benchmarks.documents_data import SOURCES, Source, kept
from benchmarks.documents_pictures import PAGE
from benchmarks.documents_quality import kept as harmless_kept
from benchmarks.documents_quality import passes_of, published
from benchmarks.documents_runs import DEFAULT, METHODS, MISS_COSTS, SPACES, Outcome, outcomes

from voile.documents import Corpus

PAPERS_LOOP = "loop in sample, selection"
ACROSS = "loop across, selection"
SHOWN = (DEFAULT, PAPERS_LOOP, ACROSS)
FIGURE_4 = (5, 10)
FIGURE_4_RATIO = "found, B = left, L/C = 10: ours over one pass"
KEPT = "harmless tokens kept, default"
LEFT = "identifiers left by the paper's loop, Selection"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def costs_of(what: str) -> list[str]:
    return ["corpus", what, *(f"L/C = {cost}" for cost in MISS_COSTS)]


def jobs_of(sources: Mapping[str, Source], found: Found) -> Iterator[Job]:
    """Yield the attacks of Figures 3 and 4; they learn from the release's other subjects."""
    for name in sources:
        for cost in MISS_COSTS:
            yield from ((name, method, cost, "published") for method in SHOWN)
        for cost in FIGURE_4:
            yield from ((name, method, cost, "published") for method in COSTLY)
        yield name, best_single(found[name]), MISS_COSTS[0], "published"


def figure_3(sources: Mapping[str, Source], found: Found, made: Made) -> Iterator[list[str]]:
    """Yield TP_A by corpus, method and L/C, and what is left to be found."""
    for name in sources:
        for method in SHOWN:
            ones = [made[name, method, cost, "published"] for cost in MISS_COSTS]
            yield [name, method, *map(tp_a, ones)]
        single = best_single(found[name])
        one = made[name, single, MISS_COSTS[0], "published"]
        yield [name, f"one pass: {single}", *[tp_a(one)] * len(MISS_COSTS)]


def tp_a(one: Attack) -> str:
    return f"{one.tp:,.0f} of {one.left:,}"


def figure_5(sources: Mapping[str, Source], found: Found) -> Iterator[list[str]]:
    """Yield publish ratios."""
    for name in sources:
        first = Outcome.pooled(found[name][DEFAULT, MISS_COSTS[0]])
        ceiling = 1 - first.identifiers.sum() / first.tokens.sum()
        for method in (DEFAULT, *COSTLY):
            ones = (Outcome.pooled(found[name][method, cost]) for cost in MISS_COSTS)
            yield [name, method, *(f"{published(one):.3f}" for one in ones)]
        yield [name, "ceiling, 1 - alpha", *[f"{ceiling:.3f}"] * len(MISS_COSTS)]


def figures_6_7(sources: Mapping[str, Source], found: Found, form: str) -> Iterator[list[str]]:
    """Yield the share of identifiers left, and the publish ratio, by hypothesis space."""
    for name in sources:
        for space in SPACES:
            ones = [Outcome.pooled(found[name][f"{form}, {space}", c]) for c in MISS_COSTS]
            yield [name, space, *(f"{left(one):.1%}, {published(one):.3f}" for one in ones)]


def left(one: Outcome) -> float:
    """Return the share of identifiers that are left."""
    return float(one.left.sum() / one.identifiers.sum())


def figure_8(sources: Mapping[str, Source], found: Found) -> Iterator[list[str]]:
    """Yield the passes by hypothesis space, from the least L/C to the most."""
    for name in sources:
        for form in ("loop in sample", "loop across"):
            told = ([passes_of(found[name][f"{form}, {s}", c]) for c in MISS_COSTS] for s in SPACES)
            yield [name, form, *(" ".join(f"{n:.1f}" for n in one) for one in told), ""]
        ours = [passes_of(found[name][DEFAULT, cost]) for cost in MISS_COSTS]
        yield [name, DEFAULT, *[""] * len(SPACES), " ".join(f"{n:.1f}" for n in ours)]


def summary(sources: Mapping[str, Source], found: Found, made: Made) -> Iterator[list[str]]:
    """Yield what the paper says, and ours beside it."""

    def every(method: str) -> list[Outcome]:
        return [Outcome.pooled(found[n][method, c]) for n in sources for c in MISS_COSTS]

    def ratio(name: str) -> float:
        one = made[name, best_single(found[name]), MISS_COSTS[0], "published"]
        return made[name, DEFAULT, 10, "published"].by_left / max(one.by_left, 1)

    def passes(method: str) -> str:
        return (
            f"{np.mean([passes_of(found[n][method, c]) for n in sources for c in MISS_COSTS]):.1f}"
        )

    bound, here = "at most C/L (1 - alpha) n (Theorem 3)", "cross-fitted, decided by cost"
    others = "other corpora, attacker who learns from the release's others"
    ceilings = "more identifiers in some corpora than 7%: see the ceilings"
    in_sample = "on text held out; the paper's loop in sample"
    ours = every(DEFAULT)
    tp = [made[n, DEFAULT, c, "published"].tp for n in sources for c in MISS_COSTS]
    ranges: list[tuple[str, str, str, Iterable[float], str, str]] = [
        ("3", "TP_A left by ours, all corpora and L/C", bound, tp, ",.0f", here),
        ("4", FIGURE_4_RATIO, "", map(ratio, sources), ".2f", others),
        ("5", "published, default", "> 93%", map(published, ours), ".1%", ceilings),
        ("5", KEPT, "", map(harmless_kept, ours), ".1%", "not in the paper"),
        ("6-7", LEFT, "", map(left, every(PAPERS_LOOP)), ".1%", in_sample),
        ("6-7", "the same, default", "", map(left, ours), ".1%", here),
    ]
    for figure, what, paper, values, form, differs in ranges:
        shown = sorted(values)
        yield [figure, what, paper, f"{shown[0]:{form}} to {shown[-1]:{form}}", differs]
    turns = f"{passes(DEFAULT)} / {passes(PAPERS_LOOP)} on average"
    yield ["8", "passes, default / paper's loop", "< 5", turns, "of the committees"]


def page(sources: Mapping[str, Source], found: Found, made: Made) -> str:
    """Return the whole page."""
    columns = ["figure", "what", "the paper", "ours", "what differs"]
    return "\n".join(
        [
            HEAD,
            table(columns, list(summary(sources, found, made))),
            FIGURE_3,
            table(costs_of("method"), list(figure_3(sources, found, made))),
            FIGURE_4_TOLD,
            table(["corpus", "L/C", DEFAULT, *COSTLY], list(costly_rows(sources, made))),
            FIGURE_5,
            table(costs_of("method"), list(figure_5(sources, found))),
            FIGURES_6_7,
            table(
                costs_of("space, cross-fitted"), list(figures_6_7(sources, found, "loop across"))
            ),
            table(
                costs_of("space, in sample"), list(figures_6_7(sources, found, "loop in sample"))
            ),
            FIGURE_8,
            table(["corpus", "loop", *SPACES, DEFAULT], list(figure_8(sources, found))),
            "Made by `python -m benchmarks.documents_experiments`.\n",
        ]
    )


def results(sources: Mapping[str, Source]) -> tuple[Found, Made]:
    found = outcomes(sources, tuple(METHODS))
    return found, attacks(sources, found, list(dict.fromkeys(jobs_of(sources, found))))


def given(path: str, format: str | None, types: Sequence[str]) -> Source:
    """Return somebody's own corpus, with these types of spans or all."""
    return Source(lambda: kept(Corpus.read(path, format), lambda x: not types or x in types))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?")
    parser.add_argument("--format")
    parser.add_argument("--types", nargs="*", default=[])
    asked = parser.parse_args()
    if asked.path is None:
        found, made = results(SOURCES)
        PAGE.write_text(page(SOURCES, found, made), encoding="utf-8")
        documents_pictures.draw()
        print(PAGE.read_text(encoding="utf-8"))
        return
    with tempfile.TemporaryDirectory() as folder:  # fits hold words of the text
        os.environ["VOILE_FITS"] = folder
        sources = {Path(asked.path).name: given(asked.path, asked.format, asked.types)}
        print(page(sources, *results(sources)))


HEAD = """\
# The paper's experiments on text, again

Li, Vorobeychik, Li, Malin, *Iterative Classification for Sanitizing Large-Scale Datasets*, ICDM
2015, and its longer form in TKDE 2016. i2b2 2006, the newsgroups, Reuters and VUMC's notes are not
here; MEDDOCAN stands for the clinical notes, Enron threads for its Enron sets. Four folds of
documents, as in the paper; all figures are of documents held out, of all folds together. The
paper's full text was not at hand: its column says what is known of it. Whoever has i2b2 runs
`python -m benchmarks.documents_experiments PATH --format i2b2-2006 --types PATIENT DOCTOR`.
"""
FIGURE_3 = """\
## Figure 3: identifiers among what the attacker takes for one, TP_A

![TP_A against L/C](pictures/documents_tp.svg)

Of the identifiers that are left. The most accurate of her classifiers, by its own rule; she learns
from the release's other subjects. Where TP_A is 0 classifying tells her nothing (Theorem 2).
"""
FIGURE_4_TOLD = """\
## Figure 4: found by inspecting

Identifiers found in as many inspections as there are identifiers left, by margin; and in 1% of the
tokens. [Attack](benchmarks/documents.md#what-an-attacker-finds) has other labels, and one pass
by accuracy.
"""
FIGURE_5 = """\
## Figure 5: share of tokens published

![Publish ratio against L/C](pictures/documents_published.svg)

"""
FIGURES_6_7 = """\
## Figures 6 and 7: five hypothesis spaces

![Identifiers left by hypothesis space](pictures/documents_spaces.svg)

Share of identifiers left, and publish ratio. The paper's loop by accuracy: judged across folds of
the training documents; and as printed, on the text that the learner learnt from. There Selection is
the learner that is most accurate across folds, for all passes; across folds it is chosen in each.
"""
FIGURE_8 = """\
## Figure 8: passes

Means over the folds, for L/C = 1, 2, 5, 10, 20, 50.
"""

if __name__ == "__main__":
    main()
