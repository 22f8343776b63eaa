"""The step that turns a source's rows into a release: the pure step of apply, for every wing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Self, cast

import numpy as np
import pyarrow as pa

from voile.core.brief import BriefRepr
from voile.core.rounding import StatingRules
from voile.data import Source, open_writer
from voile.data.files.memory import AnyPath
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.data.source import BATCH_ROWS
from voile.data.writer import BatchWriter
from voile.engines.shuffle import MEMORY
from voile.gate.finding import GateFinding
from voile.keys.secret import Secret
from voile.ledger.judgement import Judge
from voile.release.choice import Chosen
from voile.release.kit import StoredKit
from voile.release.outcomes import BatchOutcome, Known, Notes, SourceBatch, WrittenRelease


def released_schema(
    source: Source, made: Mapping[str, pa.DataType], kept: Collection[str]
) -> pa.Schema:
    """Return a release's columns in the source's order: some newly made, some kept as they are."""
    types = source.columns.items()
    return pa.schema([(n, made.get(n, type_)) for n, type_ in types if n in made or n in kept])


@dataclass(frozen=True, kw_only=True, eq=False)
class ApplyingStep(BriefRepr, ABC, Generic[Notes, Known]):
    """Turn the rows of one source into a release, and describe it for the manifests.

    It never changes: findings in rows are part of their outcomes. So `make` gives the same in any
    order. It also gives the same in any forked process, and in any process that prepared the same
    kit, policy, source and options again.

    kit, chosen, source : the kit, the policy, and the source that it is applied to.
    roles, hold_out : of the kit.
    columns : the source's columns to read.
    named : a column that names rows, for `set-aside.csv`, which never leaves.
    schema : of the release.
    unfinished : of what `make` gives, where `finish` makes the columns of it; else the same.
    beside : the schemas of the wing's own files in the private folder, by name.
    lists : the columns of lists, for which not every format has a type.
    secret : the secret that seals the release, if any.
    jobs : how many processes make outcomes.
    judge : how the release is judged with others of a ledger; None where no figure bounds that.
    """

    stating: ClassVar[StatingRules]
    """How the figures of the public manifest are rounded."""

    note_types: ClassVar[tuple[type, ...]] = ()
    """The dataclasses and named tuples of the notes, in addition to arrays, text and the like."""
    searches_values: ClassVar[bool] = False
    """Whether a release has text that may contain unreleased values of its people."""
    batch_rows: ClassVar[int] = BATCH_ROWS
    """How many rows are worked on at a time; fewer where a row may be long."""
    shuffle_bytes: ClassVar[int] = MEMORY
    """How many bytes of rows are put in order at a time."""

    kit: StoredKit
    chosen: Chosen
    source: Source
    roles: Roles
    hold_out: HoldOut
    columns: Sequence[str]
    schema: pa.Schema
    secret: Secret | None
    named: str | None = None
    unfinished: pa.Schema | None = None
    beside: Mapping[str, pa.Schema] = field(default_factory=dict)
    lists: Sequence[str] = ()
    jobs: int = 1
    judge: Judge | None = None

    def why_alone(self) -> str | None:
        """Return the reason if no other process can make this release."""
        return None

    def found_in_source(self) -> Mapping[str, Any]:
        """Return facts that a worker lacks without the whole source: arrays, text, lists."""
        return {}

    def with_found(self, found: Mapping[str, Any]) -> Self:
        """Return the step with what `found_in_source` gave: its fields."""
        return replace(self, **found)

    def read_columns(self) -> list[str]:
        """Return the columns of the source that are read."""
        more = [name for name in (self.named, self.roles.subject) if name is not None]
        return [*dict.fromkeys([*self.columns, *more])]

    def batches(self, piece: Source | None = None, first: int = 0) -> Iterator[SourceBatch]:
        """Read the source's rows, and mark the held-out ones.

        piece : a part of the source, whose first row has this number there; all without it.
        """
        source = self.source if piece is None else piece
        for rows in source.batches(self.read_columns(), batch_rows=self.batch_rows):
            numbers = np.arange(first, first + len(rows))
            yield SourceBatch(rows, numbers, ~self.hold_out.find_held(rows, first))
            first += len(rows)

    @abstractmethod
    def make(self, batch: SourceBatch) -> BatchOutcome[Notes]:
        """Put a batch through the policy."""

    @abstractmethod
    def nothing(self) -> Notes:
        """Return the notes of no rows."""

    @abstractmethod
    def merge(self, notes: Notes, more: Notes) -> None:
        """Add the next batch's notes to the notes."""

    def summarise(self, notes: Notes) -> Any:
        """Return the part of all rows' notes that `conclude` needs: small, and of `note_types`."""
        return notes

    def conclude(self, summary: Any) -> Known:
        """Return the facts that are known once every row is made: the summary, or more."""
        return cast(Known, summary)

    def last(self, known: Known) -> Mapping[str, pa.RecordBatch]:
        """Return the rows of files in the private folder that are written last."""
        return {}

    def finish(self, columns: Sequence[pa.Array], known: Known) -> Sequence[pa.Array]:
        """Make the release's columns of rows that are released."""
        return columns

    @abstractmethod
    def measure(self, written: WrittenRelease[Known]) -> tuple[GateFinding, ...]:
        """Return the gate's findings on the written release.

        Raises
        ------
        InfeasibleError : the release breaks a promise of its kit; nothing is published.
        """

    @abstractmethod
    def public_manifest(self, figures: Mapping[str, float], known: Known) -> dict[str, Any]:
        """Return the wing's part of the manifest that goes with the release; `figures` exact."""

    def find_suppressed_columns(self, known: Known) -> Collection[str]:
        """Return the released columns that distinguish no value."""
        return ()

    @abstractmethod
    def private_manifest(self, known: Known) -> dict[str, Any]:
        """Return the wing's part of the manifest that stays here."""

    def describe_columns(self, made: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
        """Describe the columns of the release: these as given, the others unchanged."""
        return [
            {"column": name, **(made.get(name) or self._as_it_is(name))}
            for name in self.schema.names
        ]

    def _as_it_is(self, name: str) -> dict[str, str]:
        return {"role": self.roles.columns[name].role, "what": "as in the source"}

    def writer(self, out: str | AnyPath, *, force: bool, escape: bool) -> BatchWriter:
        dialect = self.source.origin.dialect
        return open_writer(out, self.schema, force=force, escape=escape, dialect=dialect)
