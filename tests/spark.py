"""A session of Spark in this process."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.session.timeZone": "UTC",
}


@contextmanager
def started_spark() -> Iterator[Any]:
    """Start Spark with two threads on loopback."""
    if find_spec("pyspark") is None or shutil.which("java") is None:
        missing("no PySpark or no Java")
    from pyspark.sql import SparkSession

    before = dict(os.environ)
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    started = builder.getOrCreate()
    yield started
    started.stop()
    os.environ.clear()
    os.environ |= before


def missing(reason: str) -> None:
    """Skip, or fail where Spark is required."""
    if "spark" in os.environ.get("VOILE_REQUIRE", ""):
        pytest.fail(f"a test of Spark cannot run: {reason}")
    pytest.skip(reason)
