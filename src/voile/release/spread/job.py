"""The files that workers read and write: a folder of its owner's alone, removed after the run.

- `job` : the preparation of the step, and the pieces of the source
- `key` : the run's own key, which yields people's tokens and the order of rows
- `kit/` : the kit
- `made/` : the released rows of each piece, dealt to buckets, and the notes of them
- `known` : the facts that are known once every piece is made, and the places of its rows
- `parts/` : the release's files, the people of their rows, and the SHA-256 of both

All files except the kit and the release's files are `PlainPacker`. The run's own key seals them
with their names. A cut file, or one of another name or run, is refused before it is read.

Every attempt at a task writes files of fresh names, and returns only the name. If a task is tried
twice, at once or after a failure, one attempt counts. No row is lost or doubled.
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
"""The bytes of a seal, which comes before the sealed data."""


class StepCode(NamedTuple):
    """The code of a step, which an engine ships to its workers by name.

    prepare : of the module. options : the model of its options.
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
    """How to make the pieces of one release, in paths and plain data.

    chosen : the policy, of the staged kit.
    options : as JSON.
    name, kind, columns, notes : of the source; `columns` a batch without rows.
    found : the findings in the whole source.
    buckets : how many parts rows are dealt to; None where their order is kept.
    secret : derived from the driver's secret by the run's own key. None without a secret.
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
        """Prepare the step as the driver did, with its secret: another gives other pseudonyms."""
        self.chosen.check(kit)
        source = PiecedSource(self.name, self.kind, self.columns.schema, self.notes)
        options = code.options.model_validate_json(self.options)
        secrets = {self.secret, _mark(key, options)}  # the module refuses where one is needed
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
    """The notes of a piece. notes : of each of its batches."""

    shows = ("tally",)

    tally: RowTally
    notes: list[Any]
    dropped: NDArray[np.int64]
    beside: list[tuple[str, pa.RecordBatch]]


@dataclass(frozen=True)
class GatheredNotes(BriefRepr):
    """The notes that every part needs.

    summary : of the notes, where columns are made when all of them are known.
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
    """The folder of a run, whose files are sealed under its key."""

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
    """A step, prepared in this process."""

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
        """Return draws that only this run's key could give again."""
        return ProtectiveRandom.from_secret(self.staged.key, purpose=purpose).generator()


def _mark(key: Secret, options: ApplyOptions) -> str | None:
    secret = Secret.find(options.key_file)
    if secret is None:
        return None
    return hmac.digest(key.derive("seal", "secret"), secret.derive("seal", "job"), "sha256").hex()


def accounting(applying: ApplyingStep[Any, Any], key: Secret) -> RowAccounting[Any, Any]:
    return RowAccounting(applying, key.derive("protective", "people")[:16])
