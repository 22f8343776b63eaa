"""Li et al. 2015 and 2016 at a small size: Example 1, the bounds, and the figures on made-up notes.

`000` is the longer article (TKDE 2016), `003` the conference paper (ICDM 2015), whose Figure 4 is
the other's Figure 5, and whose Figure 5 is the other's Figure 7.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.documents_attack import Attack, Job, attacks, best_single
from benchmarks.documents_data import Source
from benchmarks.documents_experiments import ATTACKERS, COSTLY, PAPERS_LOOP
from benchmarks.documents_quality import passes_of, published
from benchmarks.documents_runs import DEFAULT, FREE, Outcome, outcomes
from benchmarks.paper_results import Result

from voile.demo.samples import make_annotated_notes
from voile.documents import Corpus, Document, Span
from voile.documents.theory import TokenConfusion, gain, lemma_3, theorem_2, theorem_3, theorem_4
from voile.documents.words.token_classes import token_labels
from voile.documents.words.tokens import tokenise

NOTES = {"tiny": 16, "small": 120}
COSTS = {"tiny": (5,), "small": (5, 10)}
"""5 among them: by it the best single learner is chosen."""
NAME = "made-up notes"
IDENTIFIER = "NAME"
"""Names alone identify, as in the papers."""
FIGURES = {
    "000": {
        "corpus": "Table 2",
        "tp": "Figure 3(b)",
        "found": "Figure 4",
        "published": "Figure 5",
        "passes": "Figure 8",
    },
    "003": {
        "corpus": "Section V",
        "tp": "Figure 3",
        "found": "Figure 5",
        "published": "Figure 4",
        "passes": "Section V",
    },
}
THEOREMS = {
    "000": ("Theorem 1", "Theorem 2", "Theorem 3"),
    "003": ("Theorem 3.1", "Theorem 4.1", "Theorem 4.2"),
}
SHORT = {DEFAULT: "voile's default", PAPERS_LOOP: "GreedySanitize"}


def compute_results(number: str, size: str) -> Iterator[Result]:
    """Yield the example, then the figures, then the theorems with the run's own numbers."""
    if number == "000":
        yield from compute_example()
    sources = {NAME: Source(lambda: read_notes(NOTES[size]))}
    places, costs = FIGURES[number], COSTS[size]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VOILE_FITS"] = folder
        found = outcomes(sources, (DEFAULT, PAPERS_LOOP, *COSTLY, *FREE), costs)
        single = best_single(found[NAME])
        jobs: list[Job] = [
            (NAME, method, cost, "published")
            for method in (DEFAULT, PAPERS_LOOP, single)
            for cost in costs
        ]
        made = attacks(sources, found, jobs, ATTACKERS)
    yield describe_corpus(places["corpus"], sources[NAME])
    for cost in costs:
        yield from describe_loops(places, found[NAME], made, single, cost)
    last = made[NAME, PAPERS_LOOP, costs[-1], "published"]
    yield from check_theorems(THEOREMS[number], last, costs[-1])


def compute_example() -> Iterator[Result]:
    """Yield Example 1 of the article."""
    counts, inspections = TokenConfusion(tp=3, fp=6, tn=15, fn=2), 20
    yield Result(
        place="Example 1", quantity="instances", paper="26", ours=str(counts.n), exact=True
    )
    yield Result(
        place="Example 1",
        quantity="U*/U with 20 inspections",
        paper="949/850",
        ours=str(gain(counts, inspections)),
        exact=True,
    )
    yield Result(
        place="Lemma 3",
        quantity="its bound for Example 1",
        paper="",
        ours=lemma_3(counts, inspections).verdict,
    )


def read_notes(number: int) -> Corpus:
    """Return so many made-up notes in which some words are names or drugs."""
    return Corpus(
        Document(
            text=row["note"],
            spans=tuple(
                Span(one["start"], one["end"], one["label"])
                for one in json.loads(row["spans"])
                if one["label"] == IDENTIFIER
            ),
            subject=row["patient"],
        )
        for row in make_annotated_notes(number).to_pylist()
    )


def describe_corpus(place: str, source: Source) -> Result:
    """Return the size of the corpus."""
    corpus = source.read()
    tokens = tokenise([one.text for one in corpus])
    names = int((token_labels(tokens, corpus, corpus.labels) > 0).sum())
    return Result(
        place=place,
        quantity="words, documents, sensitive instances (i2b2 in the paper)",
        paper="386,736, 664, 6,853",
        ours=f"{len(tokens):,}, {len(corpus):,}, {names:,}",
    )


def describe_loops(
    places: Mapping[str, str],
    found: Mapping[tuple[str, float], Sequence[Outcome]],
    made: Mapping[Job, Attack],
    single: str,
    cost: int,
) -> Iterator[Result]:
    """Yield TP_A, found / B, the publish ratio and the passes for one L/C."""
    for method in (PAPERS_LOOP, DEFAULT, single):
        one = made[NAME, method, cost, "published"]
        name = SHORT.get(method, f"one pass, {method}")
        yield Result(
            place=places["tp"],
            quantity=f"TP_A of {name}, L/C = {cost}",
            paper="" if method == DEFAULT else "a curve; soon negligible for GreedySanitize",
            ours=f"{one.tp:,.0f} of {one.left:,}",
        )
        yield Result(
            place=places["found"],
            quantity=f"identifiers per inspection, B = remaining identifiers, {name}, L/C = {cost}",
            paper="" if method == DEFAULT else "a curve",
            ours=f"{one.by_left / max(one.left, 1):.2f}",
        )
    for method in (PAPERS_LOOP, DEFAULT, *COSTLY):
        ratio = published(Outcome.pooled(found[method, cost]))
        paper = {PAPERS_LOOP: "over 93%", DEFAULT: ""}.get(method, "virtually nothing")
        yield Result(
            place=places["published"],
            quantity=f"share of tokens published, {SHORT.get(method, method)}, L/C = {cost}",
            paper=paper,
            ours=f"{ratio:.1%}",
        )
    for method in (PAPERS_LOOP, DEFAULT):
        yield Result(
            place=places["passes"],
            quantity=f"passes of {SHORT[method]}, mean of four folds, L/C = {cost}",
            paper="under 5" if method == PAPERS_LOOP else "",
            ours=f"{passes_of(found[method, cost]):.1f}",
        )


def check_theorems(names: Sequence[str], last: Attack, cost: int) -> Iterator[Result]:
    """Yield the bounds for GreedySanitize's release, with the run's own numbers."""
    attacker = count_attacker(last)
    checks = [
        (names[1], theorem_2(attacker, cost)),
        (names[2], theorem_3(attacker, cost)),
    ]
    if names[0] == "Theorem 1":
        checks.append(("Theorem 4", theorem_4(attacker, min(last.left, attacker.n), cost)))
    for name, check in checks:
        yield Result(
            place=name,
            quantity="for GreedySanitize's release",
            paper="holds at a local optimum",
            ours=check.verdict,
        )


def count_attacker(one: Attack) -> TokenConfusion:
    """Return the attacker's confusion on the inspected part of the release."""
    tp, fp = round(one.tp), round(one.fp)
    fn = max(one.left - tp, 0)
    return TokenConfusion(tp=tp, fp=fp, fn=fn, tn=max(one.tokens - tp - fp - fn, 0))
