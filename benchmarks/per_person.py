"""Ways to release people with several rows: which promise holds, and what each loses.

Every figure is counted here, in plain Python, from the released labels and the source.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.clinic_stays import PEOPLE, QUASI, ROLES, STAYS, clinic_stays
from benchmarks.tables import save, yardstick
from numpy.typing import NDArray

import voile.tables

K, QUERIES, SEEDS = 5, 1_000, (2026, 2027, 2028)
Cell = frozenset[int]


@dataclass(frozen=True)
class Shown:
    """What one release shows: of each released row its number in the source and its sets of values.

    joined : whether a pseudonym joins the rows of a person.
    """

    rows: list[int]
    cells: list[tuple[Cell, ...]]
    joined: bool
    seconds: float


def main() -> None:
    """Release the same tables in each way, and count what each release shows and loses."""
    found: dict[str, list[list[float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            source = Table.of(clinic_stays(seed))
            for name, release in ways(Path(folder)).items():
                found[name].append(measure(source, release(source), seed))
    rows = [
        (name, *(shown(one) for one in zip(*each, strict=True))) for name, each in found.items()
    ]
    save(
        "per_person",
        f"{PEOPLE:,} made-up patients, {STAYS:,} stays, 20 columns, 8 of them quasi-identifiers, "
        f"k = {K}; the policy of the least loss.\nThe least and the largest of {len(SEEDS)} "
        "tables, none of which anything was tuned on. Alone: people whose released rows, all\n"
        "together, nobody else has. Joined: rows of people with several, released next to another "
        "of hers. Entropy: mean over columns\nof H(column | labels of the row) / H(column), rows "
        f"that are not released lost. COUNT: mean error of {QUERIES:,} queries of two\ncolumns, "
        "as a share "
        "of the rows.",
        (
            "way",
            "people alone",
            "in classes under 5",
            "rows released",
            "rows joined",
            "entropy loss",
            "COUNT error",
            "CPU s",
        ),
        rows,
        yardstick(),
    )


def shown(values: Sequence[float]) -> str:
    low, high = (f"{value:,.4g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class Table:
    """A source: its rows as positions of their values among those of each column, in order."""

    rows: pa.Table
    values: list[list[str]]
    codes: NDArray[np.int64]
    people: list[str]

    @classmethod
    def of(cls, rows: pa.Table) -> Table:
        """Read days as years and months where the roles do."""
        columns = []
        for name, settings in QUASI.items():
            texts = rows.column(name).to_pylist()
            by = settings.get("by") if isinstance(settings, dict) else None
            year = [text[6:] for text in texts] if by else texts
            columns.append(
                [f"{y}-{t[3:5]}" for y, t in zip(year, texts, strict=True)]
                if by == "month"
                else year
            )
        values = [sorted(set(column)) for column in columns]
        codes = [
            [own.index(cell) for cell in column]
            for own, column in zip(values, columns, strict=True)
        ]
        return cls(rows, values, np.array(codes).T, rows.column("patnr").to_pylist())


def ways(folder: Path) -> dict[str, Callable[[Table], Shown]]:
    """Return how each way releases a table."""
    return {
        "promise per row (the default before)": lambda t: by_voile(t, folder, promise="row"),
        "the same, no pseudonyms": lambda t: by_voile(t, folder, promise="row", joined=False),
        "the same, one row of each person": lambda t: by_voile(
            t, folder, promise="row", first=True
        ),
        "records, median cuts, labels from least to largest value": by_medians,
        "promise per person (the default)": lambda t: by_voile(t, folder),
    }


def by_voile(
    table: Table,
    folder: Path,
    *,
    promise: str | None = None,
    joined: bool = True,
    first: bool = False,
) -> Shown:
    """Fit, choose and apply, and read the labels back by the manifest's codebook."""
    number = np.arange(len(table.people))
    if first:
        number = np.sort(np.unique(table.people, return_index=True)[1])
    source = table.rows.take(pa.array(number))
    key = folder / "key"
    key.write_text("5a" * 32)
    key.chmod(0o600)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kit = voile.tables.fit(source, roles=ROLES, seed=1, k=K, promise=promise)
        named: dict[str, Any] = {"key_file": key} if joined else {"no_pseudonyms": True}
        named |= {"accept_risk": "this way is measured"} if promise == "row" else {}
        release = kit.apply(kit.choose(least_loss=True), source, **named)
    seconds = time.process_time() - began
    release.save(folder / "release.parquet", force=True)
    public = json.loads((folder / "release.parquet.manifest.json").read_text())
    at = (
        pq.read_table(folder / "release.parquet.private" / "rows.parquet").column("row").to_pylist()
    )
    policy = public["policy"]
    columns = {c["column"]: c for c in (policy["columns"] if isinstance(policy, dict) else policy)}
    cells = []
    for name, values in zip(QUASI, table.values, strict=True):
        of_label = {e["label"]: held(e, values) for e in columns[name]["entries"]}
        cells.append([of_label[label] for label in release.frame.column(name).to_pylist()])
    rows = [int(number[row]) for row in at]
    return Shown(rows, list(zip(*cells, strict=True)), joined, seconds)


def held(entry: dict[str, Any], values: Sequence[str]) -> Cell:
    """Return which values an entry of a codebook holds."""
    if entry["values"]:
        return frozenset(i for i, value in enumerate(values) if value in set(entry["values"]))
    first, last = entry["first"] or values[0], entry["last"] or values[-1]
    return frozenset(i for i, value in enumerate(values) if first <= value <= last)


def by_medians(table: Table) -> Shown:
    """Cut the records of people with as many rows at medians, the widest column first."""
    began = time.process_time()
    own: dict[str, list[int]] = defaultdict(list)
    born = list(QUASI).index("aufnahme")
    for row, person in enumerate(table.people):
        own[person].append(row)
    records = [
        sorted(rows, key=lambda r: (table.codes[r, born], *table.codes[r])) for rows in own.values()
    ]
    rows: list[int] = []
    cells: list[tuple[Cell, ...]] = []
    waiting: list[list[int]] = []
    for number in range(max(map(len, records)), 0, -1):
        waiting = [r[:number] for r in waiting] + [r for r in records if len(r) == number]
        if len(waiting) < K:
            continue
        for group in halves(np.array(waiting), table):
            for place in group.T:
                low, high = table.codes[place].min(axis=0), table.codes[place].max(axis=0)
                label = tuple(frozenset(range(a, b + 1)) for a, b in zip(low, high, strict=True))
                rows += place.tolist()
                cells += [label] * len(place)
        waiting = []
    return Shown(rows, cells, True, time.process_time() - began)


def halves(group: NDArray[np.int64], table: Table) -> Iterable[NDArray[np.int64]]:
    codes = table.codes[group].reshape(len(group), -1)
    width = (codes.max(axis=0) - codes.min(axis=0)) / np.tile(
        [len(values) - 1 for values in table.values], group.shape[1]
    )
    for j in np.argsort(-width):
        left = codes[:, j] <= np.median(codes[:, j])
        if K <= left.sum() <= len(group) - K:
            yield from halves(group[left], table)
            yield from halves(group[~left], table)
            return
    yield group


def measure(table: Table, release: Shown, seed: int) -> list[float]:
    """Count people alone, rows and losses."""
    known: dict[Any, list[tuple[Cell, ...]]] = defaultdict(list)
    for row, cell in zip(release.rows, release.cells, strict=True):
        known[table.people[row] if release.joined else row].append(cell)
    multisets = Counter(frozenset(Counter(cells).items()) for cells in known.values())
    several = Counter(table.people)
    linked = [row for row, person in enumerate(table.people) if several[person] > 1]
    left = Counter(table.people[row] for row in release.rows)
    shown = set(release.rows) if release.joined else set()
    joined = sum(row in shown and left[table.people[row]] > 1 for row in linked)
    return [
        sum(n for n in multisets.values() if n == 1),
        sum(n for n in multisets.values() if n < K),
        len(release.rows) / len(table.people),
        joined / len(linked),
        entropy_loss(table, release),
        count_error(table, release, seed),
        release.seconds,
    ]


def entropy_loss(table: Table, release: Shown) -> float:
    """Return the mean over columns of the entropy that the labels of a row leave."""
    rows, lost = len(table.people), len(table.people) - len(release.rows)
    shares = []
    for column in table.codes.T:
        whole = entropy(Counter(column.tolist()))
        within: dict[tuple[Cell, ...], Counter[int]] = defaultdict(Counter)
        for row, cell in zip(release.rows, release.cells, strict=True):
            within[cell][int(column[row])] += 1
        hidden = sum(entropy(counts) for counts in within.values())
        shares.append((hidden + lost * whole / rows) / whole)
    return sum(shares) / len(shares)


def entropy(counts: Counter[int]) -> float:
    """Return the entropy of values, in nats, times how many there are."""
    n = sum(counts.values())
    return n * math.log(n) - sum(m * math.log(m) for m in counts.values())


def count_error(table: Table, release: Shown, seed: int) -> float:
    """Return the mean error of COUNT queries: values are taken as even within each label."""
    rng, rows, errors = np.random.default_rng(seed), len(table.people), []
    for _ in range(QUERIES):
        true, likely = np.ones(rows), np.ones(len(release.rows))
        for j in rng.choice(len(table.values), 2, replace=False):
            size = len(table.values[j])
            low, high = np.sort(rng.integers(0, size, 2))
            share = {
                cell: len(cell & set(range(low, high + 1))) / len(cell)
                for cell in {cells[j] for cells in release.cells}
            }
            true *= (table.codes[:, j] >= low) & (table.codes[:, j] <= high)
            likely *= [share[cells[j]] for cells in release.cells]
        errors.append(abs(true.sum() - likely.sum()) / rows)
    return float(np.mean(errors))


if __name__ == "__main__":
    main()
