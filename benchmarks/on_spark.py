"""Spark against DuckDB and this process: counts bit for bit, and the CPU of a release a row.

    python -m benchmarks.on_spark           200,000 rows
    python -m benchmarks.on_spark --full    counts of 20 million rows, a release of 2 million

Rows, roles and policy are those of `apply_subjects`. CPU is that of all processes, Spark's JVM and
its Python workers among them, once the session is up and has released a little.
"""

from __future__ import annotations

import argparse
import os
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

SMALL, FULL, RELEASED, WARM = 200_000, 20_000_000, 2_000_000, 20_000
KEYS, FEW = ["age", "sex", "ward", "visit"], ["age", "sex", "ward"]
"""What is counted: by `KEYS` nearly every row is a group of its own, by `FEW` there are 1,600."""
TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Count and release on `local[2]` and here, and print both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    rows = FULL if parser.parse_args().full else SMALL
    released = min(rows, RELEASED)
    with tempfile.TemporaryDirectory() as place, session() as spark:
        folder = Path(place)
        (folder / "key").touch(mode=0o600)
        (folder / "key").write_text(secrets.token_hex(32))
        for name, number in (("warm", WARM), ("source", released), ("counted", rows)):
            apply_subjects.ROWS = number
            (folder / name).mkdir()
            table = apply_subjects.visits()
            pq.write_table(table, folder / name / "0.parquet", row_group_size=number // 8)
            del table
        keys = FEW if rows == FULL else KEYS
        lines = [*counts(spark, folder, keys), *releases(folder, released)]
        java = high_water("java")
    save(
        "on_spark",
        f"Counts of {rows:,} rows of {rows // apply_subjects.A_SUBJECT:,} subjects and a release "
        f"of {released:,} rows, on Spark's `local[2]` and in one process, CPU of all processes.",
        ("what", "here", "Spark", "of it the driver's Python", "ratio", "equal"),
        lines,
        f"Resident memory at most: the driver's Python, which also made these tables and counted "
        f"here, {high_water('python') / 1e9:.2f} GB; its JVM, Spark's workers in it, "
        f"{java / 1e9:.2f} GB.",
    )


def session() -> Any:
    """Start Spark as the tests do, for classic sessions and Connect."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.spark import started_spark

    return started_spark()


def counts(spark: Any, folder: Path, keys: Sequence[str]) -> list[list[str]]:
    """Count combinations by row and by subject here, on Spark, and by Connect."""
    from tests.spark import connected

    lines = []
    for by in ({}, {"subject": "person"}):
        here, cost, _ = costing(lambda by=by: counted(folder / "counted", keys, by))
        with connected(spark) as remote:
            for name, session in (("classic", spark), ("Connect", remote)):
                frame = session.read.parquet(str(folder / "counted"))
                there, spent, own = costing(lambda frame=frame, by=by: counted(frame, keys, by))
                what = f"{here.num_rows:,} groups by {'subject' if by else 'row'}, {name}"
                lines.append(line(what, "s", (cost, spent, own), is_equal=here.equals(there)))
    return lines


def counted(data: Any, keys: Sequence[str], by: dict[str, str]) -> Any:
    from voile.data import open_source
    from voile.engines.counting import count_combinations

    return count_combinations(open_source(data), keys, **by)


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
    return sum(sum(map(int, fields[11:15])) for _, fields in ours()) / TICK


def ours(root: int | None = None) -> list[tuple[Path, list[str]]]:
    """Return this process, or `root`, and its descendants: where /proc holds each, its `stat`."""
    root = root or os.getpid()
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(stat.parent.name)] = stat.parent, stat.read_text().rpartition(") ")[2].split()
        except OSError:
            continue

    def is_ours(process: int) -> bool:
        parent = int(found[process][1][1]) if process in found else 0
        return process == root or (parent > 0 and is_ours(parent))

    return [one for process, one in found.items() if is_ours(process)]


def high_water(program: str, root: int | None = None) -> int:
    """Return the most bytes that one of `ours` of this program has had in memory."""
    found = [one for one, _ in ours(root) if named(one).startswith(program)]
    return max((high_water_of(int(one.name)) for one in found), default=0)


def named(process: Path) -> str:
    """Return a process's program; nothing where it has ended."""
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return ""


def high_water_of(process: int) -> int:
    """Return the most bytes that a process has had in memory; none where it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    said = dict(line.split(":", 1) for line in lines)
    return int(said["VmHWM"].split()[0]) * 1024 if "VmHWM" in said else 0


if __name__ == "__main__":
    main()
