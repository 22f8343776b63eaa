"""The gate on a release of people with several rows: its CPU, its memory, and naive recounts."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median

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

ROWS, SMALL, NAIVE, RUNS = 1_000_000, 250_000, 100_000, 3
FITTED = 50_000
"""Rows that a kit is fitted on."""
PEOPLE = 0.8
"""People for each row."""
QUASI, SENSITIVE, KEPT = (
    ("age", "sex", "county", "job"),
    ("ill",),
    ("ward", "stay", "visit", "cost"),
)
ROLES = {
    "subject": "person",
    "columns": {
        "person": "identifier",
        **dict.fromkeys(QUASI, "quasi"),
        **dict.fromkeys(SENSITIVE, "sensitive"),
        **dict.fromkeys(KEPT, "keep"),
    },
}


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        rows = [
            *measured(Path(place, "large"), ROWS),
            *measured(Path(place, "small"), SMALL),
            *recounted(Path(place, "naive")),
        ]
    save(
        "gate",
        f"Releases of 10 columns, {PEOPLE:g} people for each row, with pseudonyms that join rows;\n"
        "k, diversity, closeness, unique people and all rows of a person are counted.\n"
        f"Medians of {RUNS}, user and system CPU of all threads. Memory is the growth of the peak\n"
        "of a process that runs the gate alone.",
        ("rows", "what", "figure", "ratio"),
        rows,
        "Ratios are to `apply` without the gate, and of recounts to the gate on the same release. "
        "All recounts give equal figures.",
    )


def visits(rows: int) -> pa.Table:
    """Draw rows; a fifth of the rows are further rows of a person."""
    rng = np.random.default_rng(1)
    people = int(rows * PEOPLE)
    who = np.concatenate([np.arange(people), rng.integers(0, people, rows - people)])
    return pa.table(
        {
            "person": [f"P{number:08d}" for number in rng.permutation(who)],
            "age": rng.integers(0, 100, rows),
            "sex": rng.choice(["f", "m"], rows),
            "county": rng.choice([f"county {n}" for n in range(50)], rows),
            "job": rng.choice([f"job {n}" for n in range(20)], rows),
            "ill": rng.choice([f"ill {n}" for n in range(12)], rows),
            "ward": rng.choice([f"ward {n}" for n in range(30)], rows),
            "stay": rng.integers(0, 60, rows),
            "visit": pa.array(rng.integers(18_000, 19_500, rows).astype("int32"), pa.date32()),
            "cost": rng.integers(0, 5_000, rows),
        }
    )


def measured(place: Path, rows: int) -> list[tuple[str, ...]]:
    """Apply a policy several times; return the CPU of the gate and of the rest, and the memory."""
    made = fitted(place, rows)
    gate, rest = zip(*(applied(*made) for _ in range(RUNS)), strict=True)
    grown = [int(alone(place)) / 2**20 for _ in range(RUNS)]
    return [
        (f"{rows:,}", "`apply` without the gate", f"{median(rest):.2f} s", "1"),
        (f"{rows:,}", "gate", f"{median(gate):.2f} s", f"{median(gate) / median(rest):.2f}"),
        (f"{rows:,}", "memory that the gate adds", f"{median(grown):.0f} MiB", ""),
    ]


Fitted = tuple[Kit, Chosen, Path]


def fitted(place: Path, rows: int) -> Fitted:
    """Fit a kit; return it with its policy of the least loss, and the source."""
    place.mkdir()
    source, key = place / "visits.parquet", place / "key"
    table = visits(rows)
    pq.write_table(table, source)
    key.write_text(secrets.token_hex(32))
    key.chmod(0o600)
    options = {"k": 5, "family": "global", "method": "quick", "promise": "row", "seed": 1}
    kit = voile.tables.fit(table.slice(0, FITTED), roles=ROLES, **options)
    return kit, kit.choose(least_loss=True), source


def applied(kit: Kit, policy: Chosen, source: Path) -> tuple[float, float]:
    """Apply a policy; return the CPU of the gate, and of all else."""
    spent: list[float] = []
    measure = apply._Recoding.measure

    def timed(self: object, written: object) -> tuple[GateFinding, ...]:
        begun = time.process_time()
        found = measure(self, written)
        spent.append(time.process_time() - begun)
        return found

    apply._Recoding.measure = timed
    begun = time.process_time()
    out, key = source.with_name("out.parquet"), source.with_name("key")
    kit.apply(policy, source, out, key_file=key, accept_risk="it is measured", force=True)
    whole = time.process_time() - begun
    apply._Recoding.measure = measure
    return spent[0], whole - spent[0]


def alone(place: Path) -> str:
    """Return the bytes by which the peak of a process grows while it runs the gate."""
    script = f"from benchmarks.gate import grow; print(grow({str(place)!r}))"
    command = [sys.executable, "-c", script]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def grow(place: str) -> int:
    """Run the gate in this process, and return the bytes that its peak grows by."""
    before = peak()
    findings(Path(place))
    return peak() - before


def peak() -> int:
    """Return the largest resident bytes of this process; a child's `ru_maxrss` has its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def findings(place: Path) -> dict[str, float]:
    """Run the gate on a release, from its files alone."""
    policy = json.loads((place / "out.parquet.manifest.json").read_text())["policy"]
    found = measure_release(
        open_source(place / "out.parquet"),
        open_source(place / "out.parquet.private" / "rows.parquet"),
        read_codebook(policy),
        QUASI,
        sensitive=SENSITIVE,
        unknown=["person"],
        k=5,
        directory=place,
    )
    return figures_of(found)


def recounted(place: Path) -> list[tuple[str, ...]]:
    """Count a release by the gate, by pandas and with dictionaries; all figures must be equal."""
    applied(*fitted(place, NAIVE))
    ways = {"gate": findings, "pandas": by_pandas, "dictionaries": by_dictionaries}
    took, found = {}, {}
    for name, count in ways.items():
        took[name], found[name] = median_cpu(count, place)
    for name, figures in found.items():
        for key, value in found["pandas"].items():
            assert np.isclose(figures[key], value, rtol=1e-9), (name, key)
    return [
        (f"{NAIVE:,}", name, f"{own:.2f} s", f"{own / took['gate']:.1f}")
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


def by_dictionaries(place: Path) -> dict[str, float]:
    """Count with the recount that the tests hold the gate to."""
    from tests.gate.recount import recount

    rows = pq.read_table(place / "out.parquet").to_pylist()
    who = pq.read_table(place / "out.parquet.private" / "rows.parquet").column("person")
    return recount(
        rows,
        who.to_pylist(),
        5,
        labels=QUASI,
        sensitive=SENSITIVE,
        known=[*QUASI, *SENSITIVE, *KEPT],
        joining=["person", *SENSITIVE, *KEPT],
    )


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
