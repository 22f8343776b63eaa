"""Read and rewrite FHIR files: NDJSON with one resource or Bundle per line, or a single one.

The code reads a file twice. The first pass assembles readings, since several Observations may
contain the values of one reading. The second pass replaces each value in place. No other byte of
the file changes, so that decoding restores exactly the same file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from voile.core.errors import RequestError
from voile.data.fhir.lines import read_documents
from voile.data.fhir.marks import add_mark, remove_mark
from voile.data.fhir.observations import ObservationElement, find_elements, read_elements
from voile.data.fhir.reading_fields import ReadingField
from voile.data.fhir.spans import TextEdit, apply_edits
from voile.data.files.atomic import Staging
from voile.data.files.outputs import READINGS, READINGS_FORMAT, SET_ASIDE, manifest_of
from voile.release.manifest import manifest_path
from voile.signals.fhir.gather import MessageRows, ReadingRows
from voile.signals.fhir.schemes import HidingScheme
from voile.signals.model.codec.limits import ReadingLimits

Others: TypeAlias = Literal["refuse", "keep"]


@dataclass(frozen=True)
class FileSummary:
    values: int
    readings: int
    subjects: int
    others: int
    set_aside: int = 0


def encode(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    scheme: HidingScheme,
    fields: Sequence[ReadingField],
    *,
    others: Others = "refuse",
    canonical: bool = False,
    force: bool = False,
) -> FileSummary:
    """Encode the readings of a file and leave all other bytes unchanged.

    A reading has one value of each field, for one subject at one time, in one or several
    Observations. If a field has several values at one time, the first values form one reading, the
    second values the next. Without a time, each Observation is a reading. A map of sequences treats
    some columns as invariant. Their values may appear anywhere, once or often. With `canonical`, a
    number in another form, such as 1.2E+2, is decoded in the field's form.

    These parts stay readable: interpretations, reference ranges, times, and all resources other
    than Observations. Memory: about 500 bytes per value, and the largest line.
    """
    if len(fields) != len(scheme.lattices):
        raise RequestError(f"there are {len(fields)} fields of {len(scheme.lattices)} columns")
    path = Path(source)
    readings, left = ReadingRows(fields, scheme, canonical=canonical), 0
    for element in read_elements(path):
        j = element.find_field(fields) if element.has_value else None
        if j is not None:
            readings.add(element, j)
        elif element.has_value:
            left += 1
            if others == "refuse":
                raise RequestError(
                    "a value has a code of no field",
                    where=element.place,
                    instead="name its field, take it out, or keep others as they are",
                )
    sent = readings.encode_all()

    def edits(element: ObservationElement) -> Iterator[TextEdit]:
        j = element.find_field(fields) if element.has_value else None
        if j is not None:
            number = element.find_reading(fields[j])
            z, tag = next(sent)
            yield TextEdit(number.start, number.end, repr(z))
            yield add_mark(element.text, element.members, tag)

    _rewrite(path, Path(out), edits, force=force)
    return FileSummary(len(readings.spots), len(readings.rows), readings.subjects, left)


def decode(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    scheme: HidingScheme,
    columns: Sequence[ReadingLimits],
    *,
    force: bool = False,
) -> FileSummary:
    """Decode a file written by `encode`, and restore its original bytes.

    Anyone with the map can send any number, and every number decodes to some reading. A reading is
    rejected if it is outside the map's range (`RANGE` normal scores of its class). It is also
    rejected if it is outside its column's bounds or words. Its values in `out` stay encoded and
    marked. Its decoded values are in `OUT.set-aside.jsonl`, one reading per line.
    """
    path = Path(source)
    messages, left = MessageRows(columns, scheme), 0
    for element in read_elements(path):
        if mark := element.find_mark():
            messages.add(element, mark)
        else:
            left += element.has_value
    decoded = messages.decode_all()
    values, aside = iter(decoded.values), decoded.set_aside

    def edits(element: ObservationElement) -> Iterator[TextEdit]:
        if (mark := element.find_mark()) and (value := next(values)) is not None:
            number = element.find_number()
            yield TextEdit(number.start, number.end, value)
            yield remove_mark(element.text, element.members, mark)

    _rewrite(path, Path(out), edits, force=force, set_aside=aside)
    exchanged = len(decoded.values) - decoded.values.count(None)
    readings = len(messages.rows) - len(aside)
    return FileSummary(exchanged, readings, messages.subjects, left, len(aside))


def _rewrite(
    path: Path,
    out: Path,
    edits: Callable[[ObservationElement], Iterator[TextEdit]],
    *,
    force: bool,
    set_aside: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """Rewrite a file with edits, together with its manifest. Write both or neither."""
    with Staging(out, READINGS, force=force) as staging:
        with staging.part(out).open("xb") as file:
            for place, text in read_documents(path):
                found = find_elements(text, place)
                changed = apply_edits(text, (edit for one in found for edit in edits(one)))
                file.write(changed.encode())
        if set_aside is not None:
            lines = "".join(f"{json.dumps(one)}\n" for one in set_aside)
            staging.part(Path(f"{out}{SET_ASIDE}")).write_text(lines)
        staging.part(manifest_path(out)).write_bytes(manifest_of(READINGS_FORMAT))
        staging.commit()
