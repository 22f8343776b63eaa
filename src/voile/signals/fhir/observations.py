"""The values of Observations: where they stand in a text, and what marks an encoded one.

An encoded value is no longer a weight, and every reader must know that: FHIR has a
`modifierExtension` for what changes the meaning of the element that it stands in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from voile.core.errors import RequestError
from voile.signals.fhir.fields import UCUM, Decimals, Field
from voile.signals.fhir.spans import BrokenError, Edit, Span, items, left_out, members, value

URL = "urn:voile:encoded-reading"
MARKS = "modifierExtension"
VALUE = re.compile(r"value[A-Z]")
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
TELLING = ("text", "note")  # what may repeat a value in words
SHOWN = re.compile(r"[!-~]{1,24}")  # what a unit may look like to be shown
TIMES = ("effectiveDateTime", "effectiveInstant")

Members = Mapping[str, Span]


@dataclass(frozen=True)
class Element:
    """An Observation or one of its components: what has a code and may have a value."""

    text: str
    members: Members
    place: str
    subject: str
    time: str
    observation: Members

    def field(self, fields: Sequence[Field]) -> int | None:
        """Return the number of the field whose code this has; None if it has none's."""
        code = self.get("code")
        codings = code.get("coding", []) if isinstance(code, dict) else []
        found = [j for j, one in enumerate(fields) if any(map(one.is_meant_by, codings))]
        if len(found) > 1:
            raise RequestError("the codes are those of two fields", where=self.place)
        return found[0] if found else None

    def get(self, name: str) -> Any:
        span = self.members.get(name)
        return value(self.text, span.start)[0] if span else None

    def has_value(self) -> bool:
        return any(VALUE.match(name) for name in self.members)

    def quantity(self, field: Field) -> Span:
        """Return where the number of the value stands, or say why it is not a reading."""
        if "valueQuantity" not in self.members:
            raise RequestError("the value is not a Quantity", where=self.place)
        if self.mark():
            raise RequestError("the value is encoded already", where=self.place)
        parts = members(self.text, self.members["valueQuantity"].start)
        held = {name: value(self.text, span.start)[0] for name, span in parts.items()}
        if "comparator" in held:
            raise RequestError("the value is a bound, no reading", where=self.place)
        if isinstance(held.get("value"), bool) or not isinstance(held.get("value"), int | float):
            raise RequestError("the Quantity has no number", where=self.place)
        found = held.get("code", held.get("unit"))
        if found != field.unit or held.get("system", UCUM) != UCUM:
            shown = found if isinstance(found, str) and SHOWN.fullmatch(found) else "none"
            raise RequestError(
                f"the unit is {shown}, and {field.unit} of UCUM is expected",
                where=self.place,
                instead="convert the value, or name its unit",
            )
        return parts["value"]

    def check_silence(self, number: str) -> None:
        """Refuse an Observation that repeats the value in words, where it would stay readable."""
        for name in TELLING:
            span = self.observation.get(name)
            numbers = NUMBER.findall(self.text, span.start, span.end) if span else []
            if any(Decimal(one.replace(",", ".")) == abs(Decimal(number)) for one in numbers):
                raise RequestError(
                    f"the value stands in the {name} as well",
                    where=self.place,
                    instead=f"take the {name} out",
                )

    def marks(self) -> list[Mark]:
        span = self.members.get(MARKS)
        return [Mark.read(self.text, one) for one in items(self.text, span.start)] if span else []

    def mark(self) -> Mark | None:
        return next((mark for mark in self.marks() if mark.url == URL), None)

    def marked(self, tag: Mapping[str, str | int]) -> Edit:
        kinds = {str: "valueString", int: "valueUnsignedInt"}
        inner = [{"url": name, kinds[type(held)]: held} for name, held in tag.items()]
        mark = json.dumps({"url": URL, "extension": inner}, separators=(",", ":"))
        if MARKS in self.members:
            at = items(self.text, self.members[MARKS].start)[-1].end
            return Edit(at, at, f",{mark}")
        at = self.members["valueQuantity"].begin
        return Edit(at, at, f'"{MARKS}":[{mark}],')

    def unmarked(self) -> Edit:
        marks = self.marks()
        if len(marks) == 1:
            return left_out(list(self.members.values()), self.members[MARKS])
        own = next(mark for mark in marks if mark.url == URL)
        return left_out([mark.span for mark in marks], own.span)


class Mark(NamedTuple):
    url: str
    span: Span
    held: Mapping[str, Any]

    @classmethod
    def read(cls, text: str, span: Span) -> Mark:
        """Read an extension; what is none of ours keeps its content to itself."""
        data = value(text, span.start)[0]
        if not isinstance(data, dict) or data.get("url") != URL:
            return cls("", span, {})
        try:
            held = {
                part["url"]: next(part[name] for name in part if name != "url")
                for part in data["extension"]
            }
        except (LookupError, TypeError, StopIteration):
            raise BrokenError from None
        return cls(URL, span, held)


def elements(text: str, span: Span, place: str) -> Iterator[Element]:
    """Yield what may have a value in a resource: in Bundles, and in what it contains, as well."""
    if not text.startswith("{", span.start):
        raise BrokenError
    parts = members(text, span.start)
    kind = value(text, parts["resourceType"].start)[0] if "resourceType" in parts else None
    for one in items(text, parts["contained"].start) if "contained" in parts else ():
        yield from elements(text, one, f"{place}, contained")
    if kind == "Bundle" and "entry" in parts:
        for number, entry in enumerate(items(text, parts["entry"].start), 1):
            inner = members(text, entry.start)
            if "resource" in inner:
                yield from elements(text, inner["resource"], f"{place}, entry {number:,}")
    elif kind == "Observation":
        yield from _of_one(text, parts, place)


def _of_one(text: str, parts: Members, place: str) -> Iterator[Element]:
    def held(name: str) -> Any:
        return value(text, parts[name].start)[0] if name in parts else None

    subject, period = held("subject"), held("effectivePeriod")
    whose = subject.get("reference") if isinstance(subject, dict) else None
    times = [held(name) for name in TIMES]
    times.append(period.get("start") if isinstance(period, dict) else None)
    time = next((str(one) for one in times if one), "")
    own = (place, str(whose or ""), time, parts)
    yield Element(text, parts, *own)
    for one in items(text, parts["component"].start) if "component" in parts else ():
        yield Element(text, members(text, one.start), *own)


def written(v: float, decimals: Decimals) -> str:
    """Write a value as a field's are.

    >>> written(70.0, 1), written(70.0, "shortest"), written(70.25, "shortest")
    ('70.0', '70', '70.25')
    """
    if decimals == "shortest":
        return str(int(v)) if v == int(v) else repr(v)
    return f"{v:.{decimals}f}"
