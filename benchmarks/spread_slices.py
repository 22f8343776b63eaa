"""What a slice costs: the rows that one piece of the source gives to one part of the release."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
from benchmarks import apply_subjects
from benchmarks.tables import save

from voile.release.spread.work import _read_bucket, _write_buckets

SLICES, RUNS = 1_000, 3


def main() -> None:
    """Write and read slices of ever more rows, and print bytes and CPU of one."""
    lines = []
    for rows in (4, 64, 1_024):
        apply_subjects.ROWS = rows * SLICES
        batch = apply_subjects.visits().combine_chunks().to_batches()[0]
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "slices")
            _, write = costing(lambda path=path, batch=batch, rows=rows: deal(path, batch, rows))
            _, read = costing(
                lambda path=path: [[*_read_bucket(path, SLICES, i)] for i in range(SLICES)]
            )
            written = path.stat().st_size
        values = batch.nbytes / SLICES
        each = [written / SLICES, write / SLICES * 1e6, read / SLICES * 1e6]
        lines.append([f"{rows:,}", f"{values:,.0f}", *(f"{one:,.0f}" for one in each)])
    columns = ("rows", "bytes of values", "bytes in the file", "CPU to write, us", "to read, us")
    save(
        "spread_slices", f"One slice of {SLICES:,}, five columns. Median of {RUNS}.", columns, lines
    )


def deal(path: Path, batch: pa.RecordBatch, rows: int) -> None:
    _write_buckets(path, ([batch.slice(i * rows, rows)] for i in range(SLICES)))


def costing(work: Callable[[], Any]) -> tuple[Any, float]:
    """Do work several times; return what it gives, and its median CPU."""
    took = []
    for _ in range(RUNS):
        begun = time.process_time()
        made = work()
        took.append(time.process_time() - begun)
    return made, median(took)


if __name__ == "__main__":
    main()
