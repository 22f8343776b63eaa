"""Spark as a place where tasks run: nothing but their numbers goes through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from voile.core.errors import RequestError, VoileError
from voile.data.spark.session import open_session, spark_failures

RETRIED = "WorkError: "
"""How a worker's failure is found in Spark's words, which may quote anything else."""


def on_spark(work: Callable[[int], str], tasks: int) -> Sequence[str]:
    """Run tasks on the workers of the active session. Return their results, in the order of tasks.

    A plan, a log and the driver contain the numbers, the results of `work` and its bound arguments.
    So give it a folder's path and functions by name, and keep all other data in the folder. A task
    that fails is tried again, and one that is slow may run twice at once, as Spark's settings have
    it.

    Raises
    ------
    VoileError : a task failed as often as Spark tries it, or workers have no voile.
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
    """Name a worker's failure if its words are known to quote no data."""
    if "No module named 'voile'" in text:
        return RequestError(
            "Spark's workers cannot import voile", instead="install voile on each worker"
        )
    if RETRIED in text:
        why = text.split(RETRIED, 1)[1].splitlines()[0]
        return VoileError(f"a Spark worker failed at each attempt: {why}")
    return None
