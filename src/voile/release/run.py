"""Rows on their way into a release: each is accounted for."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Generic

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.progress import Progress
from voile.core.version import __version__, versions
from voile.data import open_source, open_writer
from voile.data.files.memory import AnyPath
from voile.data.writer import Writer
from voile.engines.processes import in_order
from voile.engines.shuffle import held, shuffled
from voile.keys.macs import tokens_of, utf8_of
from voile.keys.random import Protective
from voile.release.manifest import (
    ASIDE,
    CONTROL,
    ESCAPED,
    FORMAT,
    PERSON,
    ROW,
    ROWS,
    VERSION,
)
from voile.release.options import OPTIONS, ApplyOptions, stored
from voile.release.outcomes import Aside, Batch, Known, Notes, Outcome, Tally, Written
from voile.release.step import Applying
from voile.release.writing import Manifests, Parts


class Run(Generic[Notes, Known]):
    """One release on its way: what has become of the rows, and what was noted of them."""

    def __init__(
        self, applying: Applying[Notes, Known], options: ApplyOptions, progress: Progress
    ) -> None:
        self._applying, self._options, self._progress = applying, options, progress
        self._escape = options.formulas == "escape"
        self._tally, self._notes = Tally(), applying.nothing()
        self._dropped = [np.zeros(0, np.int64)]
        self._key, self._subject = Protective().bytes(16), applying.roles.subject
        self._named = [] if applying.named is None else [applying.named]
        self._made = applying.unfinished or applying.schema
        person = [(PERSON, pa.int64())] if self._subject else []
        self._tail = pa.schema([(ROW, pa.int64()), *person])

    def fill(self, parts: Parts, *, force: bool) -> Manifests:
        """Write the parts of the release, certify it, and return its manifests."""
        formulas = self._stream(parts, force=force)
        self._tally.check()
        self._progress("checking the release", 0)
        written = Written(
            path=parts.release,
            escaped=self._escape,
            truth=open_source(parts.private / ROWS),
            known=self._known,
            tally=self._tally,
            dropped=np.unique(np.concatenate(self._dropped)),
            scratch=parts.scratch,
        )
        return self._manifests(self._applying.certified(written), formulas)

    @cached_property
    def _known(self) -> Known:
        """What is known of all rows; asked for when the last was made."""
        return self._applying.conclude(self._notes)

    def _stream(self, parts: Parts, *, force: bool) -> Mapping[str, int]:
        """Write the rows and what stays beside them; return how many cells are formulas."""
        applying, shown = self._applying, len(self._made)  # a kept column may have any name
        with ExitStack() as files:
            beside = {
                name: files.enter_context(_open_beside(parts.private / name, schema))
                for name, schema in self._beside().items()
            }
            batches = self._in_order(self._released(beside), parts.scratch)
            writer = applying.writer(parts.rows, force=force, escape=self._escape)
            release = files.enter_context(writer)
            written = 0
            for batch in batches:
                columns = batch.columns
                made = self._finished(columns[:shown])
                release.write(pa.RecordBatch.from_arrays(made, schema=applying.schema))
                tail = pa.RecordBatch.from_arrays(columns[shown:], schema=self._tail)
                beside[ROWS].write(tail)
                if not self._options.keep_order:
                    written += len(batch)
                    self._progress("writing the release", written, self._tally.released)
            for name, rows in applying.last(self._known).items():
                beside[name].write(rows)
        return release.formulas

    def _finished(self, columns: Sequence[pa.Array]) -> Sequence[pa.Array]:
        if self._applying.unfinished is None:
            return columns
        return self._applying.finish(columns, self._known)

    def _beside(self) -> dict[str, pa.Schema]:
        """Return the files of the private folder that hold rows."""
        named = [(name, self._applying.source.columns[name]) for name in self._named]
        text = [(name, pa.string()) for name in ("column", "reason")]
        return {
            ROWS: self._tail,
            ASIDE: pa.schema([(ROW, pa.int64()), *text, *named]),
            CONTROL: pa.schema([(ROW, pa.int64())]),
            **self._applying.beside,
        }

    def _in_order(
        self, batches: Iterator[pa.RecordBatch], scratch: Path | None
    ) -> Iterator[pa.RecordBatch]:
        if not self._options.keep_order:
            return shuffled(
                batches,
                rng=Protective().generator(),
                directory=scratch,
                memory=self._applying.shuffle_bytes,
                batch_rows=self._applying.batch_rows,
            )
        unfinished = self._applying.unfinished is not None
        return held(batches, directory=scratch) if unfinished else batches

    def _released(self, beside: Mapping[str, Writer]) -> Iterator[pa.RecordBatch]:
        """Yield released rows beside their number in the source and their person's token."""
        applying, rows = self._applying, self._applying.source.about_rows()
        batches = self._read(beside[CONTROL])
        for batch, made in in_order(applying.make, batches, jobs=applying.jobs):
            applying.merge(self._notes, made.notes)
            for name, lines in made.beside.items():
                beside[name].write(lines)
            for aside in made.aside:
                self._set_aside(batch, aside, beside[ASIDE])
            yield self._keep(batch, made)
            self._progress("applying the policy", self._tally.read, rows)

    def _read(self, control: Writer) -> Iterator[Batch]:
        """Yield the source's rows, and write down which are held out."""
        for batch in self._applying.batches():
            held = pa.array(batch.numbers[~batch.counted])
            control.write(pa.RecordBatch.from_arrays([held], [ROW]))
            yield batch

    def _set_aside(self, batch: Batch, aside: Aside, file: Writer) -> None:
        """Write down which rows are set aside for a column, if any, and why."""
        lost = aside.rows & batch.counted
        if not lost.any():
            return
        n = int(lost.sum())
        self._tally.set_aside[aside.column, aside.reason] += n
        why = [pa.repeat(text, n) for text in (aside.column, aside.reason)]
        names = [batch.rows.column(name).filter(pa.array(lost)) for name in self._named]
        columns = [pa.array(batch.numbers[lost]), *why, *names]
        file.write(pa.RecordBatch.from_arrays(columns, schema=self._beside()[ASIDE]))

    def _keep(self, batch: Batch, made: Outcome[Notes]) -> pa.RecordBatch:
        """Return the rows of a batch that are released, and count the others."""
        left = batch.left(made.aside)
        suppressed = np.zeros_like(left) if made.suppressed is None else made.suppressed & left
        kept = left & ~suppressed
        tally = self._tally
        tally.read += len(kept)
        tally.held_out += int((~batch.counted).sum())
        tally.set_aside_rows += int((batch.counted & ~left).sum())
        tally.suppressed += int(suppressed.sum())
        tally.released += int(kept.sum())
        tail = [pa.array(batch.numbers)]
        if self._subject is not None:
            tokens = self._tokens(batch.rows.column(self._subject), batch.numbers)
            self._dropped.append(np.unique(tokens[suppressed]))
            tail.append(pa.array(tokens))
        whole = pa.schema([*self._made, *self._tail])
        arrays = [*made.columns, *tail]
        return pa.RecordBatch.from_arrays(arrays, schema=whole).filter(pa.array(kept))

    def _tokens(self, people: pa.Array, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give each person of this run a number that only this run's key could give again."""
        coded = people.cast(pa.string()).dictionary_encode()
        named = tokens_of(self._key, [b"s" + name for name in utf8_of(coded.dictionary)])
        nobody = coded.indices.is_null().to_numpy(zero_copy_only=False)
        rows = [b"r%d" % row for row in numbers[nobody]]  # each is a person of its own
        places = coded.indices.fill_null(len(named)).to_numpy()
        tokens: NDArray[np.uint64] = np.append(named, np.uint64(0))[places]
        tokens[nobody] = tokens_of(self._key, rows)
        return tokens.view(np.int64)

    def _manifests(self, figures: Mapping[str, float], formulas: Mapping[str, int]) -> Manifests:
        applying, known = self._applying, self._known
        chosen, source = applying.chosen, applying.source
        both = {"format": FORMAT, "version": VERSION, "kind": applying.kit.kind}
        hidden = {
            **both,
            "source": {"name": source.name, "sha256": source.fingerprint()},
            "kit": applying.kit.id,
            "made_with": versions(),
            OPTIONS: {"fit": applying.kit.facts.get(OPTIONS, {}), "apply": stored(self._options)},
            "chosen": {
                "number": chosen.number,
                "choice": chosen.choice.to_data(),
                "edited": chosen.edited,
                "figures": dict(chosen.figures),
            },
            "counts": self._tally.to_data(),
            "formulas": {"escaped": self._escape, "cells": dict(formulas)},
            "figures": {name: value for name, value in figures.items() if isfinite(value)},
            "roles": applying.roles.model_dump(mode="json"),
            **applying.private_manifest(known),
        }
        shown = applying.public_manifest(figures, known)
        exact = shown["figures"].items()
        shown["figures"] = {name: applying.stating(x, name) for name, x in exact}
        escaped = {"formulas": ESCAPED} if self._escape else {}
        return {**both, "voile": __version__, **escaped, **shown}, hidden


class _Lines(Writer):
    """A table of text that is read as text in memory as well."""

    def __init__(self, place: AnyPath, schema: pa.Schema) -> None:
        self._file = place.open("w", newline="", encoding="utf-8")
        self._lines = csv.writer(self._file)
        self._lines.writerow(schema.names)

    def write(self, batch: pa.RecordBatch) -> None:
        cells = (column.to_pylist() for column in batch.columns)
        self._lines.writerows(zip(*cells, strict=True))

    def close(self) -> None:
        self._file.close()


def _open_beside(place: AnyPath, schema: pa.Schema) -> Writer:
    return _Lines(place, schema) if place.name.endswith(".csv") else open_writer(place, schema)
