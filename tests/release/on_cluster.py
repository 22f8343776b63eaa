"""The driver of a release on a cluster whose tasks fail, run twice and lose their worker."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pyarrow.parquet as pq

from voile.core.errors import VoileError
from voile.core.progress import silent
from voile.data import open_source
from voile.engines.spark import on_spark
from voile.face.kit import policy_of
from voile.modules import find_module
from voile.release.apply import write
from voile.release.kit import StoredKit
from voile.release.spread import work as spread_work
from voile.release.spread.job import StepCode
from voile.release.spread.run import SpreadRun

CANARY = "CANARYWARD"
FAILING, SLOW, SECONDS = 12, 15, 60
"""How many tasks of each kind fail at first, which of them waits for its copy, and how long."""
DOOMED, DOOMED_HOST = "doomed", "127.0.0.2"
INJECTED = "injected failure"
PAGE = ("allexecutors", "environment", "jobs", "sql?planDescription=true", "stages?details=true")


def disturb(place: Path, work: Any, number: int) -> str:
    """Do a task; at the first attempt let it fail before or after, wait, or lose its worker."""
    kind = work.func.__name__
    if not _is_first(place / f"{kind}-{number}"):
        (place / f"{kind}-{number}-again").touch()
        return str(work(number))
    if kind == "finish" and os.environ["SPARK_LOCAL_IP"] == DOOMED_HOST:
        (place / DOOMED).touch()
        time.sleep(SECONDS)
    if kind == "make" and number == SLOW:
        _wait(place / f"{kind}-{number}-again")
    said = "" if number % 2 else work(number)
    if number < FAILING:
        raise RuntimeError(INJECTED)
    return str(said or work(number))


def refuse(work: Any, number: int) -> str:
    """Fail at every attempt, in words that quote a row."""
    return spread_work._attempt(*work.args, number, _quote)


def _quote(folder: Path, code: StepCode, number: int, name: str) -> None:
    raise ValueError(f"{CANARY} {number}")


def _is_first(path: Path) -> bool:
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _wait(path: Path) -> None:
    end = time.monotonic() + SECONDS
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.05)


def main(folder: Path, conf: Sequence[str]) -> None:
    """Release the source twice: with a task that always fails, then disturbed."""
    tables, kit = find_module("tables"), StoredKit.load(folder / "kit")
    chosen, source = policy_of(folder / "policy.toml"), folder / "source"
    options = tables.options.apply(engine="spark", spark_conf=conf, key_file=folder / "key")
    options.begin()
    group = pq.read_metadata(source / "0.parquet").row_group(0).total_byte_size

    def release(out: Path, how: Callable[..., str]) -> None:
        def engine(work: Callable[[int], str], tasks: int) -> Sequence[str]:
            return on_spark(partial(how, work), tasks)

        applying = tables.prepare(kit, chosen, open_source(source), options)
        run = partial(SpreadRun, prepare=tables.prepare, engine=engine, size=int(group * 0.9))
        write(applying, out, options, force=False, progress=silent, run=run)

    try:
        release(folder / "failed", refuse)
    except VoileError as error:
        print(json.dumps({"failed": str(error)}))
    release(folder / "out", partial(disturb, folder / "faults"))
    _keep_page(folder / "page")


def _keep_page(place: Path) -> None:
    """Write down what Spark's page of this run knows."""
    from pyspark import SparkContext

    context = SparkContext.getOrCreate()
    run = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}"
    place.mkdir()
    for name in PAGE:
        with urlopen(f"{run}/{name}") as said:
            (place / f"{name.partition('?')[0]}.json").write_bytes(said.read())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
