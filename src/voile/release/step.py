"""The step of apply that turns a source's rows into a release, for every kind of data."""

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
    """Return the schema of a release: its made and kept columns, in the source's order."""
    types = source.columns.items()
    return pa.schema([(n, made.get(n, type_)) for n, type_ in types if n in made or n in kept])


@dataclass(frozen=True, kw_only=True, eq=False)
class ApplyingStep(BriefRepr, ABC, Generic[Notes, Known]):
    """A step that turns the rows of one source into a release, and describes it for the manifests.

    The step never changes: findings in rows are part of their outcomes. So `make` gives the same
    result in any order. It also gives the same result in any forked process, and in any process
    that prepared the same kit, policy, source and options.

    Parameters
    ----------
    kit, chosen, source : the kit, the policy, and the source to which the policy is applied.
    roles, hold_out : the roles and the held-out share of the kit.
    columns : the source's columns to read.
    named : a column that names rows in the private file `set-aside.csv`.
    schema : the schema of the release.
    unfinished : the schema of the output of `make`, if `finish` makes the columns of the release.
        None if `make` gives them.
    beside : the schemas of the module's own files in the private folder, by name.
    lists : the columns of lists, for which not every format has a type.
    secret : the secret that seals the release, if any.
    jobs : the number of processes that make outcomes.
    judge : the function that evaluates the release with the others of a ledger. None if no figure
        bounds their joint risk.
    """

    stating: ClassVar[StatingRules]
    """The rules for rounding the figures of the public manifest."""

    note_types: ClassVar[tuple[type, ...]] = ()
    """The dataclasses and named tuples in the notes, in addition to arrays, text and the like."""
    searches_values: ClassVar[bool] = False
    """Whether a release has text that may contain unreleased values of its people."""
    batch_rows: ClassVar[int] = BATCH_ROWS
    """The number of rows in a batch. It is smaller if a row may be long."""
    shuffle_bytes: ClassVar[int] = MEMORY
    """The number of bytes of rows that are sorted at a time."""

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
        """Return arrays, text and lists about the whole source that a worker cannot find."""
        return {}

    def with_found(self, found: Mapping[str, Any]) -> Self:
        """Return the step with the fields set to the result of `found_in_source`."""
        return replace(self, **found)

    def read_columns(self) -> list[str]:
        """Return the names of the source's columns that are read."""
        more = [name for name in (self.named, self.roles.subject) if name is not None]
        return [*dict.fromkeys([*self.columns, *more])]

    def batches(self, piece: Source | None = None, first: int = 0) -> Iterator[SourceBatch]:
        """Read the source's rows in batches, and mark the held-out ones.

        Parameters
        ----------
        piece : a part of the source. If None, all rows are read.
        first : the number in the source of the first row of `piece`.
        """
        source = self.source if piece is None else piece
        for rows in source.batches(self.read_columns(), batch_rows=self.batch_rows):
            numbers = np.arange(first, first + len(rows))
            yield SourceBatch(rows, numbers, ~self.hold_out.find_held(rows, first))
            first += len(rows)

    @abstractmethod
    def make(self, batch: SourceBatch) -> BatchOutcome[Notes]:
        """Apply the policy to a batch."""

    @abstractmethod
    def nothing(self) -> Notes:
        """Return the notes for no rows."""

    @abstractmethod
    def merge(self, notes: Notes, more: Notes) -> None:
        """Add the next batch's notes to `notes`, in place."""

    def summarise(self, notes: Notes) -> Any:
        """Return the part of all rows' notes that `conclude` needs: small, and of `note_types`."""
        return notes

    def conclude(self, summary: Any) -> Known:
        """Return the facts that are known once every row is made: the summary, or more."""
        return cast(Known, summary)

    def last(self, known: Known) -> Mapping[str, pa.RecordBatch]:
        """Return the rows that are written last to files in the private folder."""
        return {}

    def finish(self, columns: Sequence[pa.Array], known: Known) -> Sequence[pa.Array]:
        """Make the release's columns for released rows."""
        return columns

    @abstractmethod
    def measure(self, written: WrittenRelease[Known]) -> tuple[GateFinding, ...]:
        """Return the gate's findings on the written release.

        Raises
        ------
        InfeasibleError : the release violates a constraint of its kit. Nothing is published.
        """

    @abstractmethod
    def public_manifest(self, figures: Mapping[str, float], known: Known) -> dict[str, Any]:
        """Return the module's part of the public manifest. `figures` are not rounded."""

    def find_suppressed_columns(self, known: Known) -> Collection[str]:
        """Return the released columns that distinguish no value."""
        return ()

    @abstractmethod
    def private_manifest(self, known: Known) -> dict[str, Any]:
        """Return the module's part of the private manifest."""

    def describe_columns(self, made: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
        """Describe the columns of the release, as in `made` or else as unchanged."""
        return [
            {"column": name, **(made.get(name) or self._as_it_is(name))}
            for name in self.schema.names
        ]

    def _as_it_is(self, name: str) -> dict[str, str]:
        return {"role": self.roles.columns[name].role, "what": "as in the source"}

    def writer(self, out: str | AnyPath, *, force: bool, escape: bool) -> BatchWriter:
        dialect = self.source.origin.dialect
        return open_writer(out, self.schema, force=force, escape=escape, dialect=dialect)
