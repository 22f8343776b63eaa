"""Sessions of Spark in this process: classic, and by Connect."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest

JAVA = "-XX:TieredStopAtLevel=1"
"""For a Java that lives for seconds: what it compiles, it compiles once, quickly."""

SETTINGS = {
    "spark.driver.extraJavaOptions": JAVA,
    "spark.python.daemon.module": "tests.spark_daemon",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.session.timeZone": "UTC",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
}
PORT = "spark.connect.grpc.binding.port"


@contextmanager
def started_spark() -> Iterator[Any]:
    """Start Spark with two threads on loopback; it serves Connect too."""
    require_spark()
    from pyspark.sql import SparkSession

    before = dict(os.environ)
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in {**SETTINGS, PORT: str(free_port())}.items():
        builder = builder.config(name, value)
    started = builder.getOrCreate()
    yield started
    started.stop()
    os.environ.clear()
    os.environ |= before


@contextmanager
def connected(session: Any) -> Iterator[Any]:
    """Open a session of Connect beside one in this process, and let it be the active one."""
    from pyspark.sql.connect.session import SparkSession

    mode = "SPARK_CONNECT_MODE_ENABLED"
    remote = SparkSession.builder.remote(f"sc://127.0.0.1:{session.conf.get(PORT)}").create()
    os.environ[mode] = "1"
    yield remote
    del os.environ[mode]
    remote.stop()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def require_spark() -> None:
    if find_spec("pyspark") is None or shutil.which("java") is None:
        missing("no PySpark or no Java")


def missing(reason: str) -> None:
    """Skip, or fail where Spark is required."""
    if "spark" in os.environ.get("VOILE_REQUIRE", ""):
        pytest.fail(f"a test of Spark cannot run: {reason}")
    pytest.skip(reason)
