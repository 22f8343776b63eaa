"""COUNT queries on a release per person, with and without counts of rows for each column.

The counts are made here from the source: `apply` publishes none with a promise per person.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks.clinic_stays import PEOPLE, STAYS, clinic_stays
from benchmarks.per_person import QUERIES, SEEDS, Shown, Table, by_voile, shown
from benchmarks.tables import save
from numpy.typing import NDArray

from voile.core.rounding import round_number
from voile.tables.recoding.raking import rake_values

Floats = NDArray[np.float64]
FEW = (11, 50, 200)
"""The least people of a run of values."""


def main() -> None:
    found: dict[str, list[float]] = defaultdict(list)
    runs: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            table = Table.of(clinic_stays(seed))
            release = by_voile(table, Path(folder))
            for name, begins, is_exact in ways(table):
                likely = likely_values(table, release, begins, is_exact=is_exact)
                found[name].append(count_error(table, release, likely, seed))
                runs[name].append(sum(map(len, begins)))
    save(
        "per_person_counts",
        f"{PEOPLE:,} made-up patients, {STAYS:,} stays, a promise per person, default options.\n"
        f"The least and the largest of {len(SEEDS)} tables. COUNT: mean error of {QUERIES:,} "
        "queries of two columns, as a share of the\nrows. Labels are raked to the counts of rows "
        "in runs of values.",
        ("published next to the release", "counts", "COUNT error"),
        [(name, shown(runs[name]), shown(found[name])) for name in found],
    )


def ways(table: Table) -> Iterator[tuple[str, list[NDArray[np.int64]], bool]]:
    """Yield the name of each way, where each column's runs begin, and whether counts are exact."""
    yield "nothing (the default)", [np.zeros(1, np.int64) for _ in table.values], True
    for few in FEW:
        begins = [begin_runs(table, place, few) for place in range(len(table.values))]
        yield f"runs of at least {few} people, in two digits", begins, False
    yield "each value, exact", [np.arange(len(own)) for own in table.values], True


def begin_runs(table: Table, place: int, few: int) -> NDArray[np.int64]:
    """Return the first value of each run of values that at least so many people have."""
    column, people = table.codes[:, place], np.array(table.people)
    begins, held = [0], 0
    for value in range(len(table.values[place])):
        if held >= few:
            begins.append(value)
            held = 0
        held = len(np.unique(people[(column >= begins[-1]) & (column <= value)]))
    return np.array(begins[:-1] if held < few and len(begins) > 1 else begins)


def likely_values(
    table: Table, release: Shown, begins: list[NDArray[np.int64]], *, is_exact: bool
) -> list[tuple[NDArray[np.int64], Floats]]:
    """Return, by column, the label of each released row, and the likely values of each label."""
    made = []
    for place, values in enumerate(table.values):
        cells = sorted({cells[place] for cells in release.cells}, key=sorted)
        number = {cell: i for i, cell in enumerate(cells)}
        of_row = np.array([number[one[place]] for one in release.cells])
        inside = np.array([[v in cell for v in range(len(values))] for cell in cells])
        run = np.searchsorted(begins[place], table.codes[:, place], side="right") - 1
        counts = np.bincount(run, minlength=len(begins[place]))
        stated = counts if is_exact else np.array([round_number(int(n)) for n in counts])
        rows = np.bincount(of_row, minlength=len(cells)).astype(np.float64)
        made.append((of_row, rake_values(inside, rows, begins[place], stated.astype(np.float64))))
    return made


def count_error(
    table: Table, release: Shown, likely: list[tuple[NDArray[np.int64], Floats]], seed: int
) -> float:
    """Return the mean error of the queries of `per_person.count_error`, as a share of the rows."""
    rng, rows, errors = np.random.default_rng(seed), len(table.people), []
    sums = []
    for of_row, shares in likely:
        whole = np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        sums.append((of_row, np.pad(np.cumsum(shares / whole, axis=1), ((0, 0), (1, 0)))))
    for _ in range(QUERIES):
        true, found = np.ones(rows, np.bool_), np.ones(len(release.rows))
        for j in rng.choice(len(table.values), 2, replace=False):
            low, high = np.sort(rng.integers(0, len(table.values[j]), 2))
            true &= (table.codes[:, j] >= low) & (table.codes[:, j] <= high)
            of_row, below = sums[j]
            found *= (below[:, high + 1] - below[:, low])[of_row]
        errors.append(abs(true.sum() - found.sum()) / rows)
    return float(np.mean(errors))


if __name__ == "__main__":
    main()
