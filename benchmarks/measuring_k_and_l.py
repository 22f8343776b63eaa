"""Measure k, l and t on Adult with 8 quasi-identifiers: ours against pyCANON, in one run.

Both start from one pandas frame. pyCANON walks over the classes once for each measure; ours
counts classes by sensitive value once, and computes every measure of `voile.tables.measures`.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pycanon import anonymity

from tennessee import data
from voile.tables.measures import Classes, disclosure

COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
QUASI = [
    *("age", "sex", "race", "marital-status"),
    *("education", "native-country", "workclass", "occupation"),
]
SENSITIVE = "income"
REPEATS = 5
PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "measuring_k_and_l.md"


def classes_of(frame: pd.DataFrame) -> Classes:
    """Count the frame's rows by class and sensitive value."""
    table = pa.Table.from_pandas(frame[[*QUASI, SENSITIVE]], preserve_index=False)
    encoded = [c.combine_chunks().dictionary_encode("encode") for c in table.columns]
    sizes = [len(c.dictionary) for c in encoded]
    *quasi, value = (c.indices.to_numpy() for c in encoded)
    key = np.ravel_multi_index(quasi, sizes[:-1])
    groups, row = np.unique(key, return_inverse=True)
    cells = np.bincount(row * sizes[-1] + value, minlength=len(groups) * sizes[-1])
    counts = cells.reshape(len(groups), sizes[-1]).astype(np.float64)
    return Classes(counts.sum(axis=1), counts.sum(axis=1), counts)


def ours(frame: pd.DataFrame) -> dict[str, float]:
    return disclosure(classes_of(frame))


def timed(call: Callable[[], object], repeats: int) -> tuple[object, float]:
    """Return a call's answer and the median of its seconds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = call()
        seconds.append(time.perf_counter() - start)
    return answer, statistics.median(seconds)


def main() -> None:
    path = data() / "adult" / "adult.data.gz"
    frame = pd.read_csv(path, names=COLUMNS, skipinitialspace=True)
    rivals = {
        "k": (lambda: anonymity.k_anonymity(frame, QUASI), REPEATS),
        "distinct_l": (lambda: anonymity.l_diversity(frame, QUASI, [SENSITIVE]), REPEATS),
        "entropy_l": (lambda: anonymity.entropy_l_diversity(frame, QUASI, [SENSITIVE]), 1),
        "t_closeness": (lambda: anonymity.t_closeness(frame, QUASI, [SENSITIVE]), 1),
    }
    ours(frame)
    found, quick = timed(lambda: ours(frame), REPEATS)
    lines = [
        "# Measuring k and l",
        "",
        f"Adult, {len(frame):,} rows, {len(QUASI)} quasi-identifiers ({', '.join(QUASI)}), sensitive"
        f" column {SENSITIVE}. One run, two cores; medians of {REPEATS} for ours, k and distinct l,"
        " the others once. Ours is the time of all measures together.",
        "",
        "| measure | ours | pyCANON | pyCANON, s | ours (all), s | ratio |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, (call, repeats) in rivals.items():
        theirs, slow = timed(call, repeats)
        if not math.isclose(theirs, found[name], abs_tol=1e-12):
            raise SystemExit(f"{name}: ours {found[name]}, pyCANON {theirs}")
        lines.append(
            f"| {name} | {found[name]:.6g} | {theirs:.6g} | {slow:.3g} | {quick:.3g} |"
            f" {slow / quick:,.0f} |"
        )
    lines += [
        "",
        "Recursive (c, l)-diversity is left out: pyCANON sorts a class's counts upwards, so that its"
        " r_1 is the rarest value; the definition's is the commonest.",
        "",
    ]
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
