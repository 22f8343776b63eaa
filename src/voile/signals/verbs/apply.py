"""The verb `apply` encodes readings, class by class, into a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data import Source
from voile.gate.finding import NOBODY, GateFinding
from voile.gate.signals import MessageColumns, measure_signals
from voile.keys.pseudonyms import pseudonyms_of
from voile.keys.secret import Secret
from voile.release.choice import Chosen
from voile.release.draws import ReleaseDraws
from voile.release.kit import StoredKit
from voile.release.outcomes import AsideRows, BatchOutcome, SourceBatch, WrittenRelease
from voile.release.step import ApplyingStep
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.known_mac import KnownMac
from voile.signals.model.codec.lattice import OFF, RowDraws, ValueLattice
from voile.signals.model.codec.side import NumberGrid, SideLevels
from voile.signals.model.content import SignalsContent
from voile.signals.model.maps.stored import StoredMap, mark_of
from voile.signals.model.policies import SignalsPolicy
from voile.signals.model.readings.sources import BatchReadings, SignalReader, nothing
from voile.signals.options import ApplyOptions
from voile.signals.verbs.certify import SignalsCertificate, certify
from voile.signals.verbs.release_columns import (
    AS_IN_SOURCE,
    CLASSES,
    MAC,
    OUTSIDE,
    PSEUDONYM,
    as_cells,
    classes_schema,
    columns_read,
    mac_key,
    release_schema,
)
from voile.signals.verbs.report_data import STATING, report_data
from voile.signals.verbs.sent import SentRows, encode_carriable, strangers

FLAGGED = pa.schema([("row", pa.int64()), ("column", pa.string())])
MISSING, UNCARRIED = "a missing or infinite reading", "a reading too far out to be carried exactly"


def prepare(
    kit: StoredKit, chosen: Chosen, source: Source, options: ApplyOptions
) -> _SignalsApplying:
    """Prepare the encoding of a source, with the secret of its pseudonyms.

    Raises
    ------
    RequestError : the source has other columns, or there is no secret for lasting pseudonyms.
    """
    content = SignalsContent.of(kit)
    reader = content.reader
    reader.check(source)
    policy = SignalsPolicy.from_data(chosen.policy, content.maps)
    policy.warn()
    secret, schema = options.secret(reader.subject), release_schema(source, reader)
    lasting = None if options.no_pseudonyms else secret
    own = ReleaseDraws(options, kit, chosen, source)
    return _SignalsApplying(
        kit=kit,
        chosen=chosen.as_read(content, policy),
        source=source,
        roles=reader.roles,
        hold_out=reader.hold_out,
        columns=columns_read(reader, schema),
        schema=schema,
        beside={OUTSIDE: FLAGGED, CLASSES: classes_schema(source, reader)},
        secret=secret,
        content=content,
        policy=policy,
        places=options.places,
        passes=options.missing == "pass",
        lasts=lasting is not None,
        keyed=lasting or Secret(own.draw("pseudonyms").bytes(32)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _SignalsApplying(ApplyingStep[SentRows, SentRows]):
    """The step that encodes rows, each by the map of its class, into messages.

    In the private folder, ``classes.csv`` contains the class of each pseudonym, for the recipient.
    ``outside.csv`` lists the readings that hardly occur in their class. Memory grows with the batch
    and the number of subjects. The certificate needs two bytes per row and 16 for each known
    column.

    Each message has a MAC of its known columns, under a key for each pseudonym. ``classes.csv``
    contains these keys, and the known columns that are not sent.

    passes : whether a row without a reading is released without a message.
    keyed : the key of pseudonyms and dither.
    lasts : whether the key is the user's own. Otherwise it belongs to this release only. With a
        secret, the same request gives the same key.
    """

    stating = STATING
    note_types = (SentRows, SignalsCertificate, SideLevels)

    content: SignalsContent
    policy: SignalsPolicy
    places: int | None
    passes: bool
    keyed: Secret
    lasts: bool

    @property
    def reader(self) -> SignalReader:
        return self.content.reader

    @cached_property
    def map(self) -> StoredMap:
        return self.content.map(self.policy)

    @cached_property
    def codec(self) -> Codec:
        return replace(self.map.codec_, places=self.places)

    @cached_property
    def scores(self) -> Codec:
        """The codec that detects readings beyond those of the fit."""
        return self.map.codec(base="normal", strength=1.0)

    def why_alone(self) -> str | None:
        return None if self.lasts else "without a secret its pseudonyms are one process's own"

    def make(self, batch: SourceBatch) -> BatchOutcome[SentRows]:
        """Encode the readings of each row, and reject rows that cannot be encoded."""
        seen = self.reader.see(batch.rows)
        aside = list(self._set_aside(batch, seen))
        rows = np.flatnonzero(batch.find_remaining(aside) & ~seen.missing)
        table, labels = self._on_lattices(seen.table(rows)), seen.labels[rows].astype(str)
        self._check_classes(labels, batch.numbers[rows])
        known = seen.side_values(rows)
        at = self.codec.levels(known, len(rows))
        draws = self._draws(seen.subjects[rows], batch.numbers[rows], labels, table, at)
        Z, far = encode_carriable(self.codec, table, labels, at, draws)
        uncarried = np.zeros_like(batch.counted)
        uncarried[rows[far]] = True
        aside.append(AsideRows(", ".join(self.reader.columns), UNCARRIED, uncarried))
        rows, table, labels, Z = rows[~far], table[~far], labels[~far], Z[~far]
        known, at = known[~far], at.take(np.flatnonzero(~far))
        names = self._names(seen, np.flatnonzero(batch.find_remaining(aside)))
        flags = self._flags(table, labels, at, batch.numbers[rows])
        sent = self._note_batch(batch, seen, names, flags)
        sent.heard.update(names[rows])
        sent.strangers.update(strangers(self.reader.sides, self.codec.side, known))
        which = np.searchsorted(self.codec.classes, labels)
        sent.certificate.add(batch.numbers, batch.numbers[rows], which, table, at)
        made = dict(self._messages(len(names), rows, Z))
        if self.reader.sides:
            made[MAC] = self._macs(names, rows, known, Z)
        made[PSEUDONYM] = pa.array(names, pa.string())
        columns = [made[n] if n in made else batch.rows.column(n) for n in self.schema.names]
        return BatchOutcome(columns, sent, aside, beside={OUTSIDE: flags})

    @cached_property
    def _dither(self) -> bytes:
        """The key of this map's dither. Another map must give a row another dither."""
        purpose = f"dither {mark_of(self.map.codec_)} {self.places}"
        return self.keyed.derive("protective", purpose)

    def _draws(
        self,
        subjects: NDArray[np.object_],
        numbers: NDArray[np.int64],
        labels: NDArray[np.str_],
        table: NDArray[Any],
        at: SideLevels,
    ) -> RowDraws:
        """Return the randomness of the dither. The same key gives a row the same dither."""
        columns = [subjects, numbers, labels, table, at.left.T, at.share.T]
        if self.codec.lift:
            columns.append(at.values.T)
        parts = (column.tolist() for column in columns)
        return RowDraws.from_key(self._dither, zip(*parts, strict=True))

    def _note_batch(
        self,
        batch: SourceBatch,
        seen: BatchReadings,
        names: NDArray[np.object_],
        flags: pa.RecordBatch,
    ) -> SentRows:
        """Record each subject's class, and the number of readings beyond those of the fit."""
        sent = SentRows(outside=Counter(flags.column("column").to_pylist()))
        hidden = [j for j, one in enumerate(self.reader.sides) if not one.settings.sent]
        known = seen.side_values(np.arange(len(names)))[:, hidden].tolist()
        for name, number, label, k in zip(names, batch.numbers, seen.labels, known, strict=True):
            if name is not None:
                self._know(sent, name, (int(number), label, tuple(k)))
        return sent

    def nothing(self) -> SentRows:
        return SentRows()

    def merge(self, notes: SentRows, more: SentRows) -> None:
        """Merge the notes of sent rows. Refuse a subject with two classes."""
        for name, one in more.classes.items():
            self._know(notes, name, one)
        notes.heard |= more.heard
        notes.certificate.join(more.certificate)
        notes.outside += more.outside
        notes.strangers += more.strangers

    def last(self, known: SentRows) -> dict[str, pa.RecordBatch]:
        """Return the table of classes by pseudonym."""
        schema = self.beside[CLASSES]
        rows = [
            (name, label, *k, *([mac_key(self.keyed, name).hex()] if self.reader.sides else []))
            for name, (_, label, k) in sorted(known.classes.items())
        ]
        cells = zip(*rows, strict=True) if rows else [[]] * len(schema)
        arrays = [as_cells(list(each), one.type) for each, one in zip(cells, schema, strict=True)]
        return {CLASSES: pa.RecordBatch.from_arrays(arrays, schema=schema)}

    def _set_aside(self, batch: SourceBatch, seen: BatchReadings) -> Iterator[AsideRows]:
        """Yield the reasons to reject rows, with each row once."""
        left = batch.counted.copy()
        for column, reason, rows in self._faults(seen):
            yield AsideRows(column, reason, rows & left)
            left &= ~rows

    def _faults(self, seen: BatchReadings) -> Iterator[AsideRows]:
        yield AsideRows(self.reader.subject, "no subject", nothing(seen.subjects))
        yield AsideRows(self.reader.private, "no class", nothing(seen.labels))
        columns = zip(self.reader.forms, seen.cells, self.codec.columns, strict=True)
        for form, cells, column in columns:
            yield AsideRows(form.column, form.lacks, cells.strange)
            if not self.passes:
                yield AsideRows(form.column, MISSING, cells.missing)
            whole = ~(cells.missing | cells.strange)
            if isinstance(column, ValueLattice):
                values = np.where(whole, cells.values, 0.0)
                off = np.abs(column.nearest(values) - values) > OFF * column.resolution
                yield AsideRows(form.column, f"no multiple of {column.resolution:g}", off & whole)
            else:
                unseen = ~np.isin(cells.values.astype(str), column.values)
                yield AsideRows(form.column, "a value that the map has not seen", unseen & whole)
        for one, cells, grid in zip(self.reader.sides, seen.sides, self.codec.side, strict=True):
            yield AsideRows(one.column, one.lacks, cells.strange)
            if isinstance(grid, NumberGrid):
                off = grid.off(cells.values)
                yield AsideRows(one.column, f"no multiple of {grid.lattice.resolution:g}", off)

    def _on_lattices(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return readings as exact lattice values, since sums may be off by a bit."""
        for j, column in enumerate(self.codec.columns):
            if isinstance(column, ValueLattice):
                table[:, j] = column.nearest(table[:, j].astype(np.float64))
        return table

    def _check_classes(self, labels: NDArray[np.str_], numbers: NDArray[np.int64]) -> None:
        strange = ~np.isin(labels, self.codec.classes)
        if strange.any():
            raise RequestError(
                "the map has not seen a class",
                where=f"{self.source.name}, row {int(numbers[strange.argmax()]) + 1:,}, "
                f"column {self.reader.private}",
                instead="fit with such people, at least 20, or merge their class with another",
            )

    def _names(self, seen: BatchReadings, out: NDArray[np.intp]) -> NDArray[np.object_]:
        """Return the pseudonyms of the released rows, and None for the others."""
        names = np.full(len(seen.subjects), None, dtype=object)
        subjects = pa.array(seen.subjects[out], pa.string())
        names[out] = pseudonyms_of(self.keyed, subjects).to_pylist()
        return names

    def _know(self, sent: SentRows, name: str, one: tuple[int, str, tuple[object, ...]]) -> None:
        first, known, beside = sent.classes.setdefault(name, one)
        number, label, k = one
        if beside != k:
            raise RequestError(
                "a known column that is not sent is another for the subject than in "
                f"row {first + 1:,}",
                where=f"{self.source.name}, row {number + 1:,}",
                instead="say sent = true of it in the roles, and fit again",
            )
        if known != label:
            raise RequestError(
                f"the subject is of another class than in row {first + 1:,}",
                where=f"{self.source.name}, row {number + 1:,}",
                instead="give each enrolment a subject of its own",
            )

    def _messages(
        self, n: int, rows: NDArray[np.intp], Z: NDArray[Any]
    ) -> Iterator[tuple[str, pa.Array]]:
        blank = np.ones(n, dtype=np.bool_)
        blank[rows] = False
        for j, form in enumerate(self.reader.forms):
            column = np.zeros(n, dtype=Z.dtype)
            column[rows] = Z[:, j]
            yield form.column, pa.array(column, form.sent_type, mask=blank)

    def _macs(
        self,
        names: NDArray[np.object_],
        rows: NDArray[np.intp],
        known: NDArray[np.object_],
        Z: NDArray[Any],
    ) -> pa.Array:
        whose = names[rows].tolist()
        keys = [mac_key(self.keyed, name) for name in whose]
        tags = np.full(len(names), None, dtype=object)
        tags[rows] = KnownMac(self.codec.side).tags(keys, whose, known, Z)
        return pa.array(tags, pa.string())

    def _flags(
        self,
        table: NDArray[Any],
        labels: NDArray[np.str_],
        at: SideLevels,
        numbers: NDArray[np.int64],
    ) -> pa.RecordBatch:
        """Return the readings beyond those of the fit, by row and column."""
        column, row = np.nonzero(self.scores.outside(table, labels, known=at).T)
        names = pa.array(self.reader.columns, pa.string()).take(pa.array(column))
        return pa.RecordBatch.from_arrays([pa.array(numbers[row] + 1), names], schema=FLAGGED)

    def measure(self, written: WrittenRelease[SentRows]) -> tuple[GateFinding, ...]:
        """Decode the written rows, compare them with the readings, and measure the messages."""
        sent = written.known
        certify(written.rows, written.truth, self.reader, self.codec, sent.certificate)
        sent.warn(repeats=self.policy.strength > 0)
        classes = pa.table(
            {
                "person": pa.array(list(sent.classes), pa.string()),
                "class": pa.array([str(own) for _, own, _ in sent.classes.values()], pa.string()),
            }
        )
        columns = MessageColumns(
            numbers=[form.column for form in self.reader.forms if not form.settings.nominal],
            names=[form.column for form in self.reader.forms if form.settings.nominal],
            places=self.places,
        )
        findings = measure_signals(written.rows, columns, classes, directory=written.scratch)
        return (
            *findings,
            NOBODY.finds("subjects", len(sent.classes), "people"),
            NOBODY.finds("outside", sent.outside.total(), "cells"),
        )

    def public_manifest(self, figures: Mapping[str, float], known: SentRows) -> dict[str, Any]:
        """Return the columns and the expected figures, without any person's class."""
        chosen = self.chosen.figures
        return {
            "policy": self.policy.to_data(),
            "map": mark_of(self.map.codec_),
            "places": self.places,
            "withheld": list(self.content.withheld),
            "columns": self.describe_columns(dict(self._made_columns())),
            "figures": {name: chosen[name] for name in chosen if name != "distortion"},
        }

    def _made_columns(self) -> Iterator[tuple[str, dict[str, str]]]:
        for form in self.reader.forms:
            yield (
                form.column,
                {
                    "role": "reading",
                    "what": "messages, decoded by class",
                    "type": str(form.decoded_type(self.source.columns[form.column])),
                    "sent": "text" if form.settings.nominal else "number",
                },
            )
        if self.reader.sides:
            names = ", ".join(one.column for one in self.reader.sides)
            yield MAC, {"role": "identifier", "what": f"MAC of the message and of {names}"}
        for one in self.reader.sides:
            if one.settings.sent:
                yield one.column, {"role": "known", "what": AS_IN_SOURCE}
        how = "keyed by a secret" if self.lasts else "of this release alone"
        yield PSEUDONYM, {"role": "identifier", "what": f"pseudonym, {how}"}

    def private_manifest(self, known: SentRows) -> dict[str, Any]:
        """Return the report's data on the other policies, and the counts of readings outside."""
        return {
            "outside": dict(known.outside),
            "story": report_data(self.content, self.policy, self.chosen.number),
        }
