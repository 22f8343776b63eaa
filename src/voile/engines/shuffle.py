"""Shuffle rows or delay them in order, on disk, with memory that does not depend on them."""

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
    """Give every row exactly once, in an order drawn uniformly from all permutations.

    Each row is dealt to one of 64 buckets, independently and uniformly. Each bucket is put into
    uniform random order by the same means, and the buckets follow one another. Uniform: think of
    every row's key as a real number in [0, 1) with independent uniform digits in base 64. Sorting
    by such keys is a uniform permutation, since the keys are exchangeable and almost surely
    distinct. The bucket is the first digit, and the order of a bucket depends on the other digits
    only. A permutation drawn in memory has the distribution that the remaining digits would give.

    batches : of one schema; dictionaries may differ from batch to batch.
    rng : seeded from the system's entropy by the caller: the order protects.
    directory : an existing folder for the buckets, which are deleted as they are read. It holds
        rows in the clear: give one of mode 0700 on the release's own disk. None: all is in memory.
    memory : the limit of bytes of rows in memory, copies included, > 0. Data larger than a quarter
        of it goes to disk, once per factor of 64. The process's peak grows by about twice as much,
        since Arrow does not give memory back at once.

    Cost: O(rows) time and disk.
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
    """Yield batches in their order, but only after the last one has arrived.

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
    """Take batches until they fill `size` bytes, at least one.

    Return them and the remaining ones.
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
    """Distribute rows to buckets on disk, as many at a time as fill `size` bytes."""
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
    """Yield rows in memory in an order drawn uniformly from all permutations."""
    if not batches:
        return
    table = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    order = rng.permutation(table.num_rows)
    for start in range(0, table.num_rows, batch_rows):
        rows = pa.array(order[start : start + batch_rows])
        yield from table.take(rows).combine_chunks().to_batches()
