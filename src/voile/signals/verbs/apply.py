"""The wing's third verb: apply encodes readings, class by class, into a release."""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.progress import Progress
from voile.data import Source
from voile.data.files.memory import AnyPath
from voile.keys.pseudonyms import pseudonyms_of
from voile.keys.random import Protective
from voile.keys.secret import Secret
from voile.release.apply import Applying, Batch, Outcome
from voile.release.choice import Chosen
from voile.release.kit import Kit
from voile.release.manifest import Release
from voile.signals.codec.codec import Codec
from voile.signals.codec.lattice import OFF, Lattice
from voile.signals.maps.privacy_map import SignalsWarning
from voile.signals.maps.stored import mark_of
from voile.signals.readings.sources import BatchReadings, SignalReader, nothing
from voile.signals.verbs.certify import Certificate, certify
from voile.signals.verbs.content import Content, Policy
from voile.signals.verbs.options import ApplyOptions
from voile.signals.verbs.report_data import STATING, report_data

KEPT = ("label", "sensitive", "keep")
PSEUDONYM = "pseudonym"  # the released column of subjects, whose own name may be an identifier's
CLASSES, OUTSIDE = "classes.csv", "outside.csv"
MISSING, UNCARRIED = "a missing or infinite reading", "a reading too far out to be carried exactly"


def apply(
    kit: Kit,
    chosen: Chosen,
    source: Source,
    out: Path | None,
    options: ApplyOptions,
    *,
    force: bool,
    progress: Progress,
) -> Release:
    """Encode the readings of a source, each by its subject's class, with two manifests.

    Messages stand in the readings' columns, beside a pseudonym; the class never leaves.
    In the private folder ``classes.csv`` gives the class of each pseudonym, for the recipient, and
    ``outside.csv`` the readings that hardly occur in their class. Rows stream; memory follows the
    batch and the number of subjects, and two bytes a row for the certificate.
    """
    chosen.check(kit)
    content = Content.of(kit)
    content.reader.check(source)
    policy = Policy.from_data(chosen.policy, content.maps)
    policy.warn()
    applying = _Applying(
        kit, chosen.as_read(content, policy), source, content, policy, options, progress
    )
    return applying.write(out, options, force=force)


class _Applying(Applying):
    stating = STATING

    def __init__(
        self,
        kit: Kit,
        chosen: Chosen,
        source: Source,
        content: Content,
        policy: Policy,
        options: ApplyOptions,
        progress: Progress,
    ) -> None:
        self._content, self._reader, self._policy = content, content.reader, policy
        map = content.map(policy)
        self._map, self._places = mark_of(map.codec_), options.places
        self._codec = replace(map.codec_, places=options.places)
        self._scores = map.codec(base="normal", strength=1.0)
        self._passes = options.missing == "pass"
        secret = options.secret(self._reader.subject)
        lasting = None if options.no_pseudonyms else secret
        self._lasts = lasting is not None
        self._secret = lasting or Secret(Protective().bytes(32))
        self._classes: dict[str, tuple[int, str]] = {}
        self._heard: set[str] = set()  # whose message is in the release
        self._certificate = Certificate()
        self._outside: Counter[str] = Counter()
        self._flags: Any = None
        self._types = {
            form.column: form.decoded_type(source.columns[form.column])
            for form in self._reader.forms
        }
        schema = _schema(source, self._reader)
        self._shown: list[str] = schema.names
        super().__init__(
            kit,
            chosen,
            source,
            roles=self._reader.roles,
            hold_out=self._reader.hold_out,
            columns=[*self._shown[1:], self._reader.private],
            schema=schema,
            progress=progress,
            secret=secret,
        )

    def _batches(self, private: AnyPath, files: ExitStack) -> Iterator[pa.RecordBatch]:
        """Write beside the rows each pseudonym's class, and which readings lie outside."""
        writers = []
        for name in (CLASSES, OUTSIDE):
            file = (private / name).open("w", newline="", encoding="utf-8")
            writers.append(csv.writer(files.enter_context(file)))
        classes, self._flags = writers
        self._flags.writerow(["row", "column"])
        yield from super()._batches(private, files)
        classes.writerow([PSEUDONYM, self._reader.private])
        classes.writerows((name, label) for name, (_, label) in sorted(self._classes.items()))

    def make(self, batch: Batch) -> Outcome:
        """Encode the readings of each row; set aside those that cannot be."""
        seen = self._reader.see(batch.rows)
        lost = self._set_aside_of(batch, seen)
        blank = seen.missing & batch.counted & ~lost
        rows = np.flatnonzero(batch.counted & ~lost & ~blank)
        table, labels = self._on_lattices(seen.table(rows)), seen.labels[rows].astype(str)
        self._check_classes(labels, batch.numbers[rows])
        Z, far = carried(self._codec, table, labels, self.protective)
        uncarried = np.zeros_like(lost)
        uncarried[rows[far]] = True
        self.note(batch, ", ".join(self._reader.columns), UNCARRIED, uncarried)
        lost |= uncarried
        rows, table, labels, Z = rows[~far], table[~far], labels[~far], Z[~far]
        self._flag(table, labels, batch.numbers[rows])
        which = np.searchsorted(self._codec.classes, labels)
        self._certificate.add(batch.numbers, batch.numbers[rows], which, table)
        out = np.flatnonzero(batch.counted & ~lost)
        names = self._names(batch, seen, out)
        self._heard.update(names.take(pa.array(rows)).to_pylist())
        made = dict(zip(self._reader.columns, self._sent(len(lost), rows, Z), strict=True))
        made[PSEUDONYM] = names
        columns = [made[n] if n in made else batch.rows.column(n) for n in self._shown]
        return Outcome(columns, lost, np.zeros_like(lost))

    def _on_lattices(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return readings as the multiples that they stand for: sums may be off by a bit."""
        for j, column in enumerate(self._codec.columns):
            if isinstance(column, Lattice):
                table[:, j] = column.nearest(table[:, j].astype(np.float64))
        return table

    def _set_aside_of(self, batch: Batch, seen: BatchReadings) -> NDArray[np.bool_]:
        """Note why rows cannot be released, each once, and say which they are."""
        lost = np.zeros(len(batch.numbers), dtype=np.bool_)

        def note(column: str, reason: str, which: NDArray[np.bool_]) -> None:
            fresh = which & batch.counted & ~lost
            self.note(batch, column, reason, fresh)
            lost[fresh] = True

        note(self._reader.subject, "no subject", nothing(seen.subjects))
        note(self._reader.private, "no class", nothing(seen.labels))
        for form, cells, column in zip(
            self._reader.forms, seen.cells, self._codec.columns, strict=True
        ):
            note(form.column, form.lacks, cells.strange)
            if not self._passes:
                note(form.column, MISSING, cells.missing)
            whole = ~(cells.missing | cells.strange)
            if isinstance(column, Lattice):
                values = np.where(whole, cells.values, 0.0)
                off = np.abs(column.nearest(values) - values) > OFF * column.resolution
                note(form.column, f"no multiple of {column.resolution:g}", off & whole)
            else:
                unseen = ~np.isin(cells.values.astype(str), column.values)
                note(form.column, "a value that the map has not seen", unseen & whole)
        return lost

    def _check_classes(self, labels: NDArray[np.str_], numbers: NDArray[np.int64]) -> None:
        strange = ~np.isin(labels, self._codec.classes)
        if strange.any():
            raise RequestError(
                "the map has not seen a class",
                where=f"{self.source.name}, row {int(numbers[strange.argmax()]) + 1:,}, "
                f"column {self._reader.private}",
                instead="fit with such people, at least 20, or merge their class with another",
            )

    def _names(self, batch: Batch, seen: BatchReadings, out: NDArray[np.intp]) -> pa.Array:
        """Return pseudonyms of the rows that go out, and remember whose class is which."""
        subjects = pa.array(seen.subjects[out], pa.string())
        names = pseudonyms_of(self._secret, subjects).to_pylist()
        column = np.full(len(seen.subjects), None, dtype=object)
        column[out] = names
        for name, label, number in zip(names, seen.labels[out], batch.numbers[out], strict=True):
            first, known = self._classes.setdefault(name, (int(number), label))
            if known != label:
                raise RequestError(
                    f"the subject is of another class than in row {first + 1:,}",
                    where=f"{self.source.name}, row {int(number) + 1:,}",
                    instead="give each enrolment a subject of its own",
                )
        return pa.array(column, pa.string())

    def _sent(self, n: int, rows: NDArray[np.intp], Z: NDArray[Any]) -> Iterator[pa.Array]:
        blank = np.ones(n, dtype=np.bool_)
        blank[rows] = False
        for j, form in enumerate(self._reader.forms):
            column = np.zeros(n, dtype=object if form.settings.nominal else np.float64)
            column[rows] = Z[:, j]
            yield pa.array(column, form.sent_type, mask=blank)

    def _flag(self, table: NDArray[Any], labels: NDArray[np.str_], numbers: Any) -> None:
        """Record which readings lie beyond those that the map was fitted to."""
        outside = self._scores.outside(table, labels)
        for j, form in enumerate(self._reader.forms):
            if outside[:, j].any():
                self._outside[form.column] += int(outside[:, j].sum())
                found = numbers[outside[:, j]]
                self._flags.writerows((int(number) + 1, form.column) for number in found)

    def certified(self, out: AnyPath, rows: Source, scratch: Path | None) -> dict[str, float]:
        """Decode what was written, and hold it to the readings."""
        figures = certify(self.opened(out), rows, self._reader, self._codec, self._certificate)
        again = self._certificate.rows - len(self._heard)
        if again and self._policy.strength > 0:
            note = f"{again:,} messages are not their subject's first, and many reveal the class"
            warnings.warn(f"{note}: send them in sessions", SignalsWarning, stacklevel=2)
        return {**figures, "subjects": len(self._classes), "outside": sum(self._outside.values())}

    def public_manifest(self, figures: Mapping[str, float]) -> dict[str, Any]:
        """Describe the columns and what was expected, and nothing of whose class is which."""
        chosen = self.chosen.figures
        return {
            "policy": self._policy.to_data(),
            "map": self._map,
            "places": self._places,
            "columns": [
                {"column": name, "role": self._role(name), **self._what(name)}
                for name in self._shown
            ],
            "figures": {name: chosen[name] for name in chosen if name != "distortion"},
        }

    def _role(self, name: str) -> str:
        return "identifier" if name == PSEUDONYM else self._reader.roles.columns[name].role

    def _what(self, name: str) -> dict[str, str]:
        if name in self._types:
            sent = "text" if self.schema.field(name).type == pa.string() else "number"
            kind = str(self._types[name])
            return {"what": "messages, decoded by class", "type": kind, "sent": sent}
        if name == PSEUDONYM:
            how = "keyed by a secret" if self._lasts else "of this release alone"
            return {"what": f"pseudonym, {how}"}
        return {"what": "as in the source"}

    def private_manifest(self) -> dict[str, Any]:
        """Return what the report needs of the other policies, and how many readings lie outside."""
        return {
            "outside": dict(self._outside),
            "story": report_data(self._content, self._policy, self.chosen.number),
        }


def _schema(source: Source, reader: SignalReader) -> pa.Schema:
    """Return the columns of the release: the pseudonym, messages, and those kept."""
    sent, roles = {form.column: form.sent_type for form in reader.forms}, reader.roles.columns
    fields = [
        pa.field(name, sent.get(name, type_))
        for name, type_ in source.columns.items()
        if name in sent or (roles[name].role in KEPT and name != reader.subject)
    ]
    if PSEUDONYM in [field.name for field in fields]:
        raise RequestError(
            f"two columns of the release would be called {PSEUDONYM}",
            where=source.name,
            instead="call the source's by another name",
        )
    return pa.schema([pa.field(PSEUDONYM, pa.string()), *fields])


def carried(
    codec: Codec, table: NDArray[Any], labels: NDArray[np.str_], protective: Protective
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Encode what float64 can carry; say which rows it cannot. O(n log n) where some cannot."""
    try:
        return codec.encode(table, labels, protective=protective), np.zeros(len(table), np.bool_)
    except RequestError as error:
        if codec.places is not None:
            remedy = "give more --places"
            raise RequestError(error.what, where="--places", instead=remedy) from None
        if len(table) == 1:
            return table, np.ones(1, dtype=np.bool_)
    half = len(table) // 2
    parts = (slice(half), slice(half, None))
    halves = [carried(codec, table[part], labels[part], protective) for part in parts]
    Z, far = zip(*halves, strict=True)
    return np.concatenate(Z), np.concatenate(far)
