"""Measure k, l and t on Adult with 8 quasi-identifiers: ours against pyCANON, in one run.

Both start from one pandas frame. pyCANON walks over the classes once for each measure; ours
counts classes by sensitive value once, and computes every measure of
`voile.tables.scoring.disclosure`.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa
from benchmarks.data import folder
from benchmarks.tables import save
from pycanon import anonymity

from voile.tables.scoring.catalogue import MEASURES
from voile.tables.scoring.disclosure import EquivalenceClasses, disclosure

COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
)
QUASI = [
    *("age", "sex", "race", "marital-status"),
    *("education", "native-country", "workclass", "occupation"),
]
SENSITIVE = "income"
REPEATS = 5


def classes_of(frame: pd.DataFrame, quasi: list[str]) -> EquivalenceClasses:
    """Count the frame's rows by class and sensitive value."""
    table = pa.Table.from_pandas(frame[[*quasi, SENSITIVE]], preserve_index=False)
    encoded = [c.combine_chunks().dictionary_encode("encode") for c in table.columns]
    sizes = [len(c.dictionary) for c in encoded]
    *places, value = (c.indices.to_numpy() for c in encoded)
    key = np.ravel_multi_index(places, sizes[:-1])
    groups, row = np.unique(key, return_inverse=True)
    cells = np.bincount(row * sizes[-1] + value, minlength=len(groups) * sizes[-1])
    counts = cells.reshape(len(groups), sizes[-1]).astype(np.float64)
    return EquivalenceClasses(counts.sum(axis=1), counts.sum(axis=1), counts)


def seconds(call: Callable[[], object]) -> tuple[object, float]:
    """Return a call's answer and how long it took."""
    start = time.perf_counter()
    return call(), time.perf_counter() - start


def medians(ours: Callable[[], object], theirs: Callable[[], object], repeats: int) -> tuple:
    """Run both in turn; return both answers and both median times."""
    runs = [(*seconds(ours), *seconds(theirs)) for _ in range(repeats)]
    first, quick, second, slow = zip(*runs, strict=True)
    return first[-1], second[-1], statistics.median(quick), statistics.median(slow)


def halved(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the four quasi-identifiers with most values cut into two each, the others dropped."""
    found = frame[[SENSITIVE]].copy()
    for column in frame[QUASI].nunique().nlargest(4).index:
        place = frame[column].rank(method="dense")
        found[column] = place > place.median()
    return found


def compare(name: str, frame: pd.DataFrame, quasi: list[str]) -> list[tuple[str, ...]]:
    """Time both on one frame, one row a measure; stop if an answer differs."""
    rivals = {
        "k": (lambda: anonymity.k_anonymity(frame, quasi), REPEATS),
        "distinct_l": (lambda: anonymity.l_diversity(frame, quasi, [SENSITIVE]), REPEATS),
        "entropy_l": (lambda: anonymity.entropy_l_diversity(frame, quasi, [SENSITIVE]), 1),
        "t_closeness": (lambda: anonymity.t_closeness(frame, quasi, [SENSITIVE]), 1),
    }
    rows = []
    for measure, (call, repeats) in rivals.items():
        everything, theirs, quick, slow = medians(
            lambda: disclosure(classes_of(frame, quasi)), call, repeats
        )
        ours = everything[measure]
        same = math.floor(ours) if measure == "entropy_l" else ours  # pyCANON rounds it down
        if not math.isclose(theirs, same, abs_tol=1e-12):
            raise SystemExit(f"{name}, {measure}: ours {ours}, pyCANON {theirs}")
        times = (f"{x:,.0f}" for x in (quick * 1e3, slow * 1e3, slow / quick))
        rows.append((name, measure, f"{ours:.6g}", f"{theirs:.6g}", *times))
    return rows


def main() -> None:
    path = folder("adult") / "adult.data.gz"
    frame = pd.read_csv(path, names=COLUMNS, skipinitialspace=True)
    coarse = halved(frame)
    few = [c for c in coarse.columns if c != SENSITIVE]
    save(
        "measuring_k_and_l",
        f"Adult, {len(frame):,} rows, sensitive column {SENSITIVE}. The first table has 8\n"
        f"quasi-identifiers unchanged ({', '.join(QUASI)}). The second has 4 of them cut\n"
        f"into two values each ({', '.join(few)}). Ours is the time from the frame to all\n"
        f"{len(MEASURES)} measures together, and pyCANON's that of the one measure. Run in\n"
        f"turn on two cores, medians of {REPEATS} for k and distinct l, once for the others.",
        (
            "quasi-identifiers",
            "measure",
            "ours",
            "pyCANON",
            "ours (all), ms",
            "pyCANON, ms",
            "ratio",
        ),
        [*compare("8 as they are", frame, QUASI), *compare("4 halved", coarse, few)],
        "pyCANON rounds entropy l down. Recursive (c, l)-diversity is omitted. pyCANON\n"
        "sorts the counts of a class upwards, so its r_1 is the rarest value. In the\n"
        "definition r_1 is the commonest.",
    )


if __name__ == "__main__":
    main()
