"""The same files read from an S3 server on loopback and from this machine's disk.

    python -m benchmarks.store_reading

One million rows, those of `apply_subjects`, from moto's server in a process of its own. A store far
away adds its distance; this is what the way there costs here.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from benchmarks import apply_subjects
from benchmarks.tables import save

import voile
from voile.data.stores import copies

ROWS, TURNS, WITHIN = 1_000_000, 4, 60
COUNTED = "SELECT age, sex, count(*) AS n FROM source GROUP BY age, sex"


def main() -> None:
    """Read and count each file here and there, in turn, and print the medians."""
    apply_subjects.ROWS = ROWS
    table = apply_subjects.visits()
    with tempfile.TemporaryDirectory() as place, server() as client:
        here = {name: Path(place) / name for name in ("visits.parquet", "visits.csv")}
        pq.write_table(table, here["visits.parquet"], row_group_size=ROWS // 8)
        pyarrow.csv.write_csv(table, here["visits.csv"])
        for name, path in here.items():
            client.upload_file(str(path), "bucket", name)
        lines = []
        for name, path in here.items():
            size = f"{path.stat().st_size / 1e6:.0f} MB"
            for what, work in (("read all columns", read), ("count two columns", count)):
                found: tuple[list[float], list[float]] = ([], [])
                for turn in range(TURNS):
                    for times, thing in zip(found, (path, f"s3://bucket/{name}"), strict=True):
                        taken = clock(work, str(thing))
                        if turn:  # the first one warms
                            times.append(taken)
                local, remote = map(statistics.median, found)
                ratio = f"{remote / local:.2f}"
                lines.append((f"{name}, {what}", size, f"{local:.2f}", f"{remote:.2f}", ratio))
    save(
        "store_reading",
        f"{ROWS:,} rows, opened and read from disk and from an S3 server on loopback. "
        f"Median of {TURNS - 1}, seconds.",
        ("what", "size", "disk", "store", "ratio"),
        lines,
        "CSV is copied to disk first. DuckDB counts in a Parquet file on disk by itself.",
    )


def clock(work: Callable[[str], None], thing: str) -> float:
    copies._copy_once.cache_clear()  # so that each turn fetches what a command does
    start = time.perf_counter()
    work(thing)
    return time.perf_counter() - start


def read(thing: str) -> None:
    for _ in voile.open_source(thing).batches():
        pass


def count(thing: str) -> None:
    source = voile.open_source(thing)
    columns = source.schema(["age", "sex"])
    answer = pa.schema([*columns, ("n", pa.int64())])
    with duckdb.connect() as connection:
        source.tabulate(connection, COUNTED, columns=columns.names, answer=answer, into="counted")


@contextmanager
def server() -> Iterator[Any]:
    """Start a server with a bucket, and an environment that finds it."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(words, **quiet)  # type: ignore[call-overload]
    try:
        end = time.monotonic() + WITHIN
        while time.monotonic() < end:
            with socket.socket() as one:
                if not one.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.1)
        client = boto3.client("s3")
        client.create_bucket(Bucket="bucket")
        yield client
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
