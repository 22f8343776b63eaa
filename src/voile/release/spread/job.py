"""The files that workers read and write, in a private folder that is removed after the run.

- `job` : the preparation of the step, and the pieces of the source
- `key` : the run's own key, from which people's tokens and the order of rows are derived
- `kit/` : the kit
- `made/` : the released rows of each piece, distributed over buckets, and their notes
- `known` : the facts that are known once every piece is made, and the names of the pieces' files
- `parts/` : the release's files, the people of their rows, and the SHA-256 of both

All files except the kit and the release's files are written by `PlainPacker`. The run's own key
seals them together with their names. A truncated file, or a file of another name or run, is refused
before it is read.

Every attempt at a task writes files with new random names, and returns only the name. If a task is
tried twice, at once or after a failure, one attempt counts. No row is lost or duplicated.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import DamagedError, RequestError
from voile.data.source import Source, SourcePiece
from voile.keys.random import ProtectiveRandom
from voile.keys.secret import Secret
from voile.release.accounting import RowAccounting
from voile.release.choice import Choice, Chosen
from voile.release.kit import StoredKit
from voile.release.options import ApplyOptions
from voile.release.outcomes import RowTally
from voile.release.spread.plain import PlainPacker
from voile.release.step import ApplyingStep
from voile.release.verb_types import Prepare

JOB, KEY, KIT, MADE, KNOWN, PARTS = "job", "key", "kit", "made", "known", "parts"
ROWS_OF, NOTES_OF, PART, TAIL, SUMS = ".rows", ".notes", ".parquet", ".tail.parquet", ".sums"
SEAL = 32
"""The number of bytes of a seal, which precedes the sealed data."""


class StepCode(NamedTuple):
    """The code of a step, which an engine sends to its workers by name.

    Parameters
    ----------
    prepare : the function of the module that prepares the step.
    options : the model of its options.
    """

    prepare: Prepare[Any]
    options: type[ApplyOptions]


class PiecedSource(Source):
    """The columns of a source that workers read in pieces."""

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError("a worker reads pieces")

    def has_rows(self) -> bool:
        return False

    def fingerprint(self) -> str:
        raise NotImplementedError("a worker reads pieces")


@dataclass(frozen=True)
class SpreadJob(BriefRepr):
    """A description of how to make the pieces of one release, in paths and plain data.

    Parameters
    ----------
    chosen : the policy, with the id of the kit in the run's folder.
    options : the options as JSON.
    name, kind, columns, notes : the properties of the source. `columns` is a batch without rows.
    found : the facts found in the whole source.
    pieces : the pieces of the source.
    buckets : the number of parts over which rows are distributed. None if their order is kept.
    secret : a mark derived from the driver's secret with the run's own key. None without a secret.
    """

    shows = ("buckets",)

    chosen: Chosen
    options: str
    name: str
    kind: str
    columns: pa.RecordBatch
    notes: tuple[str, ...]
    found: Mapping[str, Any]
    pieces: list[SourcePiece]
    buckets: int | None
    secret: str | None

    @classmethod
    def of(
        cls,
        key: Secret,
        applying: ApplyingStep[Any, Any],
        kit: str,
        options: ApplyOptions,
        pieces: Sequence[SourcePiece],
        buckets: int | None,
    ) -> SpreadJob:
        source, chosen = applying.source, applying.chosen
        return cls(
            replace(chosen, kit=kit, figures=dict(chosen.figures), policy=dict(chosen.policy)),
            options.at_worker().as_json(),
            source.name,
            source.kind,
            pa.RecordBatch.from_pylist([], source.schema()),
            source.notes,
            dict(applying.found_in_source()),
            [*pieces],
            buckets,
            _mark(key, options),
        )

    def prepare(self, code: StepCode, kit: StoredKit, key: Secret) -> ApplyingStep[Any, Any]:
        """Prepare the step as the driver did.

        Refuse another secret, which would give other pseudonyms.
        """
        self.chosen.check(kit)
        source = PiecedSource(self.name, self.kind, self.columns.schema, self.notes)
        options = code.options.model_validate_json(self.options)
        secrets = {self.secret, _mark(key, options)}  # the module refuses a missing secret
        if None not in secrets and len(secrets) > 1:
            raise RequestError(
                "the worker's secret differs from the secret that the driver read",
                where=None if options.key_file is None else str(options.key_file),
                instead="give every worker the same secret file",
            )
        applying = code.prepare(kit, self.chosen, source, options)
        return applying.with_found(self.found)

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """The number in the source of each piece's first row."""
        return np.cumsum([0, *(piece.rows for piece in self.pieces)])[:-1]

    @property
    def parts(self) -> int:
        return len(self.pieces) if self.buckets is None else self.buckets


@dataclass(frozen=True)
class NotedPiece(BriefRepr):
    """The counts and notes of a piece. `notes` has one item for each batch."""

    shows = ("tally",)

    tally: RowTally
    notes: list[Any]
    dropped: NDArray[np.int64]
    beside: list[tuple[str, pa.RecordBatch]]


@dataclass(frozen=True)
class GatheredNotes(BriefRepr):
    """The notes that every part needs.

    Parameters
    ----------
    summary : the summary of all notes, if columns are finished only after all notes are known.
    made : the name of each piece's file.
    """

    shows = ()

    summary: Any
    made: list[str]


@dataclass(frozen=True)
class PartSums(BriefRepr):
    """SHA-256 of the two files of a part."""

    shows = ()

    part: str
    tail: str


@dataclass(frozen=True)
class StagedFolder(BriefRepr):
    """The folder of a run, with files that are sealed with the run's key."""

    shows = ()

    folder: Path
    key: Secret

    def seal(self, name: str, data: bytes | memoryview) -> bytes:
        return hmac.digest(self.key.derive("seal", name), data, "sha256")

    def check_sealed(self, name: str, data: bytes) -> memoryview:
        """Return the data sealed under this name. Raise DamagedError if the seal does not match."""
        seal, held = data[:SEAL], memoryview(data)[SEAL:]
        if not hmac.compare_digest(seal, self.seal(name, held)):
            raise DamagedError(
                "the file does not match the bytes that this run wrote",
                where=name,
                instead="run again",
            )
        return held

    def store(self, name: str, thing: Any, also: Sequence[type] = ()) -> None:
        data = _plain(also).pack(thing)
        (self.folder / name).write_bytes(self.seal(name, data) + data)

    def load(self, name: str, also: Sequence[type] = ()) -> Any:
        try:
            data = (self.folder / name).read_bytes()
        except OSError as error:
            raise DamagedError(
                f"the worker cannot read the file ({error.strerror})", where=name
            ) from None
        return _plain(also).unpack(bytes(self.check_sealed(name, data)))


def _plain(also: Sequence[type]) -> PlainPacker:
    return PlainPacker(
        [
            SpreadJob,
            Chosen,
            Choice,
            SourcePiece,
            NotedPiece,
            RowTally,
            GatheredNotes,
            PartSums,
            *also,
        ]
    )


@dataclass(frozen=True)
class ReadyStep(BriefRepr):
    """A step that was prepared in this process."""

    shows = ("job",)

    job: SpreadJob
    applying: ApplyingStep[Any, Any]
    staged: StagedFolder

    @classmethod
    def of(cls, folder: Path, code: StepCode) -> ReadyStep:
        """Prepare the step as the driver did."""
        staged = StagedFolder(folder, Secret.from_file(folder / KEY))
        job: SpreadJob = staged.load(JOB)
        return cls(job, job.prepare(code, StoredKit.load(folder / KIT), staged.key), staged)

    @cached_property
    def account(self) -> RowAccounting[Any, Any]:
        return accounting(self.applying, self.staged.key)

    @cached_property
    def gathered_outcomes(self) -> GatheredNotes:
        gathered: GatheredNotes = self.staged.load(KNOWN, self.applying.note_types)
        return gathered

    @cached_property
    def known_summary(self) -> Any:
        return self.applying.conclude(self.gathered_outcomes.summary)

    def generator(self, purpose: str) -> np.random.Generator:
        """Return a random generator that only this run's key can reproduce."""
        return ProtectiveRandom.from_secret(self.staged.key, purpose=purpose).generator()


def _mark(key: Secret, options: ApplyOptions) -> str | None:
    secret = Secret.find(options.key_file)
    if secret is None:
        return None
    return hmac.digest(key.derive("seal", "secret"), secret.derive("seal", "job"), "sha256").hex()


def accounting(applying: ApplyingStep[Any, Any], key: Secret) -> RowAccounting[Any, Any]:
    return RowAccounting(applying, key.derive("protective", "people")[:16])
