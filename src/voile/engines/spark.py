"""Run tasks on Spark, which receives only task numbers and results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from voile.core.errors import RequestError, VoileError
from voile.data.spark.session import open_session, spark_failures

RETRIED = "WorkError: "
"""The prefix of a worker's failure in Spark's message.

Other parts of the message may quote data.
"""


def on_spark(work: Callable[[int], str], tasks: int) -> Sequence[str]:
    """Run tasks on the workers of the active session, and return their results in order.

    Plans, logs and the driver contain the numbers, the results of `work` and its bound arguments.
    Pass only a folder's path and functions by name, and keep all other data in the folder. A failed
    task is repeated, and a slow task may run twice at once, according to Spark's settings.

    Raises
    ------
    VoileError : a task failed at every attempt that Spark makes, or workers do not have voile.
    """
    if not tasks:
        return []
    session = open_session()

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield pyarrow.RecordBatch.from_pydict({"task": [number], "said": [work(number)]})

    with spark_failures("Spark"):
        from pyspark.errors import PySparkException

        try:
            frame = session.range(0, tasks, 1, tasks).mapInArrow(run, "task bigint, said string")
            rows = frame.collect()
        except PySparkException as error:
            raise _explain_failure(str(error)) or error from None
    said = {row[0]: row[1] for row in rows}
    return [said[number] for number in range(tasks)]


def _explain_failure(text: str) -> VoileError | None:
    """Return an error for a worker's failure if its message cannot quote data, otherwise None."""
    if "No module named 'voile'" in text:
        return RequestError(
            "Spark's workers cannot import voile", instead="install voile on each worker"
        )
    if RETRIED in text:
        why = text.split(RETRIED, 1)[1].splitlines()[0]
        return VoileError(f"a Spark worker failed at each attempt: {why}")
    return None
