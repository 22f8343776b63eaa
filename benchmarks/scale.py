"""Scale: count and release 50 million rows of Parquet, each under 2 minutes and 2 GB.

    python -m benchmarks.scale              1 million rows, a few seconds
    python -m benchmarks.scale --full       50 million rows

The rows are drawn from a fixed seed and kept in the temporary folder for the next run. Each
measurement is a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.tables import save

QUASI = ["age", "sex", "race", "zip"]
BATCH = 1_000_000
SMALL, FULL = 1_000_000, 50_000_000


def people(rows: int) -> Path:
    """Give a Parquet file of `rows` made-up people, made once: the same bytes for any machine."""
    path = Path(tempfile.gettempdir()) / f"voile-scale-{rows}.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(20)
    part = path.with_suffix(f".{os.getpid()}.part")
    with pq.ParquetWriter(part, batch(rng, 0).schema, compression="zstd") as writer:
        for start in range(0, rows, BATCH):
            writer.write_batch(batch(rng, min(BATCH, rows - start)))
    part.rename(path)
    return path


def batch(rng: np.random.Generator, rows: int) -> pa.RecordBatch:
    """Draw people: 100 ages, 2 sexes, 6 races and 630 ZIP codes of unequal size."""
    zips = pa.array([f"{37000 + 2 * i:05d}" for i in range(630)])
    races = pa.array(["Amer-Indian", "Asian", "Black", "Other", "Two-or-more", "White"])
    crowd = 1 / np.arange(1, 631)
    codes = rng.choice(630, size=rows, p=crowd / crowd.sum())
    return pa.record_batch(
        {
            "age": pa.array(rng.integers(0, 100, rows), pa.int16()),
            "sex": pa.array(["F", "M"]).take(pa.array(rng.integers(0, 2, rows))),
            "race": races.take(
                pa.array(rng.choice(6, rows, p=[0.01, 0.02, 0.16, 0.03, 0.03, 0.75]))
            ),
            "zip": zips.take(pa.array(codes)),
        }
    )


def count(path: Path) -> int:
    """Count with voile."""
    from voile.data import open_source
    from voile.engines.counting import count_combinations

    return count_combinations(open_source(path), QUASI).num_rows


def count_with_polars(path: Path) -> int:
    """Count with Polars' streaming engine."""
    import polars

    counted = polars.scan_parquet(path).group_by(QUASI).len().sort(QUASI)
    return counted.collect(engine="streaming").height


def shuffle(path: Path) -> int:
    """Put the rows into random order, as `apply` does, without writing them."""
    from voile.data import open_source
    from voile.engines.shuffle import shuffle_rows

    rng = np.random.default_rng()
    with tempfile.TemporaryDirectory() as folder:
        batches = open_source(path).batches()
        return sum(b.num_rows for b in shuffle_rows(batches, rng=rng, directory=Path(folder)))


def apply(path: Path) -> int:
    """Write the release of all rows under a policy, shuffled, certified, with its manifests."""
    from voile.core.progress import silent
    from voile.data import open_source
    from voile.data.roles import Roles
    from voile.release.choice import Choice
    from voile.tables.module import TABLES

    roles = Roles.model_validate({"columns": dict.fromkeys(QUASI, "quasi")})
    options = TABLES.options.fit(method="random-chain", evaluations=2_000)
    kit = TABLES.fit(open_source(path), roles, options, seed=1, progress=silent)
    chosen = TABLES.choose(kit, Choice(max_loss=0.5))
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        release = TABLES.apply(
            kit,
            chosen,
            open_source(path),
            Path(folder) / "release.parquet",
            TABLES.options.apply(),
            force=False,
            progress=silent,
        )
    print(f"apply alone: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    return int(release.private["counts"]["released"]) if release.private else 0


TASKS: dict[str, Callable[[Path], int]] = {
    "count": count,
    "count, Polars": count_with_polars,
    "shuffle": shuffle,
    "fit and apply": apply,
}


def measure(task: str, rows: int) -> dict[str, float]:
    """Run one task in a process of its own: its answer, seconds and peak memory in bytes."""
    command = [sys.executable, "-m", "benchmarks.scale", "--task", task, "--rows", str(rows)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def run_task(task: str, rows: int) -> None:
    """Be that process."""
    path = people(rows)
    start = time.perf_counter()
    answer = TASKS[task](path)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"answer": answer, "seconds": seconds, "bytes": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="50 million rows")
    parser.add_argument("--rows", type=int, default=SMALL)
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    rows = FULL if asked.full else asked.rows
    if asked.task:
        run_task(asked.task, rows)
        return
    people(rows)
    table = []
    for task in TASKS:
        result = measure(task, rows)
        seconds, peak = f"{result['seconds']:.1f}", f"{result['bytes'] / 1e9:.2f}"
        table.append((task, seconds, peak, f"{result['answer']:,.0f}"))
        print(*table[-1], flush=True)
    save(
        "scale" if rows == FULL else "scale_small",
        f"{rows:,} rows of Parquet, {len(QUASI)} quasi-identifiers; each line is a process of its "
        "own. The rival in counting is Polars' streaming engine.",
        ("what", "seconds", "peak GB", "rows out"),
        table,
        "One run each, Python's start included. The last line finds 2,000 policies first.",
    )


if __name__ == "__main__":
    main()
