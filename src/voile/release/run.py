"""Stream rows into a release, and record the outcome of each row."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any, Generic

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.progress import ProgressHook
from voile.core.version import __version__, versions
from voile.core.warn import warn
from voile.data import open_source, open_writer
from voile.data.files.memory import AnyPath
from voile.data.writer import BatchWriter
from voile.engines.processes import in_order
from voile.engines.shuffle import hold_batches, shuffle_rows
from voile.gate.finding import GateFinding, figures_of, findings_to_data
from voile.gate.values.findings import ValueFinding
from voile.release.accounting import RowAccounting
from voile.release.draws import ReleaseDraws
from voile.release.found_values import VALUES, VALUES_FOUND, ValuesWarning, detail_values
from voile.release.inventory import list_fates
from voile.release.manifest import (
    DIGESTS,
    ESCAPED,
    FINDINGS,
    FORMAT,
    INVENTORY,
    PREDICTED,
    ROW,
    ROWS,
    VERSION,
)
from voile.release.options import OPTIONS, ApplyOptions, list_stored
from voile.release.outcomes import Known, Notes, RowTally, WrittenRelease
from voile.release.step import ApplyingStep
from voile.release.writing import Manifests, ReleaseParts
from voile.report.suppression import is_few


class ReleaseRun(Generic[Notes, Known]):
    """One release in progress: the counts and notes of the rows so far."""

    searches_values = True
    """Whether to search the release for unreleased values of its people."""

    def __init__(
        self, applying: ApplyingStep[Notes, Known], options: ApplyOptions, progress: ProgressHook
    ) -> None:
        self._applying, self._options, self._progress = applying, options, progress
        self._escape = options.formulas == "escape"
        self._tally, self._notes = RowTally(), applying.nothing()
        self._dropped = [np.zeros(0, np.int64)]
        self._draws = ReleaseDraws(options, applying.kit, applying.chosen, applying.source)
        self._account = RowAccounting(applying, self._draws.draw("people").bytes(16))

    def fill(self, parts: ReleaseParts, *, force: bool) -> Manifests:
        """Write the parts of the release, measure it, and return its manifests."""
        formulas = self._stream(parts, force=force)
        self._tally.check()
        self._progress("checking the release", 0)
        written = WrittenRelease(
            path=parts.release,
            escaped=self._escape,
            truth=open_source(parts.private / ROWS),
            known=self._known_summary,
            tally=self._tally,
            dropped=np.unique(np.concatenate(self._dropped)),
            scratch=parts.scratch,
        )
        return self._manifests(written, formulas)

    @cached_property
    def _known_summary(self) -> Known:
        """The summary of all rows, which is computed after the last row is made."""
        return self._applying.conclude(self._summary)

    @cached_property
    def _summary(self) -> Any:
        return self._applying.summarise(self._notes)

    def _stream(self, parts: ReleaseParts, *, force: bool) -> Mapping[str, int]:
        """Write the rows and their private files.

        Return the number of formula cells of each column.
        """
        applying, shown = (
            self._applying,
            self._account.shown_columns,
        )  # a kept column may have any name
        with ExitStack() as files:
            beside = self._open_beside(files, parts)
            batches = self._in_order(self._release_rows(beside), parts.scratch)
            writer = applying.writer(parts.rows, force=force, escape=self._escape)
            release = files.enter_context(writer)
            written = 0
            for batch in batches:
                columns = batch.columns
                made = finish_columns(applying, columns[:shown], lambda: self._known_summary)
                release.write(pa.RecordBatch.from_arrays(made, schema=applying.schema))
                tail = pa.RecordBatch.from_arrays(columns[shown:], schema=self._account.tail)
                beside[ROWS].write(tail)
                if not self._options.keep_order:
                    written += len(batch)
                    self._progress("writing the release", written, self._tally.released)
            self._write_last(beside)
        return release.formulas

    def _open_beside(self, files: ExitStack, parts: ReleaseParts) -> dict[str, BatchWriter]:
        return {
            name: files.enter_context(_open_beside(parts.private / name, schema))
            for name, schema in self._account.beside.items()
        }

    def _write_last(self, beside: Mapping[str, BatchWriter]) -> None:
        for name, rows in self._applying.last(self._known_summary).items():
            beside[name].write(rows)

    def _in_order(
        self, batches: Iterator[pa.RecordBatch], scratch: Path | None
    ) -> Iterator[pa.RecordBatch]:
        if not self._options.keep_order:
            return shuffle_rows(
                batches,
                rng=self._draws.draw("order").generator(),
                directory=scratch,
                memory=self._applying.shuffle_bytes,
                batch_rows=self._applying.batch_rows,
            )
        unfinished = self._applying.unfinished is not None
        return hold_batches(batches, directory=scratch) if unfinished else batches

    def _release_rows(self, beside: Mapping[str, BatchWriter]) -> Iterator[pa.RecordBatch]:
        """Yield released rows with their number in the source and their person's token."""
        applying, rows = self._applying, self._applying.source.about_rows()
        for batch, made in in_order(applying.make, applying.batches(), jobs=applying.jobs):
            accounted = self._account(batch, made)
            self._take([made.notes], accounted.tally, accounted.dropped)
            for name, lines in accounted.beside:
                beside[name].write(lines)
            yield accounted.rows
            self._progress("applying the policy", self._tally.read, rows)

    def _take(self, notes: Iterable[Notes], tally: RowTally, dropped: NDArray[np.int64]) -> None:
        """Add the counts of further source rows, and the notes of each batch."""
        for one in notes:
            self._applying.merge(self._notes, one)
        self._tally.add(tally)
        self._dropped.append(dropped)

    def _manifests(self, written: WrittenRelease[Known], formulas: Mapping[str, int]) -> Manifests:
        applying, known = self._applying, self._known_summary
        measured = applying.measure(written)
        shown = applying.public_manifest(figures_of(measured), known)
        values, counted = self._search(written, shown["columns"])
        findings = (*measured, *values, *counted)
        figures = figures_of(findings)
        chosen, source = applying.chosen, applying.source
        both = {"format": FORMAT, "version": VERSION, "kind": applying.kit.kind}
        hidden = {
            **both,
            "source": {
                "name": source.name,
                "sha256": source.fingerprint(),
                DIGESTS: self._draws.digests,
            },
            "kit": applying.kit.id,
            "made_with": versions(),
            OPTIONS: {
                "fit": applying.kit.facts.get(OPTIONS, {}),
                "apply": list_stored(self._options),
            },
            "chosen": {
                "number": chosen.number,
                "choice": chosen.choice.to_data(),
                "edited": chosen.edited,
                "figures": dict(chosen.figures),
            },
            "counts": self._tally.to_data(),
            "formulas": {"escaped": self._escape, "cells": dict(formulas)},
            "figures": {name: value for name, value in figures.items() if isfinite(value)},
            FINDINGS: findings_to_data(findings),
            "roles": applying.roles.model_dump(mode="json"),
            **({VALUES: [detail_values(one) for one in values]} if values else {}),
            **applying.private_manifest(known),
        }
        hidden[INVENTORY] = list_fates(
            source.columns,
            applying.roles,
            shown["columns"],
            applying.find_suppressed_columns(known),
        )
        found = figures.get(VALUES_FOUND)
        if found is not None and not is_few(found):
            shown["figures"][VALUES_FOUND] = found
        exact = shown["figures"].items()
        shown["figures"] = {name: applying.stating(x, name) for name, x in exact}
        shown[PREDICTED] = [name for name in shown["figures"] if name not in hidden["figures"]]
        escaped = {"formulas": ESCAPED} if self._escape else {}
        return {**both, "voile": __version__, **escaped, **shown}, hidden

    def _search(
        self, written: WrittenRelease[Known], described: Sequence[Mapping[str, Any]]
    ) -> tuple[tuple[ValueFinding, ...], tuple[GateFinding, ...]]:
        """Search the release for unreleased values, and warn of more than chance explains."""
        applying = self._applying
        if not (applying.searches_values and self.searches_values and self._tally.released):
            return (), ()
        from voile.release.values import (  # loads compiled kernels
            MOST_ROWS,
            SearchedPart,
            count_beyond_chance,
            search_part,
        )

        part = SearchedPart(
            "",
            written.rows,
            written.truth.read([ROW]).column(0).combine_chunks(),
            applying.source,
            applying.roles.subject,
            {name: one.role for name, one in applying.roles.columns.items()},
            described,
        )
        values, skipped = search_part(part, written.scratch)
        for one in values[:1]:
            if one.exceeds_chance:
                warn(f"{one.sentence}; drop or generalise these columns", ValuesWarning)
        is_whole = values and not skipped and self._tally.released <= MOST_ROWS
        return values, (count_beyond_chance(values),) if is_whole else skipped


def finish_columns(
    applying: ApplyingStep[Any, Known], columns: Sequence[pa.Array], known: Callable[[], Known]
) -> Sequence[pa.Array]:
    """Return the columns of the release from the columns that the step made."""
    return columns if applying.unfinished is None else applying.finish(columns, known())


class _TextLines(BatchWriter):
    """A CSV file that is also readable as text in memory."""

    def __init__(self, place: AnyPath, schema: pa.Schema) -> None:
        self._file = place.open("w", newline="", encoding="utf-8")
        self._lines = csv.writer(self._file)
        self._lines.writerow(schema.names)

    def write(self, batch: pa.RecordBatch) -> None:
        cells = (column.to_pylist() for column in batch.columns)
        self._lines.writerows(zip(*cells, strict=True))

    def close(self) -> None:
        self._file.close()


def _open_beside(place: AnyPath, schema: pa.Schema) -> BatchWriter:
    return _TextLines(place, schema) if place.name.endswith(".csv") else open_writer(place, schema)
