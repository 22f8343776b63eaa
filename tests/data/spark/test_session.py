"""What a Spark that is missing, too old or without Java gets: one sentence."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.spark.session import pass_over_ctrl_c

pyspark = pytest.importorskip("pyspark")
from py4j.clientserver import ClientServerConnection  # noqa: E402


def test_without_pyspark_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyspark", "pyspark.sql", "pyspark.errors", "py4j", "py4j.protocol"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(RequestError, match=r"Spark is not installed; .*voile\[spark\]"):
        open_source("spark:visits")


def test_another_major_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "3.5.1")
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)  # of Spark 3.4 and on
    with pytest.raises(
        RequestError, match=r"the installed Spark has version 3\.5\.1, and voile needs Spark 4"
    ):
        open_source("spark:visits")


def test_without_java_a_sentence_says_what_to_install() -> None:
    environment = {name: one for name, one in os.environ.items() if name != "JAVA_HOME"}
    ran = subprocess.run(
        [sys.executable, "-m", "voile", "inspect", "spark:visits", "--out", "roles.toml"],
        env={**environment, "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "Spark found no working Java; install Java 17" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("interrupted", [True, False])
def test_py4j_logs_no_traceback_of_what_ctrl_c_cut_short(
    interrupted: bool, caplog: pytest.LogCaptureFixture
) -> None:
    connection = ClientServerConnection.__new__(ClientServerConnection)
    connection.is_connected, connection.socket, connection.stream = True, None, None
    pass_over_ctrl_c()
    try:
        raise KeyboardInterrupt if interrupted else ConnectionResetError
    except (KeyboardInterrupt, ConnectionResetError):
        connection.shutdown_socket(1, 2)
    assert ("shutting down connection" in caplog.text) is not interrupted
