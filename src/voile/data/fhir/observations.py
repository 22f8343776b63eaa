"""Find the values of Observations: their positions in a text, and their readings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError
from voile.data.fhir import spans
from voile.data.fhir.fields import list_codings, read_number, read_reference, take_object
from voile.data.fhir.lines import read_documents, report_broken
from voile.data.fhir.marks import Members, ReadingMark, find_mark
from voile.data.fhir.reading_fields import ReadingField
from voile.data.fhir.values import UCUM

VALUE = re.compile(r"value[A-Z]")
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
NARRATIVES = ("text", "note")
"""The members that may repeat a value in words."""
SHORT_UNIT = re.compile(r"[!-~]{1,24}")
"""The pattern of a unit that an error message may print."""
TIMES = ("effectiveDateTime", "effectiveInstant")


@dataclass(frozen=True, kw_only=True)
class ObservationElement:
    """An Observation or one of its components. It has a code, and may have a value.

    observation : the members of the whole Observation.
    """

    text: str
    members: Members
    place: str
    subject: str
    time: str
    observation: Members

    def find_field(self, fields: Sequence[ReadingField]) -> int | None:
        """Return the number of the field with this code, or None."""
        codings = list_codings(self.get("code"))
        found = [j for j, one in enumerate(fields) if any(map(one.has_coding, codings))]
        if len(found) > 1:
            raise RequestError(
                "the observation's codes match two columns of the map", where=self.place
            )
        return found[0] if found else None

    def get(self, name: str) -> Any:
        return _read_member(self.text, self.members, name)

    @property
    def has_value(self) -> bool:
        return any(VALUE.match(name) for name in self.members)

    def find_mark(self) -> ReadingMark | None:
        with report_broken(self.place):
            return find_mark(self.text, self.members)

    def find_number(self) -> spans.JsonSpan:
        """Return the span of the number in the value, which is a Quantity."""
        return spans.find_members(self.text, self.members["valueQuantity"].start)["value"]

    def find_reading(self, field: ReadingField) -> spans.JsonSpan:
        """Return the span of the number in the value.

        Raises
        ------
        RequestError : the value is not a reading in the unit of the field.
        """
        if "valueQuantity" not in self.members:
            raise RequestError("the observation's value is not a Quantity", where=self.place)
        if self.find_mark():
            raise RequestError("the observation's value is encoded already", where=self.place)
        quantity = take_object(self.get("valueQuantity"))
        if "comparator" in quantity:
            raise RequestError(
                "the Quantity gives a bound (such as < 5) instead of a measured value",
                where=self.place,
            )
        if read_number(quantity) is None:
            raise RequestError("the Quantity has no number", where=self.place)
        unit = quantity.get("code", quantity.get("unit"))
        if unit != field.unit or quantity.get("system", UCUM) != UCUM:
            shown = unit if isinstance(unit, str) and SHORT_UNIT.fullmatch(unit) else "none"
            raise RequestError(
                f"the unit is {shown}, but the map requires the UCUM unit {field.unit}",
                where=self.place,
                instead="convert the value, or set unit to the value's unit",
            )
        return self.find_number()

    def check_narrative(self, number: str) -> None:
        """Raise RequestError if a text of the Observation repeats the value and would reveal it."""
        for name in NARRATIVES:
            span = self.observation.get(name)
            numbers = NUMBER.findall(self.text, span.start, span.end) if span else []
            if any(Decimal(one.replace(",", ".")) == abs(Decimal(number)) for one in numbers):
                raise RequestError(
                    f"the element {name} repeats the value",
                    where=self.place,
                    instead=f"remove {name} from the resource",
                )


def read_elements(path: Path) -> Iterator[ObservationElement]:
    """Yield each Observation and component of a file, in order.

    Raises
    ------
    SourceError : the file cannot be read, or a document is not FHIR in JSON.
    """
    for place, text in read_documents(path):
        yield from find_elements(text, place)


def find_elements(text: str, place: str) -> Iterator[ObservationElement]:
    """Yield each Observation and component of a document. A blank document has none."""
    with report_broken(place):
        if text.strip():
            yield from _find_in_resource(text, spans.read_document(text)[1], place)


def _find_in_resource(text: str, span: spans.JsonSpan, place: str) -> Iterator[ObservationElement]:
    """Search a resource, the resources that it contains, and the entries of a Bundle."""
    members = spans.find_members(text, span.start)
    kind = _read_member(text, members, "resourceType")
    for one in _find_items(text, members, "contained"):
        yield from _find_in_resource(text, one, f"{place}, contained")
    if kind == "Bundle":
        for number, entry in enumerate(_find_items(text, members, "entry"), 1):
            inner = spans.find_members(text, entry.start)
            if "resource" in inner:
                yield from _find_in_resource(text, inner["resource"], f"{place}, entry {number:,}")
    elif kind == "Observation":
        yield from _find_in_observation(text, members, place)


def _find_in_observation(text: str, members: Members, place: str) -> Iterator[ObservationElement]:
    period = take_object(_read_member(text, members, "effectivePeriod"))
    times = [*(_read_member(text, members, name) for name in TIMES), period.get("start")]
    time = next((str(one) for one in times if one), "")
    subject = read_reference(_read_member(text, members, "subject")) or ""
    parts = _find_items(text, members, "component")
    for own in (members, *(spans.find_members(text, one.start) for one in parts)):
        yield ObservationElement(
            text=text, members=own, place=place, subject=subject, time=time, observation=members
        )


def _find_items(text: str, members: Members, name: str) -> list[spans.JsonSpan]:
    return spans.find_items(text, members[name].start) if name in members else []


def _read_member(text: str, members: Members, name: str) -> Any:
    return spans.read_value(text, members[name].start)[0] if name in members else None
