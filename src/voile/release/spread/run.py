"""A release made by many processes: pieces of the source become parts of a folder of Parquet files.

First each piece passes through the step, and its released rows are distributed over buckets. Once
the notes of all pieces are known, each bucket becomes a part, in random order. An engine decides
where the tasks run. The workers share a folder that all of them can read and write.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, Protocol

from voile.core.errors import (
    DamagedError,
    InfeasibleError,
    RequestError,
    SourceError,
    TamperedError,
    VoileError,
)
from voile.core.progress import ProgressHook
from voile.data import open_source
from voile.data.files.memory import AnyPath
from voile.data.source import hash_file
from voile.data.writer import BatchWriter
from voile.keys.secret import Secret
from voile.release.kit import StoredKit
from voile.release.manifest import ROWS
from voile.release.options import ApplyOptions
from voile.release.outcomes import Known, Notes
from voile.release.run import ReleaseRun
from voile.release.spread.job import (
    JOB,
    KEY,
    KIT,
    KNOWN,
    MADE,
    NOTES_OF,
    PART,
    PARTS,
    SUMS,
    TAIL,
    GatheredNotes,
    NotedPiece,
    PartSums,
    SpreadJob,
    StagedFolder,
    StepCode,
    accounting,
)
from voile.release.spread.work import finish, make
from voile.release.step import ApplyingStep
from voile.release.verb_types import Prepare
from voile.release.writing import ReleaseParts

_ERRORS = (DamagedError, InfeasibleError, RequestError, SourceError, TamperedError)
ERRORS: Mapping[str, type[VoileError]] = {one.__name__: one for one in _ERRORS}
"""The errors that a worker can send back, by name."""
PIECE_BYTES = 64 << 20
"""The size in memory of the rows of a piece and of a part, in bytes."""
MANY, LARGEST = 2_000, 8
"""With more than `MANY` parts, parts become larger, up to `LARGEST` times the bytes of a piece."""


class TaskEngine(Protocol):
    """An engine that runs tasks."""

    def __call__(self, work: Callable[[int], str], tasks: int) -> Sequence[str]:
        """Return the results of `work` for the numbers 0 to `tasks` - 1, in this order."""


def count_parts(total: int, size: int) -> int:
    """Return the number of parts over which rows of `total` bytes are distributed.

    Rows of each piece go to all parts, and each part opens all pieces. So parts grow with the
    source, until a worker would need a few times the memory of `LARGEST` pieces.

    Parameters
    ----------
    total : the size of all rows in bytes.
    size : the size of a piece in bytes.

    >>> [count_parts(total << 20, 64 << 20) for total in (0, 64, 65, 256_000, 10_000_000)]
    [1, 1, 2, 2000, 19532]
    """
    return max(ceil(total / min(max(size, total // MANY), LARGEST * size)), 1)


class SpreadRun(ReleaseRun[Notes, Known]):
    """A release with rows that an engine's workers make and write."""

    def __init__(
        self,
        applying: ApplyingStep[Notes, Known],
        options: ApplyOptions,
        progress: ProgressHook,
        *,
        prepare: Prepare[Any],
        engine: TaskEngine,
        size: int = PIECE_BYTES,
    ) -> None:
        super().__init__(applying, options, progress)
        self._code = StepCode(prepare, type(options))
        self._engine, self._size = engine, size
        self._key = self._draws.draw("workers").bytes(32).hex().encode()
        self._account = accounting(applying, Secret(self._key))

    def _stream(self, parts: ReleaseParts, *, force: bool) -> Mapping[str, int]:
        staged, job = self._begin(parts)
        types = self._applying.note_types
        with ExitStack() as files:
            beside = self._open_beside(files, parts)
            made = []
            for name in self._work(partial(make, staged.folder, self._code), len(job.pieces)):
                noted: NotedPiece = staged.load(f"{MADE}/{name}{NOTES_OF}", types)
                self._take(noted.notes, noted.tally, noted.dropped)
                for file, lines in noted.beside:
                    beside[file].write(lines)
                made.append(name)
                self._progress("applying the policy", self._tally.read, self._tally.read)
            summary = None if self._applying.unfinished is None else self._summary
            staged.store(KNOWN, GatheredNotes(summary, made), types)
            names = self._work(partial(finish, staged.folder, self._code), job.parts)
            self._move(staged, names, parts.release, beside[ROWS])
            self._write_last(beside)
        return {}

    def _begin(self, parts: ReleaseParts) -> tuple[StagedFolder, SpreadJob]:
        """Write the workers' job in a new folder of this run."""
        applying, options = self._applying, self._options
        if parts.scratch is None:
            raise RequestError(
                "workers need a folder to write the release to",
                instead="give the release's folder as the output",
            )
        if parts.release.suffix or parts.rows != parts.release:
            raise RequestError(
                "workers write a folder of Parquet files, and the output's name has a suffix",
                where=parts.release.name,
                instead="give a name without a suffix",
            )
        for name in {*applying.roles.of("identifier")} & {*applying.source.folder_columns()}:
            raise RequestError(
                "the partition column is an identifier, and Spark would write its values "
                "to folder names and logs",
                where=f"column {name}",
                instead="write the source without this partition",
            )
        if why := applying.why_alone():
            raise RequestError(f"workers cannot make this release: {why}")
        folder = parts.scratch.absolute() / secrets.token_hex(8)
        for name in ("", MADE, PARTS):
            (folder / name).mkdir(mode=0o700)
        pieces = list(applying.source.pieces(applying.read_columns(), folder, self._size))
        count = count_parts(sum(piece.size for piece in pieces), self._size)
        (folder / KEY).touch(mode=0o600)
        (folder / KEY).write_bytes(self._key)
        StoredKit.save(applying.kit, folder / KIT)
        buckets = None if options.keep_order else count
        kit = StoredKit.load(folder / KIT).id  # a kit that was read may get another id when saved
        staged = StagedFolder(folder, Secret(self._key))
        job = SpreadJob.of(staged.key, applying, kit, options, pieces, buckets)
        staged.store(JOB, job)
        return staged, job

    def _work(self, work: Callable[[int], str], tasks: int) -> list[str]:
        """Return the names of the files that the tasks wrote.

        Raise an error that a worker sent back.
        """
        said = [json.loads(one) for one in self._engine(work, tasks)]
        for refused in (one for one in said if "what" in one):
            kind = ERRORS.get(refused.pop("kind"), VoileError)
            raise kind(refused["what"], where=refused["where"], instead=refused["instead"])
        if any("stopped" in one for one in said):  # the refusing worker's answer was lost
            raise VoileError(
                "a worker refused the release, and its reason was lost",
                instead="run again without Spark to see the reason",
            )
        return [one["name"] for one in said]

    def _move(
        self, staged: StagedFolder, names: Sequence[str], release: AnyPath, rows: BatchWriter
    ) -> None:
        """Move the parts of the successful attempts to the release, and join their private rows."""
        assert isinstance(release, Path)
        release.mkdir()
        released = 0
        for number, name in enumerate(names):
            part, tail = (staged.folder / PARTS / f"{name}{end}" for end in (PART, TAIL))
            sums: PartSums = staged.load(f"{PARTS}/{name}{SUMS}")
            if (sums.part, sums.tail) != (hash_file(part), hash_file(tail)):
                raise DamagedError(
                    "the file does not match the bytes that a worker wrote",
                    where=name,
                    instead="run again",
                )
            found = 0
            for batch in open_source(tail).batches():
                rows.write(batch)
                found += len(batch)
            if found or not number:  # an empty release has one part, for its columns
                part.rename(release / f"part-{number:05d}.parquet")
            released += found
        assert released == self._tally.released
