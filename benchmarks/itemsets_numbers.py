"""Columns of numbers cut under k, beside quantiles and beside zeros and ones made by hand."""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
from benchmarks.data import folder
from benchmarks.itemsets_adult import NAMES, adult
from benchmarks.tables import save
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from voile.core.errors import InfeasibleError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.itemsets.cutting import CellRange, choose_cuts
from voile.itemsets.measures.containment import anonymity, row_exact_anonymity
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.grid_learning import GridLearner
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import RowLabels
from voile.itemsets.selection import select
from voile.itemsets.verbs.content import ItemsetsContent
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.options import FitOptions

KS = (5, 10, 25, 50)
FOLDS = 5
SAMPLE, TARGETS = 1_000, 40
METHODS = ("best", "joint")
NUMBERS = {"role": "items", "as": "numbers"}
QUARTERS = {"role": "items", "quantiles": 4}
NHANES = {
    "RIDAGEYR": "age",
    "BMXWT": "weight",
    "BMXHT": "height",
    "BMXLEG": "leg",
    "BMXARML": "arm length",
    "BMXARMC": "arm",
    "BMXWAIST": "waist",
    "RIDRETH3": "origin",
    "DMDEDUC2": "education",
    "DMDMARTL": "marital",
    "RIAGENDR": "sex",
}
COLUMNS = (
    "data",
    "columns",
    "method",
    "k",
    "AUC, held out",
    "features",
    "number columns",
    "smallest group by numbers",
    "smallest by numbers and items",
    "unique rows",
)
Frame = pd.DataFrame


@dataclass(frozen=True)
class Data:
    """A frame, its columns of numbers, the others, and its label; and zeros and ones by hand."""

    name: str
    frame: Frame
    numbers: tuple[str, ...]
    label: str
    by_hand: Frame | None = None

    def roles(self, of_numbers: object) -> dict[str, object]:
        others = {name: {"role": "items", "as": "categories"} for name in self.frame.columns}
        return {**others, **dict.fromkeys(self.numbers, of_numbers), self.label: "label"}


def adult_with_numbers() -> Data:
    """Return Adult as it is, and the 19 columns of zeros and ones of the paper's experiment."""
    names = [*NAMES.split(), "hours", "country", "income"]
    with gzip.open(folder("adult") / "adult.data.gz", "rt") as file:
        raw = pd.read_csv(file, names=names, skipinitialspace=True, skip_blank_lines=True)
    numbers = ("age", "weight", "years", "gain", "loss", "hours")
    by_hand = adult()[0].assign(income=raw.income)
    return Data("Adult", raw.drop(columns="education"), numbers, "income", by_hand)


def nhanes_adults() -> Data:
    """Return the adults of NHANES 2011-2012: body measures, some missing; the label is sex."""
    path = folder("nhanes-2011-2012") / "nhanes_2011_2012_bmx_demo.csv.gz"
    raw = pd.read_csv(path)
    raw = raw[raw.RIDAGEYR >= 20][list(NHANES)].rename(columns=NHANES).reset_index(drop=True)
    for name in ("origin", "education", "marital"):
        raw[name] = raw[name].map(lambda x: None if pd.isna(x) else str(int(x)))
    numbers = ("age", "weight", "height", "leg", "arm length", "arm", "waist")
    return Data("NHANES", raw.assign(sex=raw.sex.astype(str)), numbers, "sex")


def encoded(content: ItemsetsContent, frame: Frame, mask: np.ndarray) -> sparse.csr_array:
    """Return the rows of a frame with the features that a policy publishes."""
    table, blocks = pa.Table.from_pandas(frame, preserve_index=False), []
    for form in content.forms:
        cells = form.cells(table.column(form.column).combine_chunks())
        ones, shape = np.ones(len(cells.row)), (len(table), len(form.features))
        blocks.append(sparse.csr_array((ones, (cells.row, cells.code)), shape=shape))
    held = sparse.hstack(blocks, format="csr")[:, np.flatnonzero(mask)]
    held.indices, held.indptr = held.indices.astype(np.int32), held.indptr.astype(np.int32)
    return held


def tried(
    data: Data,
    frame: Frame,
    roles: dict[str, object],
    k: int,
    method: str,
    absences: bool,
    fold: int,
) -> dict[str, float] | None:
    """Choose on four folds at k, and classify the fifth by what is published."""
    warnings.simplefilter("ignore")
    y = (frame[data.label] == sorted(frame[data.label].unique())[1]).to_numpy()
    parts = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y)
    known, new = list(parts)[fold]
    own = Roles.model_validate({"columns": {n: r for n, r in roles.items() if n in frame.columns}})
    options = FitOptions(k=(k,), auc="never", method=method, absences=absences)
    source = open_source(frame.iloc[known])
    try:
        kit = fit(source, own, options, seed=fold, progress=silent)
    except InfeasibleError:
        return None
    content = ItemsetsContent.of(kit)
    at = content.figures.column("k").to_pylist().index(k)
    mask = content.frontier.policies[at]
    before, after = (encoded(content, frame.iloc[rows], mask) for rows in (known, new))
    model = LogisticRegression(max_iter=1000).fit(before, y[known])
    rows = Incidence.of(before.astype(np.int8))
    names = np.array(content.names)[mask]
    numbers = np.array([name.partition("=")[0] in data.numbers for name in names], dtype=np.bool_)
    by_numbers = row_exact_anonymity(rows, np.flatnonzero(numbers))
    return {
        "auc": roc_auc_score(y[new], model.decision_function(after)),
        "features": float(mask.sum()),
        "columns": float(len({name.partition("=")[0] for name in names[numbers]})),
        "by numbers": float(by_numbers.min()),
        "both": float(least_by_both(before.astype(bool).tocsc(), numbers)),
        "unique": float((row_exact_anonymity(rows) == 1).mean()),
    }


def least_by_both(held: sparse.csc_array, numbers: np.ndarray) -> int:
    """Return the fewest rows that are in a row's intervals, and no others, and have its items.

    An item for what a row lacks makes absences of intervals count as presences do.
    """
    own = held[:, np.flatnonzero(numbers)].toarray()
    rest = held[:, np.flatnonzero(~numbers)].toarray()
    return anonymity(Incidence.of(np.column_stack([own, ~own, rest]).astype(np.int8)))


def minimality(data: Data) -> str:
    """Say what an adversary learns from the cuts who knows all people but one, and the method."""
    rng = np.random.default_rng(0)
    frame = data.frame.iloc[rng.permutation(len(data.frame))[:SAMPLE]]
    ages = frame["age"].to_numpy(dtype=float)
    learner = GridLearner("age", pa.float64(), "number")
    learner.add(pa.array(ages))
    grid = learner.form()
    y = RowLabels.of(frame[data.label].to_numpy(dtype=str), len(frame))

    def cut(values: np.ndarray) -> tuple[int, ...]:
        cells = np.searchsorted(grid.cuts, values, side="right") + 1
        held = np.zeros((len(values), len(grid.values)), dtype=np.int8)
        held[np.arange(len(values)), cells] = 1
        columns = [CellRange(0, len(grid.values))]
        return next(choose_cuts(Incidence.of(held), y, columns, [5]))[0]

    true = cut(ages)
    places = np.searchsorted(grid.cuts, ages, side="right")
    shares, narrowed, crossed = [], 0, 0
    for target in rng.permutation(SAMPLE)[:TARGETS]:
        interval = np.searchsorted(true, places[target] + 1, side="right")
        fits = []
        for cell in range(len(grid.values) - 1):
            moved = ages.copy()
            moved[target] = grid.cuts[cell - 1] if cell else grid.cuts[0] - 1
            same = cut(moved) == true
            inside = np.searchsorted(true, cell + 1, side="right") == interval
            fits += [same] if inside else []
            crossed += bool(same and not inside)
        shares.append(np.mean(fits))
        narrowed += not all(fits)
    return (
        f"An adversary knows the method, {SAMPLE - 1:,} of {SAMPLE:,} people of {data.name} in "
        f"full, and the cuts of age at k = 5. She rules out {1 - np.mean(shares):.1%} of the cells "
        f"within the last person's interval on average, and at least one cell for "
        f"{narrowed} of {TARGETS} people."
    )


def nested(data: Data, k: int) -> str:
    """Say what all thresholds at containment k reveal to whoever knows what people are not."""
    ages = data.frame["age"].to_numpy()
    cuts = np.unique(ages)[1:]
    rows = Incidence.of((ages[:, None] >= cuts).astype(np.int8))
    chosen = select(rows, constraint=Constraint(k), utility="size", method="greedy").features
    least = int(row_exact_anonymity(rows, chosen).min())
    return (
        f"Thresholds (`age at least a`) at a containment k of {k} instead: {len(chosen)} are "
        f"published, and the smallest exact group is {least}."
    )


def main() -> None:
    sets, lines = [adult_with_numbers(), nhanes_adults()], []
    for data in sets:
        ways: dict[str, tuple[Frame, object, bool]] = {
            "numbers, cut under k": (data.frame, NUMBERS, False),
            "numbers, in quarters": (data.frame, QUARTERS, False),
            "numbers, in quarters, --absences": (data.frame, QUARTERS, True),
            "without numbers": (data.frame, "drop", False),
        }
        if data.by_hand is not None:
            ways["zeros and ones by hand"] = (data.by_hand, None, False)
        for way, (frame, of_numbers, absences) in ways.items():
            roles = data.roles(of_numbers)
            if of_numbers is None:
                roles = {**dict.fromkeys(frame.columns, "items"), data.label: "label"}
            for method in METHODS:
                lines += table_lines(data, frame, roles, way, method, absences)
    save(
        "itemsets_numbers",
        "AUC of a logistic regression on a fifth of the people, columns and cuts chosen on the "
        "other four, in 5 folds; chance .5. The smallest groups are those of the worst fold.",
        COLUMNS,
        lines,
        notes(sets),
    )


def table_lines(
    data: Data, frame: Frame, roles: dict[str, object], way: str, method: str, absences: bool
) -> list[list[str]]:
    """Return a line for each k, and their mean."""
    one = partial(tried, data, frame, roles, method=method, absences=absences)
    jobs: list[Callable[[], object]] = [
        delayed(one)(k=k, fold=fold) for k in KS for fold in range(FOLDS)
    ]
    found = Parallel(n_jobs=1)(jobs)
    lines, areas = [], []
    for place, k in enumerate(KS):
        own = [f for f in found[place * FOLDS : (place + 1) * FOLDS] if f is not None]
        if len(own) < FOLDS:
            lines.append([data.name, way, method, str(k), "none", *["-"] * 5])
            areas.append(0.5)
            continue
        mean = {name: np.mean([f[name] for f in own]) for name in own[0]}
        areas.append(mean["auc"])
        least = [f"{min(f[name] for f in own):,.0f}" for name in ("by numbers", "both")]
        lines.append(
            [
                *(data.name, way, method, str(k)),
                f"{mean['auc']:.4f}",
                f"{mean['features']:.1f}",
                f"{mean['columns']:.1f}",
                *least,
                f"{mean['unique']:.2%}",
            ]
        )
    lines.append([data.name, way, method, "mean", f"**{np.mean(areas):.4f}**", *[""] * 5])
    print(*lines, sep="\n", flush=True)
    return lines


def notes(sets: list[Data]) -> str:
    return "\n".join(
        [
            "*Smallest group by numbers*: fewest people with the same released numbers, nulls",
            "included. *By numbers and items*: those of them who also have the items of one. An",
            "adversary with a person's numbers finds as many candidates. *In quarters*:",
            "`quantiles = 4`, which cuts each column by itself. *By hand*: the 19 columns of the",
            "paper's experiment, with no number in them. No row is left out.",
            "",
            *(nested(sets[0], k) for k in (5, 50, 500)),
            minimality(sets[0]),
        ]
    )


if __name__ == "__main__":
    main()
