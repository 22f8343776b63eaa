"""The tasks of one worker: making a piece of the source, or a part of the release."""

from __future__ import annotations

import json
import os
import secrets
import socket
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from voile.core.errors import RequestError, VoileError
from voile.data.formats.partitions import open_piece
from voile.data.formats.typed_writers import ParquetWriter
from voile.data.source import hash_file
from voile.engines.shuffle import permute_rows
from voile.release.outcomes import RowTally
from voile.release.run import finish_columns
from voile.release.spread.job import (
    JOB,
    MADE,
    NOTES_OF,
    PART,
    PARTS,
    ROWS_OF,
    SUMS,
    TAIL,
    NotedPiece,
    PartSums,
    ReadyStep,
    StagedFolder,
    StepCode,
)

PLACE = np.dtype(np.int64)
STOP = "stop"
"""A file that lets workers stop after another worker was refused."""
_ready = lru_cache(maxsize=1)(ReadyStep.of)


class WorkError(Exception):
    """A failure after which a task may be tried again. Its text contains no value of the data."""


def make(folder: Path, code: StepCode, number: int) -> str:
    """Make a piece of the source, and return the name of its files."""
    return _attempt(folder, code, number, _make)


def finish(folder: Path, code: StepCode, number: int) -> str:
    """Write a part of the release, and return the name of its files."""
    return _attempt(folder, code, number, _finish)


def _attempt(
    folder: Path, code: StepCode, number: int, work: Callable[[Path, StepCode, int, str], None]
) -> str:
    """Do a task with a new random name.

    Return an error of voile, after which a retry is pointless.
    """
    name = f"{number}-{secrets.token_hex(8)}"
    if (folder / STOP).exists():
        return json.dumps({"stopped": True})
    try:
        _check(folder)
        work(folder, code, number, name)
    except VoileError as error:
        if folder.exists():
            (folder / STOP).touch()
        place = f"worker {socket.gethostname()}"
        where = f"{place}, {error.where}" if error.where else place
        said = {"kind": type(error).__name__, "what": error.what, "where": where}
        return json.dumps({**said, "instead": error.instead})
    except Exception as error:
        raise WorkError(_without_values(error)) from None
    return json.dumps({"name": name})


def _check(folder: Path) -> None:
    """Refuse a folder that does not exist, or that other users can read or write.

    Raises
    ------
    RequestError : the folder has one of these problems.
    """
    if not (folder / JOB).exists():
        raise RequestError(
            "the worker cannot read the release's folder",
            instead="use a folder that every worker can read and write",
        )
    found = folder.stat()
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise RequestError(
            "another user owns the release's folder",
            instead="run the workers as the user who runs voile",
        )


def _without_values(error: Exception) -> str:
    """Return the type and the place of an error. Its own text may quote rows."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "nowhere"
    code = f" {os.strerror(error.errno)}" if isinstance(error, OSError) and error.errno else ""
    return f"{type(error).__name__}{code} at {place}"


def _make(folder: Path, code: StepCode, number: int, name: str) -> None:
    ready = _ready(folder, code)
    applying, piece = ready.applying, ready.job.pieces[number]
    tally, notes = RowTally(), []
    rows: list[pa.RecordBatch] = []
    dropped = [np.zeros(0, np.int64)]
    beside: list[tuple[str, pa.RecordBatch]] = []
    for batch in applying.batches(open_piece(piece), int(ready.job.firsts[number])):
        outcome = applying.make(batch)
        notes.append(outcome.notes)
        accounted = ready.account(batch, outcome)
        tally.add(accounted.tally)
        dropped.append(accounted.dropped)
        beside += accounted.beside
        rows.append(accounted.rows)
    piece.check_unchanged()
    if tally.read != piece.rows:
        raise RequestError(
            "the source changed while the worker read it",
            where=applying.source.name,
            instead="run again",
        )
    _write_buckets(ready.staged, f"{MADE}/{name}{ROWS_OF}", _dealt(ready, number, rows))
    noted = NotedPiece(tally, notes, np.unique(np.concatenate(dropped)), beside)
    ready.staged.store(f"{MADE}/{name}{NOTES_OF}", noted, applying.note_types)


def _dealt(
    ready: ReadyStep, number: int, rows: Sequence[pa.RecordBatch]
) -> Iterator[Sequence[pa.RecordBatch]]:
    """Distribute rows over buckets, independently and uniformly.

    Without buckets, yield all rows together.
    """
    buckets = ready.job.buckets
    if buckets is None:
        yield rows
        return
    rng = ready.generator(f"deal {number}")
    of = [rng.integers(buckets, size=len(batch)) for batch in rows]
    for bucket in range(buckets):
        yield [batch.filter(pa.array(own == bucket)) for batch, own in zip(rows, of, strict=True)]


def _write_buckets(
    staged: StagedFolder, name: str, buckets: Iterator[Sequence[pa.RecordBatch]]
) -> None:
    """Write each bucket as a sealed stream, and then the positions of all buckets."""
    places = [0]
    with (staged.folder / name).open("wb") as file:
        for number, batches in enumerate(buckets):
            held = [batch for batch in batches if len(batch)]
            sink = pa.BufferOutputStream()
            if held:
                with pa.ipc.new_stream(sink, held[0].schema) as stream:
                    for batch in held:
                        stream.write_batch(batch)
            rows = memoryview(sink.getvalue())
            file.write(staged.seal(f"{name} {number}", rows))  # an empty bucket is sealed as well
            file.write(rows)
            places.append(file.tell())
        file.write(np.array(places, PLACE).tobytes())


def _read_bucket(
    staged: StagedFolder, name: str, buckets: int, bucket: int
) -> Iterator[pa.RecordBatch]:
    with (staged.folder / name).open("rb") as file:
        file.seek((bucket - buckets - 1) * PLACE.itemsize, os.SEEK_END)
        start, end = np.frombuffer(file.read(2 * PLACE.itemsize), PLACE).tolist()
        file.seek(max(start, 0))
        if rows := staged.check_sealed(f"{name} {bucket}", file.read(max(end - start, 0))):
            yield from pa.ipc.open_stream(rows)


def _finish(folder: Path, code: StepCode, number: int, name: str) -> None:
    ready = _ready(folder, code)
    applying, account = ready.applying, ready.account
    shown, place = account.shown_columns, folder / PARTS
    part, tail = place / f"{name}{PART}", place / f"{name}{TAIL}"
    with (
        ParquetWriter(part, applying.schema) as release,
        ParquetWriter(tail, account.tail) as tails,
    ):
        for batch in _order_rows(ready, number):
            made = finish_columns(applying, batch.columns[:shown], lambda: ready.known_summary)
            release.write(pa.RecordBatch.from_arrays(made, schema=applying.schema))
            tails.write(pa.RecordBatch.from_arrays(batch.columns[shown:], schema=account.tail))
    ready.staged.store(f"{PARTS}/{name}{SUMS}", PartSums(hash_file(part), hash_file(tail)))


def _order_rows(ready: ReadyStep, number: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a part, a piece in its order or a bucket in random order."""
    files = [f"{MADE}/{name}{ROWS_OF}" for name in ready.gathered_outcomes.made]
    buckets = ready.job.buckets
    if buckets is None:
        yield from _read_bucket(ready.staged, files[number], 1, 0)
        return
    rows = [batch for file in files for batch in _read_bucket(ready.staged, file, buckets, number)]
    rng = ready.generator(f"order {number}")
    yield from permute_rows(rows, rng, ready.applying.batch_rows)
