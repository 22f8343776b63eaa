"""Text on Spark's `local[2]` against two local processes: the same kit and notes, as commands.

    python -m benchmarks.spark_text             50 MB
    python -m benchmarks.spark_text --full      1 GB

CPU is that of all processes, the JVM among them; memory is the driver's, its workers left out.
"""

from __future__ import annotations

import argparse
import json
import secrets
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.documents_scale import VOILE, notes, policy
from benchmarks.on_spark import cpu, high_water
from benchmarks.tables import save

MEGABYTES, FULL = 50, 1_000
ROWS_AT_ONCE = 2_000
SPARK = ["--engine", "spark", "--spark-conf", "spark.master=local[2]"]
EVERY = 0.2  # seconds between two looks at the processes


def main() -> None:
    """Apply in both ways, and print what each cost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    megabytes = FULL if parser.parse_args().full else MEGABYTES
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        source, apply = parquet(notes(megabytes), folder / "notes"), policy(folder)
        (folder / "key").touch(mode=0o600)
        (folder / "key").write_text(secrets.token_hex(32))
        both = [
            costing([*VOILE, *apply, str(source), "--out", str(folder / name), *how])
            for name, how in (("here.parquet", []), ("spark", SPARK))
        ]
    (clock, spent, _, _), (there, more, python, java) = both
    save(
        "spark_text",
        f"A committee over {megabytes} MB of notes, two processes here and on Spark's `local[2]`.",
        ("what", "here", "Spark", "ratio"),
        [
            ["clock", f"{clock:.0f} s", f"{there:.0f} s", f"{there / clock:.2f}"],
            ["CPU of all processes", f"{spent:.0f} s", f"{more:.0f} s", f"{more / spent:.2f}"],
        ],
        f"Resident memory at most on Spark: a Python process {python / 1e9:.2f} GB, the JVM, its "
        f"executor in it, {java / 1e9:.2f} GB.",
    )


def parquet(lines: Path, folder: Path) -> Path:
    """Write JSON lines as one Parquet file of many row groups, which workers can share."""
    folder.mkdir()
    schema = pa.schema({"id": pa.string(), "text": pa.string()})
    with lines.open(encoding="utf-8") as file, pq.ParquetWriter(folder / "0.parquet", schema) as to:
        rows: list[dict[str, str]] = []
        for line in file:
            rows.append(json.loads(line))
            if len(rows) == ROWS_AT_ONCE:
                to.write_table(pa.Table.from_pylist(rows, schema))
                rows = []
        to.write_table(pa.Table.from_pylist(rows, schema))
    return folder


def costing(command: Sequence[str]) -> tuple[float, float, int, int]:
    """Run a command; return its seconds, its CPU, and the most memory of Python and of Java."""
    begun, before = time.perf_counter(), cpu()
    spent, python, java = 0.0, 0, 0
    with subprocess.Popen([*command, "--quiet"]) as run:
        while run.poll() is None:
            spent = max(spent, cpu() - before)
            python, java = max(python, high_water("python")), max(java, high_water("java"))
            time.sleep(EVERY)
    if run.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {run.returncode}")
    return time.perf_counter() - begun, spent, python, java


if __name__ == "__main__":
    main()
