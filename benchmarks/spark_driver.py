"""Memory of the driver while Spark's workers make a release: its Python, and its JVM.

    python -m benchmarks.spark_driver           200,000 rows
    python -m benchmarks.spark_driver --full    2 million rows

Rows, roles and policy are those of `apply_subjects`. The driver is a command of its own, once on
`local[2]`, whose executor is in the driver's JVM, and once on a standalone master with two workers,
each of one core. Workers' Python, the executors of the second, and its daemons are left out.
"""

from __future__ import annotations

import argparse
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
from benchmarks import apply_subjects
from benchmarks.on_spark import high_water, high_water_of
from benchmarks.tables import save
from tests.release.test_on_cluster import cluster

import voile.tables

SMALL, FULL, GROUPS = 200_000, 2_000_000, 8
EVERY = 0.2  # seconds between two looks at the processes
FIT = {"k": 5, "family": "global", "method": "steepest", "seed": 1}


def main() -> None:
    """Apply in both ways, and print what each driver had in memory at most."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    rows = FULL if parser.parse_args().full else SMALL
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        apply = prepare(folder, rows)
        local = [*apply, folder / "local"]
        lines = [line("`local[2]`", local, ["spark.master=local[2]"])]
        (folder / "second").mkdir()
        with cluster(folder) as (address, _):
            conf = [f"spark.master={address}", "spark.executor.memory=512m"]
            conf += ["spark.driver.host=127.0.0.1", "spark.driver.bindAddress=127.0.0.1"]
            there = [*apply, folder / "there"]
            lines += [line("a standalone master, two workers", there, conf)]
    save(
        "spark_driver",
        f"The driver of `voile tables apply --engine spark` over {rows:,} rows of "
        f"{rows // apply_subjects.A_SUBJECT:,} subjects; resident memory at most.",
        ("Spark", "the driver's Python", "its JVM", "together"),
        lines,
        "One run of each, `VmHWM` of both processes read from `/proc` five times a second.",
    )


def prepare(folder: Path, rows: int) -> list[str | Path]:
    """Write a source, a kit, a policy and a key; return the command that applies them."""
    (folder / "key").touch(mode=0o600)
    (folder / "key").write_text(secrets.token_hex(32))
    (folder / "source").mkdir()
    apply_subjects.ROWS = rows
    pq.write_table(
        apply_subjects.visits(), folder / "source" / "0.parquet", row_group_size=rows // GROUPS
    )
    kit = voile.tables.fit(folder / "source", roles=apply_subjects.ROLES, **FIT)
    kit.save(folder / "kit")
    kit.choose(max_loss=0.5).save(folder / "policy.toml")
    words = ["tables", "apply", folder / "kit", folder / "source", "--engine", "spark", "--quiet"]
    words += ["--policy", folder / "policy.toml", "--key-file", folder / "key", "--out"]
    return [sys.executable, "-m", "voile", *words]


def line(name: str, command: Sequence[str | Path], conf: Sequence[str]) -> list[str]:
    """Run a driver; return its name, and what it and its JVM had in memory at most."""
    python = java = 0
    settings = [word for one in conf for word in ("--spark-conf", one)]
    with subprocess.Popen([*command, *settings]) as driver:
        while driver.poll() is None:
            python = max(python, high_water_of(driver.pid))
            java = max(java, high_water("java", driver.pid))
            time.sleep(EVERY)
    if driver.returncode:
        raise SystemExit(f"{name}: apply ended with {driver.returncode}")
    return [name, *(f"{size / 1e9:.2f} GB" for size in (python, java, python + java))]


if __name__ == "__main__":
    main()
