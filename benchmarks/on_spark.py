"""Spark against DuckDB and this process: counts bit for bit, and the CPU of a release a row.

    python -m benchmarks.on_spark           200,000 rows
    python -m benchmarks.on_spark --full    20 million rows

Rows, roles and policy are those of `apply_subjects`. CPU is that of all processes, Spark's JVM and
its Python workers among them, once the session is up and has released a little.
"""

from __future__ import annotations

import argparse
import os
import resource
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from benchmarks import apply_subjects
from benchmarks.tables import save

SMALL, FULL, WARM = 200_000, 20_000_000, 20_000
KEYS = ["age", "sex", "ward", "visit"]
TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Count and release on `local[2]` and here, and print both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    rows = FULL if parser.parse_args().full else SMALL
    with tempfile.TemporaryDirectory() as place, session() as spark:
        folder = Path(place)
        (folder / "key").touch(mode=0o600)
        (folder / "key").write_text(secrets.token_hex(32))
        for name, number in (("warm", WARM), ("source", rows)):
            apply_subjects.ROWS = number
            (folder / name).mkdir()
            table = apply_subjects.visits()
            pq.write_table(table, folder / name / "0.parquet", row_group_size=number // 8)
        lines = [*counts(spark, folder), *releases(folder, rows)]
    save(
        "on_spark",
        f"{rows:,} rows of {rows // apply_subjects.A_SUBJECT:,} subjects on Spark's `local[2]` and "
        "in one process, CPU of all processes.",
        ("what", "here", "Spark", "of it the driver's Python", "ratio", "equal"),
        lines,
        f"The driver's Python had at most {peak() / 1e9:.2f} GB, its JVM is given 1 GB.",
    )


def session() -> Any:
    """Start Spark as the tests do, for classic sessions and Connect."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.spark import started_spark

    return started_spark()


def counts(spark: Any, folder: Path) -> list[list[str]]:
    """Count combinations by row and by subject here, on Spark, and by Connect."""
    from tests.spark import connected

    lines = []
    for by in ({}, {"subject": "person"}):
        here, cost, _ = costing(lambda by=by: counted(folder / "source", by))
        with connected(spark) as remote:
            for name, session in (("classic", spark), ("Connect", remote)):
                frame = session.read.parquet(str(folder / "source"))
                there, spent, own = costing(lambda frame=frame, by=by: counted(frame, by))
                what = f"{here.num_rows:,} groups by {'subject' if by else 'row'}, {name}"
                lines.append(line(what, "s", (cost, spent, own), is_equal=here.equals(there)))
    return lines


def counted(data: Any, by: dict[str, str]) -> Any:
    from voile.data import open_source
    from voile.engines.counting import count_combinations

    return count_combinations(open_source(data), KEYS, **by)


def releases(folder: Path, rows: int) -> list[list[str]]:
    """Release here and by Spark's workers."""
    import voile.tables
    from voile.data import open_source

    how = {"k": 5, "family": "global", "method": "steepest", "seed": 1}
    kit = voile.tables.fit(folder / "source", roles=apply_subjects.ROLES, **how)
    policy, costs, content = kit.choose(max_loss=0.5), [], []
    for out, engine in (("here.parquet", "here"), ("spark", "spark")):

        def release(name: str, out: str, engine: str = engine) -> Any:
            key = folder / "key"
            return kit.apply(policy, folder / name, folder / out, engine=engine, key_file=key)

        release("warm", f"warm-{out}")
        made, *cost = costing(lambda out=out, release=release: release("source", out))
        read = open_source(made.path).read()
        ordered = read.sort_by([(name, "ascending") for name in read.column_names])
        content.append((ordered, made.public["figures"]))
        costs.append([one / rows * 1e6 for one in cost])
    figures = costs[0][0], *costs[1]
    return [line("release, a row", "us", figures, is_equal=content[0] == content[1])]


def line(what: str, unit: str, costs: Sequence[float], *, is_equal: bool) -> list[str]:
    here, there, _ = costs
    said = [f"{cost:.1f} {unit}" for cost in costs]
    return [what, *said, f"{there / here:.1f}", "yes" if is_equal else "NO"]


def costing(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Do work; return what it gives, the CPU of this process and all below it, and its own."""
    begun, own = cpu(), time.process_time()
    made = work()
    return made, cpu() - begun, time.process_time() - own


def cpu() -> float:
    """Sum the CPU of this process and its descendants, those that ended included."""
    ticks, parents = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        ticks[int(stat.parent.name)] = sum(map(int, fields[11:15]))
        parents[int(stat.parent.name)] = int(fields[1])

    def is_ours(process: int) -> bool:
        return process == os.getpid() or (process in parents and is_ours(parents[process]))

    return sum(spent for process, spent in ticks.items() if is_ours(process)) / TICK


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
