"""Which share of distribution in the loss serves analysts, on tables that it was not chosen on."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from benchmarks.cook import cook_counts
from benchmarks.data import folder
from benchmarks.tables import save

from voile.data import open_source
from voile.gate.analysts import count_query_error
from voile.tables.analysis.comparison import overlap
from voile.tables.analysis.model import LinearModel
from voile.tables.analysis.rows import read_rows
from voile.tables.analysis.spread import KeptAnalysis, bounds_of
from voile.tables.fitting.forests import grow
from voile.tables.fitting.search import search
from voile.tables.fitting.space import PolicySpace
from voile.tables.fitting.trees.forest import grow_forest
from voile.tables.fitting.trees.ground import TreeGround
from voile.tables.people.counts import CombinationCounts, Constraints
from voile.tables.policies.family import AnyPolicy
from voile.tables.scoring.losses import CombinationGrouping
from voile.tables.trees.policy import TreePolicy
from voile.tables.verbs.report_data import grouped_rows

WEIGHTS = (1.0, 0.75, 0.5, 0.25, 0.0)
KS = (5, 25)
QUASI = ("age", "sex", "race", "born", "month")
OF_ADULTS = (*QUASI, "education", "marital")
NAMES = {
    "RIDAGEYR": "age",
    "RIAGENDR": "sex",
    "RIDRETH3": "race",
    "DMDBORN4": "born",
    "RIDEXMON": "month",
    "DMDEDUC2": "education",
    "DMDMARTL": "marital",
    "BMXBMI": "bmi",
    "BMXWAIST": "waist",
    "BMXARMC": "arm",
    "BMXHT": "height",
}
NOTES = """Each release is the one of least loss at that weight and k, nothing suppressed.
*Overlap* is that of the 95% intervals of all coefficients with the source's, *predicts* the AUC or
R2 on people left out, less the source's. Ranks are over all rows of a family and k, 1 the best of
the five; equal figures share theirs. The half was chosen on Adult and the Tennessee pair: neither
table, nor any of these outcomes, was among them. Cook County's people have the ages, sexes and
races of Adult, and other ZIP codes. All of it says nothing of privacy, which k decides here."""


@dataclass(frozen=True)
class Line:
    """One figure of the releases of all weights: (weights,), higher better or lower."""

    table: str
    family: str
    k: int
    what: str
    figures: list[float]
    higher: bool

    @property
    def ranks(self) -> np.ndarray:
        """(weights,) 1 of the best; equal figures, to three digits, share their mean rank."""
        own = np.round(self.figures, 3) * (-1 if self.higher else 1)
        below = (own[:, None] > own).sum(axis=1)
        return below + ((own[:, None] == own).sum(axis=1) + 1) / 2


def main() -> None:
    """Fit for each weight, and ask what analysts get."""
    lines = [*nhanes_lines(), *cook_lines()]
    rows = [
        (one.table, one.family, str(one.k), one.what, *(f"{x:.3f}" for x in one.figures))
        for one in lines
    ]
    for family in dict.fromkeys(one.family for one in lines):
        for k in KS:
            own = [one for one in lines if (one.family, one.k) == (family, k)]
            mean = np.mean([one.ranks for one in own], axis=0)
            of = f"mean rank of {len(own)}"
            rows.append(("all", family, str(k), of, *(f"**{x:.1f}**" for x in mean)))
    save(
        "loss_weights",
        "What analysts get, by the weight of distribution in the loss; resolution has the rest.",
        ("table", "policies", "k", "figure", *(f"{w:g}" for w in WEIGHTS)),
        rows,
        NOTES,
    )


def nhanes_lines() -> Iterator[Line]:
    """Yield what analysts get of adults and of children of NHANES 2011-2012."""
    table = nhanes()
    is_adult = pc.greater_equal(table["age"], 20)
    adults, children = table.filter(is_adult), table.filter(pc.invert(is_adult))
    grown = {"obese": "logistic", "bmi": "linear", "waist": "linear"}
    growing = {"arm": "linear", "height": "linear"}
    yield from lines_of("NHANES, adults", adults, OF_ADULTS, grown)
    yield from lines_of("NHANES, children", children, QUASI, growing)


def lines_of(
    name: str, table: pa.Table, quasi: tuple[str, ...], outcomes: dict[str, str]
) -> Iterator[Line]:
    """Yield the figures of one table under both families and each k."""
    for family in ("trees", "global"):
        for k in KS:
            released = [release(table, quasi, k, family, weight) for weight in WEIGHTS]
            errors = [
                count_query_error(*grouped_rows(s.counts, s.grouping(p))) for s, p in released
            ]
            yield Line(name, family, k, "COUNT error", errors, higher=False)
            for outcome, model in outcomes.items():
                kept = [analysed(table, *one, outcome, model) for one in released]
                overlaps, scores = map(list, zip(*kept, strict=True))
                yield Line(name, family, k, f"{outcome}: overlap", overlaps, higher=True)
                yield Line(name, family, k, f"{outcome}: predicts", scores, higher=True)


def release(
    table: pa.Table, quasi: tuple[str, ...], k: int, family: str, weight: float
) -> tuple[PolicySpace, AnyPolicy]:
    """Return the policy of least loss."""
    rules = Constraints(k=k)
    space = PolicySpace.of(
        table, quasi=quasi, constraints=rules, loss="weighted", loss_weight=weight
    )
    if family == "global":
        bits = search(space, method="quick").frontier.point(-1).policy
        return space, space.policy(bits)
    forest = grow(space, lambda *_: None)
    number, links = forest.frontier.point(-1).policy
    return space, TreePolicy(space.domains, forest.trees[number], int(number), int(links))


def analysed(
    table: pa.Table, space: PolicySpace, policy: AnyPolicy, outcome: str, family: str
) -> tuple[float, float]:
    """Return the mean overlap of a model of all columns, and its score less the source's."""
    model = {"outcome": outcome, "predictors": list(space.quasi), "family": family}
    if family == "logistic":
        model["positive"] = "yes"
    rng = np.random.default_rng(0)
    rows = read_rows(open_source(table), LinearModel.read_model(model), space.domains, None, rng)
    source = rows.fit_source()
    every = np.ones(len(rows.codes), dtype=np.bool_)
    found = rows.fit_release(*bounds_of(policy, rows.codes), every)
    return KeptAnalysis(overlap(source, found), found).mean_overlap, found.score - source.score


def cook_lines() -> Iterator[Line]:
    """Yield the COUNT error of trees of Cook County's sample."""
    counts = cook_counts()
    for k in KS:
        errors = [
            count_query_error(*grouped_rows(counts, least_loss(counts, k, weight)))
            for weight in WEIGHTS
        ]
        yield Line("Cook County", "trees", k, "COUNT error", errors, higher=False)


def least_loss(counts: CombinationCounts, k: int, weight: float) -> CombinationGrouping:
    """Return the boxes of the tree of least loss."""
    forest = grow_forest(TreeGround(counts, Constraints(k=k), public=True), loss_weight=weight)
    number, links = forest.frontier.point(-1).policy
    tree = forest.trees[number].prune_links(links)
    low, high = (ends[tree.leaves] for ends in tree.bounds)
    place = np.zeros(len(tree), dtype=np.intp)
    place[tree.leaves] = np.arange(len(tree.leaves))
    values = tuple(
        (np.arange(size) >= a[:, None]) & (np.arange(size) <= b[:, None])
        for size, a, b in zip(counts.sizes, low.T, high.T, strict=True)
    )
    every = np.tile(np.arange(len(low))[:, None], len(counts.sizes))
    own = place[tree.place(counts.codes)]
    return CombinationGrouping(own, every, values, np.ones(len(low), dtype=np.bool_))


def nhanes() -> pa.Table:
    """Return everybody examined: whole numbers in their order, codes as names, blanks as null."""
    path = folder("nhanes-2011-2012") / "nhanes_2011_2012_bmx_demo.csv.gz"
    with gzip.open(path) as file:
        read = pa.csv.read_csv(file).select(list(NAMES)).rename_columns(list(NAMES.values()))
    for name in ("sex", "race", "born", "education", "marital"):
        at = read.column_names.index(name)
        read = read.set_column(at, name, read[name].cast("string"))
    obese = pc.if_else(pc.greater_equal(read["bmi"], 30), "yes", "no")
    return read.append_column("obese", obese)


if __name__ == "__main__":
    main()
