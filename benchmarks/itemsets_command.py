"""Whole commands on millions of rows: from a Parquet file to a kit, and to its report.

python -m benchmarks.itemsets_command [ROWS ...]
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.itemsets_data import LARGE_ROWS, large
from benchmarks.tables import save

from voile.itemsets.verbs.compile import main as compile_kernels

K = 5
SIZES = (LARGE_ROWS, 10 * LARGE_ROWS)
BATCH = 500_000
ROLES = '[columns]\nitems = "items"\nill = "label"\n'
COLUMNS = ("rows", "ones", "file", "command", "seconds", "peak")


def write(rows: int, path: Path) -> int:
    """Draw rows, write them as lists of items beside a label, and return how many ones they are."""
    X, y = large(rows)
    names = pa.array(["no", "yes"])
    schema = pa.schema([("items", pa.list_(pa.int32())), ("ill", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, BATCH):
            ends = X.indptr[first : first + BATCH + 1]
            items = X.indices[ends[0] : ends[-1]].astype(np.int32)
            lists = pa.ListArray.from_arrays((ends - ends[0]).astype(np.int32), items)
            labels = names.take(pa.array(y[first : first + BATCH]))
            writer.write_table(pa.table([lists, labels], schema=schema))
    return int(X.nnz)


def run(*words: object) -> tuple[float, float]:
    """Run a command; return its seconds of one processor and its peak memory in GB."""
    own = [sys.executable, "-m", "voile", *map(str, words), "--quiet"]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    child = os.spawnve(os.P_NOWAIT, sys.executable, own, alone)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{own[3:]} ended with {status}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6


def table(rows: int) -> Iterator[tuple[str, ...]]:
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        source, roles, kit = folder / "people.parquet", folder / "roles.toml", folder / "people.kit"
        ones = write(rows, source)
        roles.write_text(ROLES)
        size = f"{source.stat().st_size / 1e6:,.0f} MB"
        commands = {
            "itemsets fit": ("itemsets", "fit", source, "--roles", roles, "--out", kit, "--k", K),
            "report": ("report", kit, "--out", folder / "report.html"),
        }
        for name, words in commands.items():
            seconds, peak = run(*words)
            print(name, rows, seconds, peak, flush=True)
            yield f"{rows:,}", f"{ones:,}", size, name, f"{seconds:.0f}", f"{peak:.1f} GB"


def main() -> None:
    compile_kernels()
    save(
        "itemsets_command",
        f"*large* by 100,000 columns: `voile itemsets fit --k {K}`, then `voile report`. Seconds "
        "of one processor and peak memory of each command, on a machine that others used.",
        COLUMNS,
        [row for rows in [int(x) for x in sys.argv[1:]] or SIZES for row in table(rows)],
        NOTES,
    )


NOTES = """\
`fit` reads the file twice and chooses columns by the default. It tries the choice and all
columns on a sample of the people, and bounds the possible improvement. The goal was 3 minutes
and 12 GB for ten million rows."""


if __name__ == "__main__":
    main()
