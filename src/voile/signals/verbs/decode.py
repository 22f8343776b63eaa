"""The verb `decode` restores the readings for the recipient, who knows each class."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.core.progress import ProgressHook
from voile.core.wording import count
from voile.data import Source, Staging, open_source, open_writer, publishing, to_frame
from voile.data.files.memory import AnyPath, MemoryPath
from voile.data.files.outputs import READINGS, READINGS_FORMAT, SET_ASIDE, manifest_of
from voile.data.frames import Frame
from voile.data.opening import split_output
from voile.release.choice import Chosen
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease, manifest_path
from voile.release.own_verbs import EndedVerb, VerbReporter, open_reported
from voile.signals.model.codec.known_mac import KnownMac
from voile.signals.model.codec.limits import RANGE
from voile.signals.model.codec.side import SideLevels
from voile.signals.model.content import KIND, SignalsContent
from voile.signals.model.maps.stored import StoredMap, mark_of
from voile.signals.model.policies import SignalsPolicy
from voile.signals.model.readings.forms import ReadingColumn, type_named
from voile.signals.model.readings.sources import SignalReader, subjects_of
from voile.signals.options import DecodeOptions
from voile.signals.verbs.certify import messages
from voile.signals.verbs.release_columns import CLASSES, MAC, PSEUDONYM
from voile.signals.verbs.subjects import KnownOf, known_in, subjects_in

ASIDE = 1  # the exit code if rows were rejected


def decode_release(
    options: DecodeOptions,
    reporter: VerbReporter,
    *,
    kit: str,
    release: str,
    out: Path,
    force: bool,
    table: str | None,
    encoding: str | None,
) -> EndedVerb:
    fitted, chosen = StoredKit.load(Path(kit), KIND), Chosen.read(options.policy)
    sent = StoredRelease.open(release)
    known = sent.folder / CLASSES if options.classes is None else options.classes
    opened = open_reported(reporter, known, table=table, encoding=encoding)
    with reporter.progress() as progress:
        decoded = decode(fitted, chosen, sent, opened, out, force=force, progress=progress)
    reporter.say(f"{out}: {count(decoded.rows, 'row')} decoded")
    set_aside = decoded.set_aside
    if set_aside:
        parts = {
            "outside the range": set_aside - decoded.other_known,
            "encoded with other known columns": decoded.other_known,
        }
        said = " and ".join(f"{count(n, 'row')} {what}" for what, n in parts.items() if n)
        reporter.insist(f"{said}, in {decoded.aside}")
    result = {"decoded": str(out), "rows": decoded.rows, "set_aside": set_aside}
    return EndedVerb(result, ASIDE if set_aside else 0)


@dataclass(frozen=True)
class DecodedReadings(BriefRepr):
    """Decoded readings, for the recipient.

    Parameters
    ----------
    out : path of the readings. like : the kind of data frame to return.
    rows : number of decoded rows.
    set_aside, aside : number of rejected rows, and their file. A row is rejected if it is outside
        the map's range, or was encoded with other known columns.
    other_known : number of rows encoded with other known columns.
    """

    shows = ("out", "rows", "set_aside")

    out: AnyPath
    like: Frame
    rows: int
    set_aside: int
    aside: AnyPath
    other_known: int = 0

    @property
    def frame(self) -> Any:
        """The rows, as the same kind of data frame as the release's source."""
        source = open_source(self.out)
        table = pa.Table.from_batches(source.batches(), source.schema())
        return to_frame(table, like=self.like)


def decode(
    kit: StoredKit,
    chosen: Chosen,
    release: StoredRelease,
    classes: Source,
    out: Path | None,
    *,
    force: bool,
    progress: ProgressHook,
) -> DecodedReadings:
    """Decode a release to its original readings, bit for bit.

    A hash shows that the release was not changed, but not who wrote it. Every number decodes to
    some reading. A row that was encoded with other known columns is rejected without decoding,
    since its MAC differs. A row is also rejected if a reading is outside the map's range (`RANGE`
    normal scores of its class, given the columns before). The same applies to a reading outside its
    column's bounds, ordinal words or type.
    """
    chosen.check(kit)
    content = SignalsContent.of(kit)
    map = content.map(SignalsPolicy.from_data(chosen.policy, content.maps))
    if release.public.get("map") != mark_of(map.codec_):
        raise RequestError(
            "the release was sent by another map than this policy's",
            where=release.path.name,
            instead="give the kit and the policy that it was applied with",
        )
    release.check_hash()
    reader = content.reader
    labels = [str(label) for label in map.codec_.classes]
    classes_of = subjects_in(classes, reader, labels, subject=PSEUDONYM)
    beside = known_in(classes, reader) if reader.sides else {}
    known = {who: labels.index(each.label) for who, each in classes_of.items()}
    source = release.rows()
    types = _types(release, source)
    shown = [name for name in source.columns if not (reader.sides and name == MAC)]
    schema = pa.schema([pa.field(name, types[name]) for name in shown])
    decoding = _BatchDecoding(reader, map, known, beside, schema)

    def fill(rows: str | AnyPath, aside: AnyPath) -> None:
        with open_writer(rows, schema, force=force) as writer, aside.open("w") as file:
            for batch in source.batches():
                writer.write(decoding.of(batch, file))
                progress("decoding the messages", decoding.read)

    place: AnyPath = MemoryPath("readings") if out is None else split_output(out)[0]
    aside = place.with_name(f"{place.name}{SET_ASIDE}")
    if out is None:
        fill(place, aside)
    else:
        _write(out, fill, force=force)
    rows = decoding.read - decoding.set_aside
    return DecodedReadings(
        place, release.like, rows, decoding.set_aside, aside, decoding.other_known
    )


def _write(out: Path, fill: Callable[[str | AnyPath, AnyPath], None], *, force: bool) -> None:
    """Publish the readings, the rejected rows and their manifest together."""
    out, table = split_output(out)
    with Staging(out, READINGS, force=force) as staging:
        part = staging.part(out)
        fill(f"{part}::{table}" if table else part, staging.part(f"{out}{SET_ASIDE}"))
        staging.part(manifest_path(out)).write_bytes(manifest_of(READINGS_FORMAT))
        with publishing(part, table, force=force) as publish:
            staging.commit(publish)


def _types(release: StoredRelease, source: Source) -> dict[str, pa.DataType]:
    """Return the type of each output column. Messages get the type of the readings."""
    types = dict(source.columns)
    for column in release.public["columns"]:
        if "type" in column:
            types[column["column"]] = type_named(column["type"])
    return types


class _BatchDecoding:
    """The decoding of a release, batch by batch, with counts of its rows.

    `read`, `set_aside` and `other_known` are the counts.
    """

    def __init__(
        self,
        reader: SignalReader,
        map: StoredMap,
        known: dict[str, int],
        beside: dict[str, KnownOf],
        schema: pa.Schema,
    ) -> None:
        self._reader, self._known, self._schema = reader, known, schema
        self._beside = beside
        self._codec, self._scores = map.codec_, map.codec(base="normal", strength=1.0)
        self._types = [schema.field(form.column).type for form in reader.forms]
        self.read = self.set_aside = self.other_known = 0

    def of(self, batch: pa.RecordBatch, aside: TextIO) -> pa.RecordBatch:
        """Return the decoded rows, and write the rejected rows to `aside`."""
        Z, blank = messages(batch, self._reader.forms)
        names = subjects_of(batch.column(PSEUDONYM))
        which = _which(names, self._known, self.read)
        side, differs = self._side(batch, names, Z, blank)
        X, outside = Z.copy(), np.zeros(Z.shape, dtype=np.bool_)
        sent = np.flatnonzero(~blank & ~differs)
        if len(sent):
            labels, at = self._codec.classes[which[sent]], self._codec.levels(side[sent], len(sent))
            with np.errstate(over="ignore", invalid="ignore"):  # forged messages may overflow
                X[sent] = self._codec.decode(Z[sent], labels, known=at)
            outside[sent] = self._outside(X[sent], labels, at)
        self._write(batch, X, outside, aside)
        self._refuse(batch, differs, aside)
        good = ~outside.any(axis=1) & ~differs
        self.read += len(batch)
        self.set_aside += int((~good).sum())
        self.other_known += int(differs.sum())
        return self._restore_columns(batch.filter(pa.array(good)), X[good], blank[good])

    def _side(
        self,
        batch: pa.RecordBatch,
        names: NDArray[np.object_],
        Z: NDArray[Any],
        blank: NDArray[np.bool_],
    ) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
        """Return the recipient's side columns, and the mask of rows encoded with other ones."""
        sides = self._reader.sides
        side, differs = np.full((len(names), len(sides)), None), np.zeros(len(names), np.bool_)
        if not sides:
            return side, differs
        for j, one in enumerate(sides):
            if one.settings.sent:
                side[:, j] = one.cells(batch.column(one.column)).values
            else:
                side[:, j] = [self._beside[name].cells[one.column] for name in names]
        keys = [self._beside[name].key for name in names]
        tags = KnownMac(self._codec.side).tags(keys, names.tolist(), side, Z)
        given = batch.column(MAC).to_pylist()
        same = [hmac.compare_digest(a, b or "") for a, b in zip(tags, given, strict=True)]
        return side, ~blank & ~np.array(same, dtype=np.bool_)

    def _refuse(self, batch: pa.RecordBatch, differs: NDArray[np.bool_], aside: TextIO) -> None:
        """Write the rows that were encoded with other side columns, in their sent form."""
        names = [one.column for one in self._reader.sides]
        for i in np.flatnonzero(differs).tolist():
            line = {"row": self.read + i, "known": names, "sent": batch.slice(i, 1).to_pylist()[0]}
            aside.write(json.dumps(line, default=str) + "\n")

    def _outside(self, X: NDArray[Any], labels: NDArray[Any], at: SideLevels) -> NDArray[np.bool_]:
        parts = zip(X.T, self._reader.forms, self._types, strict=True)
        outside = np.stack([form.is_outside(x, type_) for x, form, type_ in parts], axis=1)
        numbers = ~outside.any(axis=1)
        rows = at.take(np.flatnonzero(numbers))
        outside[numbers] = self._scores.outside(X[numbers], labels[numbers], RANGE, known=rows)
        return outside

    def _write(
        self, batch: pa.RecordBatch, X: NDArray[Any], outside: NDArray[np.bool_], aside: TextIO
    ) -> None:
        """Write the rows with a reading out of range, in decoded form."""
        forms = self._reader.forms
        for i in np.flatnonzero(outside.any(axis=1)).tolist():
            shown = {
                form.column: _write_value(form, x) for form, x in zip(forms, X[i], strict=True)
            }
            line = {
                "row": self.read + i,
                "outside": [
                    form.column for form, one in zip(forms, outside[i], strict=True) if one
                ],
                "decoded": {**batch.slice(i, 1).to_pylist()[0], **shown},
            }
            aside.write(json.dumps(line, default=str) + "\n")

    def _restore_columns(
        self, batch: pa.RecordBatch, X: NDArray[Any], blank: NDArray[np.bool_]
    ) -> pa.RecordBatch:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for j, (form, type_) in enumerate(zip(self._reader.forms, self._types, strict=True)):
            columns[form.column] = form.restore_type(X[:, j], blank, type_)
        names = self._schema.names
        return pa.RecordBatch.from_arrays([columns[name] for name in names], schema=self._schema)


def _write_value(form: ReadingColumn, value: Any) -> str | float:
    """Return a decoded value for JSON."""
    return str(value) if form.settings.nominal else form.decoded_limits.write_value(float(value))


def _which(subjects: NDArray[np.object_], known: dict[str, int], first: int) -> NDArray[Any]:
    which = np.array([known.get(one, -1) for one in subjects], dtype=np.intp)
    if (which < 0).any():
        row = first + int((which < 0).argmax()) + 1
        raise RequestError(
            "a subject has no class",
            where=f"the release, row {row:,}",
            instead="add it to the table of classes",
        )
    return which
