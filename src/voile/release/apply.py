"""How every wing writes a release: rows stream through a policy, and each is accounted for."""

from __future__ import annotations

import csv
import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.progress import Progress
from voile.core.rounding import Stating
from voile.core.version import __version__
from voile.data import Source, open_source, open_writer
from voile.data.files.memory import AnyPath
from voile.data.formulas import Unescaped
from voile.data.frames import frame_of
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.data.source import BATCH_ROWS
from voile.data.writer import Writer
from voile.engines.shuffle import MEMORY, held, shuffled
from voile.keys.random import Protective
from voile.keys.secret import Secret
from voile.release.choice import Chosen
from voile.release.kit import Kit
from voile.release.manifest import (
    ASIDE,
    CONTROL,
    ESCAPED,
    FORMAT,
    PERSON,
    ROW,
    ROWS,
    VERSION,
    Release,
)
from voile.release.options import ApplyOptions
from voile.release.writing import Manifests, Parts, write_release


@dataclass
class Tally:
    """Count what became of every row; `check` asserts that none was lost or made."""

    read: int = 0
    released: int = 0
    held_out: int = 0
    suppressed: int = 0
    set_aside: Counter[tuple[str, str]] = field(default_factory=Counter)
    set_aside_rows: int = 0

    def check(self) -> None:
        out = self.released + self.set_aside_rows + self.suppressed + self.held_out
        if self.read != out:
            raise AssertionError(f"{self.read} rows came in and {out} are accounted for")

    def to_data(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "released": self.released,
            "held_out": self.held_out,
            "suppressed": self.suppressed,
            "set_aside": self.set_aside_rows,
            "set_aside_by": [
                {"column": column, "reason": reason, "rows": rows}
                for (column, reason), rows in sorted(self.set_aside.items())
            ],
        }


@dataclass(frozen=True)
class Batch:
    """Rows of the source on their way.

    rows : the columns that were asked for.
    numbers : (n,) the number of each row in the source, from 0.
    counted : (n,) bool, not held out: the others are not counted.
    """

    rows: pa.RecordBatch
    numbers: NDArray[np.int64]
    counted: NDArray[np.bool_]


@dataclass(frozen=True)
class Outcome:
    """What became of a batch.

    columns : of the release, or what `finish` makes it of; as many rows as came in.
    aside : (n,) bool, rows that no policy speaks of, each noted with its reason.
    suppressed : (n,) bool, rows that may not be released.
    """

    columns: Sequence[pa.Array]
    aside: NDArray[np.bool_]
    suppressed: NDArray[np.bool_]


class Applying(ABC):
    """One run of apply. A wing says what becomes of a batch, and what the manifests say of it.

    Parameters
    ----------
    kit, chosen, source : what is applied to what.
    roles, hold_out : of the kit.
    columns : of the source, those that are read.
    named : a column that names rows, for `set-aside.csv`, which never leaves.
    schema : of the release.
    secret : what the release is sealed under, where there is one.
    unfinished : of what `make` gives, where `finish` makes the columns of it; else the same.
    """

    stating: Stating
    """How the figures of the public manifest are rounded."""

    batch_rows = BATCH_ROWS
    """How many rows are worked on at a time; fewer where a row may be long."""
    shuffle_bytes = MEMORY
    """How many bytes of rows are put in order at a time."""

    def __init__(
        self,
        kit: Kit,
        chosen: Chosen,
        source: Source,
        *,
        roles: Roles,
        hold_out: HoldOut,
        columns: Sequence[str],
        schema: pa.Schema,
        progress: Progress,
        secret: Secret | None,
        named: str | None = None,
        unfinished: pa.Schema | None = None,
    ) -> None:
        self.kit, self.chosen, self.source, self.roles = kit, chosen, source, roles
        self._unfinished = unfinished
        self.schema, self.progress, self.tally = schema, progress, Tally()
        self.subject = roles.subject
        self.protective = Protective()
        self._hold_out, self._sealing = hold_out, secret
        self._named = [] if named is None else [named]
        subject = [self.subject] if self.subject else []
        self._columns = list(dict.fromkeys([*columns, *self._named, *subject]))
        person = [pa.field(PERSON, pa.int64())] if self.subject else []
        self._tail = pa.schema([pa.field(ROW, pa.int64()), *person])
        self._key = self.protective.bytes(16)
        self._set_aside: Any = None
        self._escape = False
        self._formulas: Mapping[str, int] = {}
        self._dropped: list[NDArray[np.int64]] = []

    def prefetch(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Give the batches on as they come; a wing may begin to work on some before it is asked."""
        return batches

    @abstractmethod
    def make(self, batch: Batch) -> Outcome:
        """Put a batch through the policy; `note` what cannot be."""

    def finish(self, columns: Sequence[pa.Array]) -> Sequence[pa.Array]:
        """Make the release's columns of rows that are released, when every row has been made."""
        return columns

    @abstractmethod
    def certified(self, out: AnyPath, rows: Source, scratch: Path | None) -> dict[str, float]:
        """Measure what was written, by other code than made it; raise where it breaks a promise.

        Raises
        ------
        InfeasibleError : nothing is published.
        """

    @abstractmethod
    def public_manifest(self, figures: Mapping[str, float]) -> dict[str, Any]:
        """Return the wing's part of the manifest that goes with the release; `figures` exact."""

    @abstractmethod
    def private_manifest(self) -> dict[str, Any]:
        """Return the wing's part of the manifest that stays here."""

    def write(self, out: Path | None, options: ApplyOptions, *, force: bool) -> Release:
        """Write the release and its manifests, whole or not at all; in memory without `out`."""

        def fill(parts: Parts) -> Manifests:
            self._stream(parts, options, force=force)
            self.tally.check()
            self.progress("certifying", 0)
            people = open_source(parts.private / ROWS)
            return self._manifests(self.certified(parts.release, people, parts.scratch))

        like = frame_of(self.source)
        return write_release(out, fill, secret=self._sealing, like=like, force=force)

    def begin(self, private: AnyPath, files: ExitStack) -> None:  # noqa: B027, nothing by default
        """Open what the wing itself writes into the private folder; `files` closes it."""

    def writer(self, out: str | AnyPath, *, force: bool, escape: bool) -> Writer:
        return open_writer(out, self.schema, force=force, escape=escape)

    def opened(self, out: AnyPath) -> Source:
        return Unescaped(open_source(out)) if self._escape else open_source(out)

    def note(self, batch: Batch, column: str, reason: str, lost: NDArray[np.bool_]) -> None:
        """Write down which rows of a batch, if any, are set aside for a column, and why."""
        if not lost.any():
            return
        self.tally.set_aside[column, reason] += int(lost.sum())
        told = batch.rows.select(self._named).filter(pa.array(lost)).to_pylist()
        for row, names in zip(batch.numbers[lost].tolist(), told, strict=True):
            self._set_aside.writerow((row, column, reason, *names.values()))

    def suppressed_people(self, released: Source) -> int:
        """Count the subjects all of whose released rows were suppressed; rows without a subject."""
        if self.subject is None:
            return self.tally.suppressed
        people = np.unique(np.concatenate([np.zeros(0, np.int64), *self._dropped]))
        for batch in released.batches([PERSON]):
            people = np.setdiff1d(people, batch.column(0).to_numpy())
        return len(people)

    def _stream(self, parts: Parts, options: ApplyOptions, *, force: bool) -> None:
        private, scratch = parts.private, parts.scratch
        shown = len(self._unfinished or self.schema)  # a kept column may have any name
        with ExitStack() as files:
            self.begin(private, files)
            batches = self._batches(private, files)
            if not options.keep_order:
                rng = self.protective.generator()
                batches = shuffled(
                    batches,
                    rng=rng,
                    directory=scratch,
                    memory=self.shuffle_bytes,
                    batch_rows=self.batch_rows,
                )
            elif self._unfinished is not None:
                batches = held(batches, directory=scratch)
            escape = self._escape = options.formulas == "escape"
            release = files.enter_context(self.writer(parts.rows, force=force, escape=escape))
            self._formulas = release.formulas
            truth = files.enter_context(open_writer(private / ROWS, self._tail))
            written = 0
            for batch in batches:
                columns = batch.columns
                made = self.finish(columns[:shown])
                release.write(pa.RecordBatch.from_arrays(made, schema=self.schema))
                truth.write(pa.RecordBatch.from_arrays(columns[shown:], schema=self._tail))
                if not options.keep_order:
                    written += len(batch)
                    self.progress("writing", written, self.tally.released)

    def _batches(self, private: AnyPath, files: ExitStack) -> Iterator[pa.RecordBatch]:
        """Yield released rows beside their number in the source and their person's token."""
        file = (private / ASIDE).open("w", newline="", encoding="utf-8")
        self._set_aside = csv.writer(files.enter_context(file))
        self._set_aside.writerow(["row", "column", "reason", *self._named])
        schema = pa.schema([(ROW, pa.int64())])
        control = files.enter_context(open_writer(private / CONTROL, schema))
        rows = self.source.about_rows()
        for batch in self.prefetch(self._read(control)):
            yield self._released(batch)
            self.progress("applying", self.tally.read, rows)

    def _read(self, control: Writer) -> Iterator[Batch]:
        """Yield the source's rows, and write down which are held out."""
        first = 0
        for rows in self.source.batches(self._columns, batch_rows=self.batch_rows):
            numbers = np.arange(first, first + len(rows))
            held = self._hold_out.held(rows, first)
            control.write(pa.RecordBatch.from_arrays([pa.array(numbers[held])], [ROW]))
            yield Batch(rows, numbers, ~held)
            first += len(rows)

    def _released(self, batch: Batch) -> pa.RecordBatch:
        made = self.make(batch)
        aside = made.aside & batch.counted
        suppressed = made.suppressed & batch.counted & ~aside
        kept = batch.counted & ~aside & ~suppressed
        self.tally.read += len(batch.numbers)
        self.tally.held_out += int((~batch.counted).sum())
        self.tally.set_aside_rows += int(aside.sum())
        self.tally.suppressed += int(suppressed.sum())
        self.tally.released += int(kept.sum())
        tail = [pa.array(batch.numbers)]
        if self.subject is not None:
            tokens = self._tokens(batch.rows.column(self.subject), batch.numbers)
            self._dropped.append(np.unique(tokens[suppressed]))
            tail.append(pa.array(tokens))
        whole = pa.schema([*(self._unfinished or self.schema), *self._tail])
        arrays = [*made.columns, *tail]
        return pa.RecordBatch.from_arrays(arrays, schema=whole).filter(pa.array(kept))

    def _tokens(self, people: pa.Array, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give each person of this run a number that only this run's key could give again."""
        encoded = people.cast(pa.string()).dictionary_encode(null_encoding="encode")
        names = encoded.dictionary.to_pylist()

        def token(name: str) -> int:
            digest = hashlib.blake2b(name.encode(), key=self._key, digest_size=8).digest()
            return int.from_bytes(digest, "big", signed=True)

        places: NDArray[np.int32] = encoded.indices.to_numpy(zero_copy_only=False)
        tokens = np.array([token(f"s{name}") for name in names], dtype=np.int64)[places]
        if None in names:  # a row without a subject is a person of its own
            nobody = places == names.index(None)
            tokens[nobody] = [token(f"r{row}") for row in numbers[nobody]]
        return tokens

    def _manifests(self, figures: Mapping[str, float]) -> Manifests:
        both = {"format": FORMAT, "version": VERSION, "kind": self.kit.kind}
        chosen = self.chosen
        hidden = {
            **both,
            "source": {"name": self.source.name, "sha256": self.source.fingerprint()},
            "kit": self.kit.id,
            "chosen": {
                "number": chosen.number,
                "choice": chosen.choice.to_data(),
                "edited": chosen.edited,
                "figures": dict(chosen.figures),
            },
            "counts": self.tally.to_data(),
            "formulas": {"escaped": self._escape, "cells": dict(self._formulas)},
            "figures": {name: value for name, value in figures.items() if isfinite(value)},
            "roles": self.roles.model_dump(mode="json"),
            **self.private_manifest(),
        }
        told = self.public_manifest(figures)
        exact = told["figures"].items()
        told["figures"] = {name: self.stating(x, name) for name, x in exact}
        said = {"formulas": ESCAPED} if self._escape else {}
        return {**both, "voile": __version__, **said, **told}, hidden
