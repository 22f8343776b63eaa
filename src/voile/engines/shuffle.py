"""Shuffle rows or delay them in order, on disk, with memory independent of the number of rows."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from voile.data.source import BATCH_ROWS

BUCKETS = 64
MEMORY = 256_000_000


def shuffle_rows(
    batches: Iterable[pa.RecordBatch],
    *,
    rng: np.random.Generator,
    directory: Path | None,
    memory: int = MEMORY,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[pa.RecordBatch]:
    """Yield every row exactly once, in an order drawn uniformly from all permutations.

    Each row is assigned to one of 64 buckets, independently and uniformly. Each bucket is shuffled
    in the same way, and the buckets are concatenated.

    The order is uniform. Suppose that each row has a key in [0, 1), a real number with independent
    uniform digits in base 64. The keys are exchangeable and almost surely distinct, so the rows
    sorted by key are a uniform permutation. The bucket is the first digit. The order within a
    bucket depends only on the other digits. A permutation drawn in memory has the distribution that
    these digits would give.

    Parameters
    ----------
    batches : record batches with one schema. Dictionaries may differ from batch to batch.
    rng : a generator that the caller seeded from the system's entropy, because the order protects
        people.
    directory : an existing folder for the buckets, which are deleted after reading. It contains
        unencrypted rows, so use a folder of mode 0700 on the release's own disk. None keeps all
        rows in memory.
    memory : the limit of bytes of rows in memory, including copies, > 0. Data larger than a quarter
        of it goes to disk, once per factor of 64. The peak memory of the process grows by about
        twice as much, because Arrow does not return memory immediately.

    Cost: O(rows) time and disk space.
    """
    held, rest = _hold(batches, memory // 4 if directory else sys.maxsize)
    first = next(rest, None)
    if first is None:
        yield from permute_rows(held, rng, batch_rows)
        return
    folder = Path(tempfile.mkdtemp(prefix="shuffle-", dir=directory))
    try:
        everything = chain(held, [first], rest)
        for bucket in _deal(everything, rng, folder, memory // 4):
            yield from shuffle_rows(
                _bucket(bucket),
                rng=rng,
                directory=folder,
                memory=memory,
                batch_rows=batch_rows,
            )
            bucket.unlink()
    finally:
        shutil.rmtree(folder)


def hold_batches(
    batches: Iterable[pa.RecordBatch], *, directory: Path | None
) -> Iterator[pa.RecordBatch]:
    """Yield batches in their order, but only after the last batch has arrived.

    As with `shuffle_rows`, `directory` contains unencrypted rows until then.
    """
    if directory is None:
        yield from list(batches)
        return
    path = directory / "held.arrow"
    rest = iter(batches)
    first = next(rest, None)
    if first is None:
        return
    with pa.ipc.new_stream(path, first.schema) as writer:
        for batch in chain([first], rest):
            writer.write_batch(batch)
    yield from _bucket(path)
    path.unlink()


def _hold(
    batches: Iterable[pa.RecordBatch], size: int
) -> tuple[list[pa.RecordBatch], Iterator[pa.RecordBatch]]:
    """Collect batches until they fill `size` bytes; return them and the remaining ones.

    At least one batch is collected.
    """
    rest = iter(batches)
    held: list[pa.RecordBatch] = []
    total = 0
    while (not held or total < size) and (batch := next(rest, None)) is not None:
        held.append(batch)
        total += batch.nbytes
    return held, rest


def _deal(
    batches: Iterator[pa.RecordBatch], rng: np.random.Generator, folder: Path, size: int
) -> list[Path]:
    """Distribute rows to buckets on disk, in portions of about `size` bytes."""
    paths = [folder / f"{i}.arrow" for i in range(BUCKETS)]
    with ExitStack() as files:
        writers: list[pa.ipc.RecordBatchStreamWriter] = []
        while (taken := _hold(batches, size))[0]:
            table = pa.Table.from_batches(taken[0]).unify_dictionaries().combine_chunks()
            writers = writers or [
                files.enter_context(pa.ipc.new_stream(path, table.schema)) for path in paths
            ]
            bucket = rng.integers(BUCKETS, size=table.num_rows, dtype=np.uint8)
            order = np.argsort(bucket, kind="stable")
            ends = np.cumsum(np.bincount(bucket, minlength=BUCKETS))
            for writer, rows in zip(writers, np.split(order, ends[:-1]), strict=True):
                writer.write_table(table.take(pa.array(rows)))
    return paths


def _bucket(path: Path) -> Iterator[pa.RecordBatch]:
    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as stream:
        yield from stream


def permute_rows(
    batches: list[pa.RecordBatch], rng: np.random.Generator, batch_rows: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches in memory, in an order drawn uniformly from all permutations."""
    if not batches:
        return
    table = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    order = rng.permutation(table.num_rows)
    for start in range(0, table.num_rows, batch_rows):
        rows = pa.array(order[start : start + batch_rows])
        yield from table.take(rows).combine_chunks().to_batches()
