"""The wing's own verb: decode gives the recipient, who knows each class, the readings again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.errors import RequestError, nearest
from voile.io import Source, Staging, open_writer, publishing
from voile.io.opening import split_output
from voile.io.outputs import READINGS, READINGS_FORMAT, manifest_of
from voile.kit import Chosen, Kit
from voile.progress import Progress
from voile.release import Release, manifest_path
from voile.signals.applying import PSEUDONYM
from voile.signals.certify import messages
from voile.signals.codec import Codec
from voile.signals.content import Content, Policy
from voile.signals.maps.stored import mark_of
from voile.signals.readings.forms import type_named
from voile.signals.readings.sources import Reading, subjects_of


def decode(
    kit: Kit,
    chosen: Chosen,
    release: Release,
    classes: Source,
    out: Path,
    *,
    force: bool,
    progress: Progress,
) -> int:
    """Write the readings of a release again, to the last bit, and return the number of rows.

    Parameters
    ----------
    classes : a table of the class of each `PSEUDONYM`, its other column called as the source's;
        such as ``classes.csv`` in the private folder of the release. Held in memory.
    out : the release's columns, the readings in the place of the messages, as numbers where the
        source had text. Rows stream. Beside it lies a manifest, by which it is known again.

    Raises
    ------
    RequestError : another kit, policy or map than the release's; a subject without a class or
        of two; a class that the map has not seen.
    """
    chosen.check(kit)
    content = Content.of(kit)
    codec = content.map(Policy.from_data(chosen.policy, content.maps)).codec_
    if release.public.get("map") != mark_of(codec):
        raise RequestError(
            "the release was sent by another map than this policy's",
            where=release.path.name,
            instead="give the kit and the policy that it was applied with",
        )
    release.check_hash()
    reading = content.reading
    known = _known(classes, reading, codec)
    source = release.rows()
    types = _types(release, source, reading)
    schema = pa.schema([pa.field(name, types[name]) for name in source.columns])
    rows = 0
    out, table = split_output(out)
    with Staging(out, READINGS, force=force) as staging:
        part = staging.part(out)
        with open_writer(f"{part}::{table}" if table else part, schema, force=force) as writer:
            for batch in source.batches():
                writer.write(_decoded(batch, reading, codec, known, schema, rows))
                rows += len(batch)
                progress("decoding", rows)
        staging.part(manifest_path(out)).write_bytes(manifest_of(READINGS_FORMAT))
        with publishing(part, table, force=force) as publish:
            staging.commit(publish)
    return rows


def _known(classes: Source, reading: Reading, codec: Codec) -> dict[str, int]:
    """Return the number of each subject's class."""
    names = [PSEUDONYM, reading.private]
    for name in names:
        if name not in classes.columns:
            remedy = nearest(name, classes.columns)
            raise RequestError(f"there is no column {name}", where=classes.name, instead=remedy)
    numbers = {str(label): k for k, label in enumerate(codec.classes)}
    known: dict[str, int] = {}
    row = 0
    for batch in classes.batches(names):
        pairs = zip(
            subjects_of(batch.column(names[0])), reading.classes(batch.column(names[1])),
            strict=True,
        )  # fmt: skip
        for subject, label in pairs:
            row += 1
            if label not in numbers:
                raise RequestError(
                    "the map has not seen a class", where=f"{classes.name}, row {row:,}"
                )
            if known.setdefault(subject, numbers[label]) != numbers[label]:
                raise RequestError(
                    "a subject is of two classes", where=f"{classes.name}, row {row:,}"
                )
    return known


def _types(release: Release, source: Source, reading: Reading) -> dict[str, pa.DataType]:
    """Return the type of each column of the output: messages become what readings were."""
    types = dict(source.columns)
    for column in release.public["columns"]:
        if "type" in column:
            types[column["column"]] = type_named(column["type"])
    return types


def _decoded(
    batch: pa.RecordBatch,
    reading: Reading,
    codec: Codec,
    known: dict[str, int],
    schema: pa.Schema,
    first: int,
) -> pa.RecordBatch:
    Z, blank = messages(batch, reading.forms)
    which = _which(subjects_of(batch.column(PSEUDONYM)), known, first)
    X = Z.copy()
    if not blank.all():
        X[~blank] = codec.decode(Z[~blank], codec.classes[which[~blank]])
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    for j, form in enumerate(reading.forms):
        columns[form.column] = form.restored(X[:, j], blank, schema.field(form.column).type)
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _which(subjects: NDArray[np.object_], known: dict[str, int], first: int) -> NDArray[Any]:
    which = np.array([known.get(one, -1) for one in subjects], dtype=np.intp)
    if (which < 0).any():
        row = first + int((which < 0).argmax()) + 1
        raise RequestError(
            "a subject has no class",
            where=f"the release, row {row:,}",
            instead="say it in the table of classes",
        )
    return which
