"""What `voile tables fit` costs at its defaults on a million rows of 4, 8 and 10 columns.

The floor is a plain pass of DuckDB: read the file and count the distinct combinations.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.fit_command import cpu_seconds
from benchmarks.scale import people
from benchmarks.tables import save
from benchmarks.trees_speed import made_up

from voile.core.frontier import Frontier
from voile.release.kit import Kit
from voile.tables.verbs.content import KIND, Content

ROWS, COLUMNS = 1_000_000, (4, 8, 10)
RISKS = (0.5, 0.1, 0.01, 0.001)


def main() -> None:
    """Fit each table once, after a run for the compiled code."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        fit(table(50_000, 10, Path(place)))
        for columns in COLUMNS:
            path = table(ROWS, columns, Path(place))
            floor = cpu_seconds([sys.executable, "-c", COUNT, str(path)])
            took, frontier = fit(path)
            losses = (f"{loss_at(frontier, risk):.3f}" for risk in RISKS)
            rows.append((f"{columns}", f"{took:.1f}", f"{floor:.1f}", *losses))
            print(*rows[-1], flush=True)
    save(
        "large_tables",
        f"{ROWS:,} made-up rows, no population, from a Parquet file to a kit, imports included.\n"
        "The floor is DuckDB's count of the distinct rows. Losses are the least at that relative\n"
        "risk. The compiled code was kept from a run before.",
        ("columns", "CPU seconds", "floor", *(f"loss at {risk:g}" for risk in RISKS)),
        rows,
        "One run each, on cores that other work shared.",
    )


COUNT = (
    "import duckdb, sys; "
    "duckdb.sql(f\"select count(*) from (select distinct * from '{sys.argv[1]}')\").fetchall()"
)


def table(rows: int, columns: int, place: Path) -> Path:
    """Return a file of made-up people: those of `scale`, or correlated columns."""
    if columns == len(pq.read_schema(scale := people(ROWS))):
        return scale
    counts = made_up(rows, columns)
    path = place / f"{rows}-{columns}.parquet"
    names = [f"c{i}" for i in range(columns)]
    pq.write_table(pa.table(dict(zip(names, counts.codes.T.astype(np.int32), strict=True))), path)
    return path


def fit(path: Path) -> tuple[float, Frontier]:
    """Return the CPU seconds of one fit, and its frontier."""
    with tempfile.TemporaryDirectory() as place:
        kit, roles = Path(place, "people.kit"), Path(place, "roles.toml")
        names = pq.read_schema(path).names
        roles.write_text("[columns]\n" + "".join(f'{name} = "quasi"\n' for name in names))
        command = [sys.executable, "-m", "voile", "tables", "fit", str(path), "--seed", "1"]
        given = ["--roles", str(roles), "--out", str(kit)]
        took = cpu_seconds([*command, *given])
        return took, Content.of(Kit.load(kit, KIND)).frontier


def loss_at(frontier: Frontier, risk: float) -> float:
    """Return the least loss of the policies of no more risk."""
    return float(frontier.loss[np.searchsorted(frontier.risk, risk, side="right") - 1])


if __name__ == "__main__":
    main()
