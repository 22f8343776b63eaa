"""Trees against anonypy and ANJANA on Adult, k = 5, in one run.

Both are installed from `requirements/rivals.txt` into an environment of their own, whose Python
`VOILE_RIVALS` names.
"""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from benchmarks.data import folder
from benchmarks.tables import save
from benchmarks.trees_adult import (
    FLOOR,
    NUMBERS,
    QUASI,
    QUERIES,
    Boxes,
    adult,
    adult_table,
    counts_of,
    least_loss,
    mondrian,
    shown,
)
from numpy.typing import NDArray

from voile.tables.scoring.losses import CombinationGrouping, losses

EIGHT = (
    *("age", "sex", "race", "marital-status"),
    *("education", "native-country", "workclass", "occupation"),
)
K, ROWS, LIMIT, AT_ONCE = 5, 10_000, 60, 8
Codes = NDArray[np.int32]
Bits = NDArray[np.bool_]


@dataclass(frozen=True)
class Release:
    """Rows made alike: the group of each, -1 suppressed, and by column (groups, values) shown."""

    group: NDArray[np.intp]
    values: tuple[Bits, ...]
    seconds: float


@dataclass(frozen=True)
class Table:
    """Some columns of Adult as positions, and how each may be generalised step by step."""

    columns: tuple[str, ...]
    codes: Codes
    sizes: tuple[int, ...]
    levels: tuple[NDArray[np.int64], ...]
    income: Bits

    @property
    def train(self) -> NDArray[np.intp]:
        """The rows to learn from: 70%, drawn at random."""
        order = np.random.default_rng(0).permutation(len(self.codes))
        return order[: round(0.7 * len(order))]


class OutOfTimeError(Exception):
    """A program was stopped."""


def main() -> None:
    """Compare each way to make rows alike, on 8 and on 13 quasi-identifiers."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        asked = []
        for table in map(table_of, (EIGHT, QUASI)):
            least_loss(table.codes, table.sizes)  # compiled, not timed
            for name, maker in makers(table).items():
                made = [pool.submit(maker, own) for own in (table.codes, table.codes[table.train])]
                asked.append((table, name, made))
        rows = [
            (str(len(table.sizes)), *of_release(name, table, *made)) for table, name, made in asked
        ]
    save(
        "trees_rivals",
        f"{ROWS:,} rows of Adult, k = {K}. Lower is better, but for AUC.",
        (
            *("quasi-identifiers", "release", "CPU seconds", "groups", "suppressed"),
            *("distribution", "resolution", "NCP", "query error", "AUC, one split"),
        ),
        rows,
        NOTES,
    )


NOTES = f"""Suppressed rows count as wholly lost, and as none in a COUNT. ANJANA may suppress 5%
of rows. Its hierarchies are ARX's of Adult if there is one, and intervals of 2, 4, 8, ...
values of other numbers. The output of anonypy has a group's set of names, and its
least and largest number, which are those of persons. AUC is that of a boosting trained on
the releases of 70% of the rows, and tried on the other rows unchanged. A set is its
first, middle and last value. A program is stopped after {LIMIT} CPU seconds, so some rows are
missing.
ARX was not run: an earlier
run on 30,162 rows with 8 quasi-identifiers lost .363 by eq. 4 with 5% suppressed, .859 with
none.

One change was tried on all rows with 13 quasi-identifiers. It chooses the cuts of the first three
levels after further growth from the best cut of each column. Half distribution and half
resolution is then .256 in place of .266, and resolution .140 as before. AUC is .908 and .907 on
two splits in place of .907 and .905. It takes seven times the time, and is not built in."""


def makers(table: Table) -> dict[str, Callable[[Codes], Release]]:
    """Return how each makes releases of rows, by name."""

    def ours(own: Codes) -> Release:
        return timed(table, lambda: shown(least_loss(own, table.sizes), own))

    def spans(own: Codes) -> Release:
        return timed(table, lambda: mondrian(own, table.sizes, K)[1])

    def other(program: str) -> Callable[[Codes], Release]:
        return lambda own: run_rival(program, own, table)

    return {
        "trees, least loss": ours,
        "Mondrian, least and largest values": spans,
        "anonypy": other("anonypy"),
        "ANJANA": other("anjana"),
    }


def timed(table: Table, make: Callable[[], Boxes]) -> Release:
    """Make boxes, and time it."""
    began = time.thread_time()
    boxes = make()
    took = time.thread_time() - began
    pairs, group = np.unique(np.hstack([boxes.low, boxes.high]), axis=0, return_inverse=True)
    low, high = np.hsplit(pairs, 2)
    values = tuple(
        (np.arange(size) >= a[:, None]) & (np.arange(size) <= b[:, None])
        for size, a, b in zip(table.sizes, low.T, high.T, strict=True)
    )
    return Release(group.ravel(), values, took)


def run_rival(program: str, own: Codes, table: Table) -> Release:
    """Run another program in its own Python.

    Raises
    ------
    OutOfTimeError : it was stopped.
    """
    with tempfile.TemporaryDirectory() as place:
        write_source(replace(table, codes=own), Path(place, "rows.npz"))
        command = command_of(program, Path(place))
        done = subprocess.run(command, stdout=subprocess.DEVNULL, env={}, check=False)
        if done.returncode == -signal.SIGXCPU:
            raise OutOfTimeError
        done.check_returncode()
        found = np.load(Path(place, "out.npz"))
        values = tuple(found[f"values_{j}"] for j in range(len(table.sizes)))
        return Release(found["group"], values, float(found["took"]))


def write_source(table: Table, path: Path) -> None:
    """Write the rows and their levels for another program."""
    numbers = [name in NUMBERS for name in table.columns]
    levels = {f"level_{j}": level for j, level in enumerate(table.levels)}
    np.savez(path, codes=table.codes, numbers=numbers, k=K, **levels)


def command_of(program: str, place: Path) -> list[str]:
    """Return the command that runs another program on `rows.npz` of a folder."""
    python = os.environ.get("VOILE_RIVALS", str(Path(sys.prefix) / "rivals" / "bin" / "python"))
    worker = Path(__file__).with_name("trees_rivals_worker.py")
    return [
        python,
        str(worker),
        program,
        *(str(place / f"{x}.npz") for x in ("rows", "out")),
        str(LIMIT),
    ]


def of_release(
    name: str, table: Table, whole: Future[Release], part: Future[Release]
) -> tuple[str, ...]:
    """Return the figures of one way to make rows alike, all of them and those to learn from."""
    try:
        release, learnt = whole.result(), part.result()
    except OutOfTimeError:
        return (name, f"more than {LIMIT}", *[""] * 7)
    lost = losses_of(release, table)
    figures = (*lost.values(), query_error(release, table), auc(learnt, table))
    return (
        name,
        f"{release.seconds:.1f}",
        f"{len(release.values[0]):,}",
        f"{(release.group < 0).mean():.1%}",
        *(f"{one:.3f}" for one in figures),
    )


def losses_of(release: Release, table: Table) -> dict[str, float]:
    """Return the three losses: no way here puts equal rows into several groups."""
    group = np.where(release.group < 0, len(release.values[0]), release.group)
    own = np.unique(np.column_stack([table.codes, group]), axis=0)
    counts = counts_of(table.codes, table.sizes)
    if not np.array_equal(own[:, :-1], counts.codes):
        raise ValueError("equal rows are in several groups")
    values = tuple(np.vstack([shown, np.ones(shown.shape[1], bool)]) for shown in release.values)
    every = np.tile(np.arange(len(values[0]))[:, None], len(table.sizes))
    return losses(
        counts, CombinationGrouping(own[:, -1], every, values, every[:, 0] < len(every) - 1)
    )


def query_error(release: Release, table: Table, *, seed: int = 0) -> float:
    """Return the median relative error of the COUNTs that `trees_adult` asks."""
    rng, errors = np.random.default_rng(seed), []
    codes, sizes, kept = table.codes, table.sizes, release.group >= 0
    for _ in range(QUERIES):
        columns = rng.choice(len(sizes), rng.integers(1, 4), replace=False)
        record = codes[rng.integers(len(codes))]
        true, share = np.ones(len(codes), dtype=bool), kept.astype(float)
        for j in columns:
            width = max(1, round(rng.uniform(0.05, 0.3) * sizes[j]))
            a = int(np.clip(record[j] - rng.integers(width), 0, sizes[j] - width))
            true &= (codes[:, j] >= a) & (codes[:, j] <= a + width - 1)
            values = release.values[j]
            share *= (values[:, a : a + width].sum(axis=1) / values.sum(axis=1))[release.group]
        n = true.sum()
        errors.append(abs(share.sum() - n) / max(n, FLOOR * len(codes)))
    return float(np.median(errors))


def auc(release: Release, table: Table) -> float:
    """Return the AUC on untouched rows of a boosting trained on the released rows of 70%."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    kept, test = release.group >= 0, np.setdiff1d(np.arange(len(table.codes)), table.train)
    model = HistGradientBoostingClassifier(max_iter=80, learning_rate=0.1, random_state=0)
    model.fit(features(release)[release.group[kept]], table.income[table.train][kept])
    of = np.column_stack([table.codes[test]] * 3)
    return float(roc_auc_score(table.income[test], model.predict_proba(of)[:, 1]))


def features(release: Release) -> NDArray[np.float64]:
    """Return the first, the middle and the last value of each column, by group."""
    first = [values.argmax(axis=1) for values in release.values]
    last = [values.shape[1] - 1 - values[:, ::-1].argmax(axis=1) for values in release.values]
    middle = [(a + b) / 2 for a, b in zip(first, last, strict=True)]
    return np.column_stack([*first, *middle, *last])


def table_of(columns: Sequence[str], rows: int = ROWS) -> Table:
    """Return these columns of some rows of Adult."""
    codes, sizes, income = adult()
    drawn = np.sort(np.random.default_rng(0).permutation(len(codes))[:rows])
    at = [QUASI.index(name) for name in columns]
    whole = adult_table()
    firsts = [np.unique(codes[:, j], return_index=True)[1] for j in at]
    values = [
        whole[name].take(first).to_pylist() for name, first in zip(columns, firsts, strict=True)
    ]
    return Table(
        tuple(columns),
        np.ascontiguousarray(codes[drawn][:, at]),
        tuple(sizes[j] for j in at),
        tuple(map(levels_of, columns, values)),
        income[drawn],
    )


def levels_of(name: str, values: Sequence[str]) -> NDArray[np.int64]:
    """Return (levels, values) the group that holds each value: each alone at first, at last one."""
    size = len(values)
    ours = folder("arx-adult") / f"adult_hierarchy_{name}.csv"
    if ours.exists():
        with ours.open(encoding="utf-8") as file:
            rows = {row[0]: row for row in csv.reader(file, delimiter=";")}
        height = len(next(iter(rows.values())))
        labels = [rows.get(value, [value] * (height - 1) + ["*"]) for value in values]
        steps = [np.unique(column, return_inverse=True)[1] for column in zip(*labels, strict=True)]
    elif name in NUMBERS:
        steps = [np.arange(size) >> step for step in range(size.bit_length() + 1)]
    else:
        steps = [np.arange(size), np.zeros(size)]
    return np.array(steps, dtype=np.int64)


if __name__ == "__main__":
    main()
