"""The Spark session: the active one, or a new one from Spark's own settings."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voile.core.errors import RequestError, SourceError, install
from voile.core.interruption import own_ctrl_c
from voile.data.standard_input import private_folder

if TYPE_CHECKING:
    from logging import LogRecord

    from pyspark.sql import SparkSession

SCHEME = "spark:"
"""The beginning of a table's address, as in ``spark:clinic.visits``."""
MAJOR = "4"
LOG = Path(__file__).with_name("log4j2.properties")
QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.defaultJavaOptions": f'-Dlog4j2.configurationFile="{LOG}"',
}
"""Settings of a session that voile starts. Spark's own files or variables override them."""
STANDARD = {"spark.sql.ansi.enabled": "true", "spark.sql.groupByOrdinal": "true"}
"""Settings with which Spark counts by standard SQL and raises an error at overflow."""


def is_spark(thing: object) -> bool:
    """Return whether an object is a Spark data frame, classic or Connect, without loading Spark."""
    kind = type(thing)
    return kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame"


def open_session(conf: Sequence[str] = ()) -> SparkSession:
    """Return the active session, or start one from spark-defaults.conf and `conf`.

    Without settings, the session runs in this process, and listens on loopback only. The variable
    SPARK_REMOTE selects a session by Connect.

    conf : settings as ``NAME=VALUE``, which override the settings of the file.

    Raises
    ------
    RequestError : PySpark is missing or has another major version, or there is no Java.
    SourceError : Spark does not start.
    """
    try:
        import pyspark
        from pyspark.sql import SparkSession
    except ImportError:
        raise RequestError("Spark is not installed", instead=install("spark")) from None
    if pyspark.__version__.partition(".")[0] != MAJOR:
        raise RequestError(
            f"the installed Spark has version {pyspark.__version__}, and voile needs Spark {MAJOR}",
            instead=install("spark"),
        )
    pass_over_ctrl_c()
    active = SparkSession.getActiveSession()
    if active is None:
        return _start(SparkSession.builder, dict(map(_setting, conf)))
    if conf:
        raise RequestError(
            "a Spark session is active, and Spark takes settings only at its start",
            where="--spark-conf",
            instead="leave --spark-conf out, or stop the session first",
        )
    return active


PY4J = ("java_gateway", "clientserver")
"""The modules of Py4J that send calls. They log under their names and to the root logger."""


def pass_over_ctrl_c() -> None:
    """Prevent Py4J from logging tracebacks of calls that Ctrl-C interrupted."""
    import logging

    for name in ("root", *(f"py4j.{module}" for module in PY4J)):
        logging.getLogger(name).addFilter(_is_not_of_ctrl_c)


def _is_not_of_ctrl_c(record: LogRecord) -> bool:
    """Return False for a traceback of an interrupted call, or of closing its connection."""
    why = record.exc_info[1] if record.module in PY4J and record.exc_info else None
    while why is not None and not isinstance(why, KeyboardInterrupt):
        why = why.__context__
    return why is None


def _setting(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not (name and mark):
        raise RequestError(
            "the value is not a setting of Spark",
            where="--spark-conf",
            instead="write --spark-conf NAME=VALUE",
        )
    return name, value


def _start(builder: Any, conf: Mapping[str, str]) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if not (os.environ.get("SPARK_CONF_DIR") or "SPARK_REMOTE" in os.environ):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = builder.master("local[*]")
        own = {**QUIET, "spark.sql.warehouse.dir": str(private_folder())}  # else made where one is
        for name, value in own.items():
            builder = builder.config(name, value)
    for name, value in conf.items():
        builder = builder.config(name, value)
    with spark_failures("spark"), own_ctrl_c(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session: SparkSession = builder.getOrCreate()
    return session


ABSENT = ("TABLE_OR_VIEW_NOT_FOUND", "REQUIRES_SINGLE_PART_NAMESPACE", "SCHEMA_NOT_FOUND")
"""Spark's error codes for a table that does not exist."""


@contextmanager
def settings(session: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Set settings of a session temporarily, and restore the earlier ones."""
    before = {name: session.conf.get(name, None) for name in values}
    try:
        for name, value in values.items():
            session.conf.set(name, value)
        yield
    finally:
        for name, was in before.items():
            if was is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, was)


@contextmanager
def spark_failures(where: str) -> Iterator[None]:
    """Report a failure of Spark by its error condition, because Spark's messages quote rows."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        known = isinstance(error, PySparkException) and error.getCondition()
        condition = known or "no reason given"
        if condition == "JAVA_GATEWAY_EXITED":
            said = RequestError(
                "Spark found no working Java",
                where=where,
                instead="install Java 17, and set JAVA_HOME to its folder",
            )
            raise said from None
        if condition in ABSENT:
            raise RequestError(
                "Spark has no table with this name",
                where=where,
                instead="correct the name of the table",
            ) from None
        raise SourceError(f"Spark cannot read the table ({condition})", where=where) from None
