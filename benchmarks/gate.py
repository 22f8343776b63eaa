"""The gate on a release of people with several rows: its CPU, its memory, and a naive recount."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.tables import save

import voile.tables
from voile.data import open_source
from voile.face.kit import Kit
from voile.gate.finding import GateFinding, figures_of
from voile.release.choice import Chosen
from voile.tables.recoding.boxes import read_codebook
from voile.tables.verbs import apply
from voile.tables.verbs.measure_release import measure_release

ROWS, NAIVE, RUNS = (250_000, 1_000_000, 4_000_000), 100_000, 3
FITTED = 50_000
"""Rows that a kit is fitted on."""
PEOPLE = 0.8
"""People for each row."""
QUASI, SENSITIVE = ("age", "sex", "county", "job"), ("ill",)
KEPT = ("ward", "stay", "visit", "cost")
MORE = ("height", "doctor", "lab", "dose", "pulse")


@dataclass(frozen=True)
class Case:
    """A release of made-up visits: whether pseudonyms or kept columns join rows."""

    name: str
    kept: tuple[str, ...]
    has_pseudonyms: bool

    @property
    def roles(self) -> dict[str, Any]:
        return {
            "subject": "person",
            "columns": {
                "person": "identifier",
                **dict.fromkeys(QUASI, "quasi"),
                **dict.fromkeys(SENSITIVE, "sensitive"),
                **dict.fromkeys(self.kept, "keep"),
            },
        }


CASES = (
    Case("10 columns, pseudonyms", KEPT, has_pseudonyms=True),
    Case("14 columns, 10 not generalised", (*KEPT, *MORE), has_pseudonyms=False),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        lines = [
            line
            for number, case in enumerate(CASES)
            for rows in ROWS
            for line in measured(Path(place, f"{number}-{rows}"), case, rows)
        ]
        lines += recounted(Path(place, "naive"))
    save(
        "gate",
        f"Releases with {PEOPLE:g} people for each row. Rows of a person are joined by\n"
        "pseudonyms, or by kept values and pairs of them. The gate counts k, diversity,\n"
        "closeness, unique people and all rows of a person. User and system CPU of all\n"
        f"threads, one run, and for the recount medians of {RUNS}. Memory is the growth of\n"
        "the peak of a process that runs the gate alone.",
        ("release", "rows", "what", "figure", "ratio"),
        lines,
        "Ratios are to `apply` without the gate, and of the recount to the gate on the same "
        "release. Both give equal figures.",
    )


def visits(rows: int) -> pa.Table:
    """Draw rows; a fifth of the rows are further rows of a person."""
    rng = np.random.default_rng(1)
    people = int(rows * PEOPLE)
    who = np.concatenate([np.arange(people), rng.integers(0, people, rows - people)])
    who, own = rng.permutation(who), rng.integers(0, 2**31, people)
    return pa.table(
        {
            "person": [f"P{number:08d}" for number in who],
            "age": rng.integers(0, 100, rows),
            "sex": rng.choice(["f", "m"], rows),
            "county": rng.choice([f"county {n}" for n in range(50)], rows),
            "job": rng.choice([f"job {n}" for n in range(20)], rows),
            "ill": rng.choice([f"ill {n}" for n in range(12)], rows),
            "ward": rng.choice([f"ward {n}" for n in range(30)], rows),
            "stay": rng.integers(0, 60, rows),
            "visit": pa.array(rng.integers(18_000, 19_500, rows).astype("int32"), pa.date32()),
            "cost": rng.integers(0, 5_000, rows),
            "height": 140 + own[who] % 60,
            "doctor": own[who] % 977,
            "lab": rng.integers(0, 300, rows),
            "dose": rng.integers(0, 40, rows) * 5,
            "pulse": rng.integers(40, 160, rows),
        }
    )


def measured(place: Path, case: Case, rows: int) -> list[tuple[str, ...]]:
    """Apply a policy; return the CPU of the gate and of the rest, and the memory."""
    spent, other = applied(*fitted(place, case, rows))
    grown = int(alone(place, case)) / 2**20
    shutil.rmtree(place)
    first = (case.name, f"{rows:,}")
    return [
        (*first, "`apply` without the gate", f"{other:.2f} s", "1"),
        (*first, "gate", f"{spent:.2f} s", f"{spent / other:.2f}"),
        (*first, "memory that the gate adds", f"{grown:.0f} MiB", ""),
    ]


Fitted = tuple[Kit, Chosen, Path, bool]


def fitted(place: Path, case: Case, rows: int) -> Fitted:
    """Fit a kit; return it with its policy of the least loss, the source, and if it has names."""
    place.mkdir()
    source, key = place / "visits.parquet", place / "key"
    table = visits(rows).select([*case.roles["columns"]])
    pq.write_table(table, source)
    key.write_text(secrets.token_hex(32))
    key.chmod(0o600)
    options = {"k": 5, "family": "global", "method": "quick", "promise": "row", "seed": 1}
    kit = voile.tables.fit(table.slice(0, FITTED), roles=case.roles, **options)
    return kit, kit.choose(least_loss=True), source, case.has_pseudonyms


def applied(kit: Kit, policy: Chosen, source: Path, has_pseudonyms: bool) -> tuple[float, float]:
    """Apply a policy; return the CPU of the gate, and of all else."""
    spent: list[float] = []
    measure = apply._TablesApplying.measure

    def timed(self: object, written: object) -> tuple[GateFinding, ...]:
        begun = time.process_time()
        found = measure(self, written)
        spent.append(time.process_time() - begun)
        return found

    apply._TablesApplying.measure = timed
    begun = time.process_time()
    how = {"key_file": source.with_name("key")} if has_pseudonyms else {"no_pseudonyms": True}
    out = source.with_name("out.parquet")
    kit.apply(policy, source, out, **how, accept_risk="it is measured", force=True)
    whole = time.process_time() - begun
    apply._TablesApplying.measure = measure
    return spent[0], whole - spent[0]


def alone(place: Path, case: Case) -> str:
    """Return the bytes by which the peak of a process grows while it runs the gate."""
    script = f"from benchmarks.gate import grow; print(grow({str(place)!r}, {CASES.index(case)}))"
    command = [sys.executable, "-c", script]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def grow(place: str, case: int) -> int:
    """Run the gate in this process, and return the bytes that its peak grows by."""
    before = peak()
    findings(Path(place), CASES[case])
    return peak() - before


def peak() -> int:
    """Return the largest resident bytes of this process; a child's `ru_maxrss` has its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def findings(place: Path, case: Case = CASES[0]) -> dict[str, float]:
    """Run the gate on a release, from its files alone."""
    policy = json.loads((place / "out.parquet.manifest.json").read_text())["policy"]
    found = measure_release(
        open_source(place / "out.parquet"),
        open_source(place / "out.parquet.private" / "rows.parquet"),
        read_codebook(policy),
        QUASI,
        sensitive=SENSITIVE,
        unknown=["person"] if case.has_pseudonyms else [],
        k=5,
        directory=place,
    )
    return figures_of(found)


def recounted(place: Path) -> list[tuple[str, ...]]:
    """Count a release by the gate and by pandas; all figures must be equal."""
    applied(*fitted(place, CASES[0], NAIVE))
    ways = {"gate": findings, "pandas": by_pandas}
    took, found = {}, {}
    for name, count in ways.items():
        took[name], found[name] = median_cpu(count, place)
    for name, figures in found.items():
        for key, value in found["pandas"].items():
            assert np.isclose(figures[key], value, rtol=1e-9), (name, key)
    return [
        (CASES[0].name, f"{NAIVE:,}", name, f"{own:.2f} s", f"{own / took['gate']:.1f}")
        for name, own in took.items()
    ]


def median_cpu(
    count: Callable[[Path], dict[str, float]], place: Path
) -> tuple[float, dict[str, float]]:
    spent = []
    for _ in range(RUNS):
        begun = time.process_time()
        found = count(place)
        spent.append(time.process_time() - begun)
    return median(spent), found


def by_pandas(place: Path) -> dict[str, float]:
    """Count groups, diversity, closeness, unique people and all rows of a person by groupby."""
    rows = pd.read_parquet(place / "out.parquet")
    whose = pd.read_parquet(place / "out.parquet.private" / "rows.parquet")
    rows["who"] = whose["person"].to_numpy()
    rows["group"] = rows.groupby([*QUASI], observed=True).ngroup()
    sizes = rows.groupby("group")["who"].nunique()
    least = rows["group"].map(sizes).groupby(rows["who"]).min()
    each = rows.groupby([*QUASI, *SENSITIVE, *KEPT], observed=True)["who"].agg(["min", "max"])
    alone = each.loc[each["min"] == each["max"], "min"].nunique()
    times = rows.groupby(["who", "group"]).size().reset_index(name="n")
    records = Counter(
        times.groupby("who")[["group", "n"]].apply(lambda x: tuple(map(tuple, x.to_numpy())))
    )
    pairs = rows[["who", "group", "ill"]].drop_duplicates()
    pairs["part"] = 1 / pairs.groupby("who")["group"].transform("size")
    counted = pairs.pivot_table(
        index="group", columns="ill", values="part", aggfunc="sum", fill_value=0
    )
    whole = counted.sum() / counted.to_numpy().sum()
    shares = counted.div(counted.sum(axis=1), axis=0)
    logs = np.log(shares.where(shares > 0, 1))
    return {
        "k": sizes.min(),
        "subjects": len(least),
        "sample_uniques": (least == 1).sum(),
        "prosecutor_mean": (1 / least).mean(),
        "unique_with_kept": alone,
        "k_all_rows": min(records.values()),
        "people_below_k": sum(n for n in records.values() if n < 5),
        "distinct_l(ill)": (counted > 0).sum(axis=1).min(),
        "entropy_l(ill)": np.exp((-(shares * logs).sum(axis=1)).min()),
        "t_closeness(ill)": ((shares - whole).abs().sum(axis=1) / 2).max(),
    }


if __name__ == "__main__":
    main()
