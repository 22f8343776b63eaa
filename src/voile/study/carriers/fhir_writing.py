"""Release a FHIR resource: by the rule of its type, with new ids and one offset per person.

A person's sex, race and postal code come from the released row. The age is written as its interval,
in an extension, and the birth date is marked as masked. Dates are written as days, without times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from typing import Any, Literal

from voile.core.errors import SourceError
from voile.data.fhir.attachments import make_attachment, read_attachment
from voile.data.fhir.completing import MASKED, IncompleteError, complete
from voile.data.fhir.definitions import COMMON, read_elements
from voile.data.fhir.exports import FoundResource
from voile.data.fhir.fields import (
    Resource,
    list_codings,
    list_objects,
    read_day,
    read_period,
    read_reference,
    take_list,
    take_object,
)
from voile.data.fhir.rules import (
    DATES,
    GENERALISE,
    KEEP,
    NOTES,
    PSEUDONYMISE,
    ElementRule,
    TypeRule,
    find_values,
)
from voile.data.fhir.values import generalise_value, keep_value, map_values
from voile.data.person_codes import HISPANIC, OMB, RACES, SEXES, US_CORE, fhir_codes
from voile.study.carriers import carrier
from voile.study.carriers.fhir_index import PATIENT, ExportIndex

INTERVAL = "urn:voile:interval:"
"""The extension with the released value of a row's column."""
CODE_OF_PERSON = "its code states a fact that the person's row generalises"
FROM_ROW = {f"{PATIENT}.{name}" for name in ("gender", "address", "extension")}
"""Elements that are rewritten from the person's released row, so no rule removes them."""
GENDERS = fhir_codes(SEXES)
RACE_CODES = {  # "Other" is not a category of US Core
    **{word: ("race", code) for word, code in fhir_codes(RACES).items() if word != "Other"},
    HISPANIC.word: ("ethnicity", HISPANIC.fhir),
}


Marks = Literal["none", "resources", "elements"]
OPERATION = "urn:voile:operation"
"""The extension that contains the operation on an element."""
_VALUES = "http://terminology.hl7.org/CodeSystem/v3-ObservationValue"


def read_notes(rule: TypeRule, one: Resource) -> list[str]:
    """Return the texts of the attachments that are readable notes."""
    return [text for _, text in _read_attachments(rule, one) if text is not None]


def _read_attachments(rule: TypeRule, one: Resource) -> Iterator[tuple[Any, str | None]]:
    for attachment in rule.list_notes(one):
        try:
            yield attachment, read_attachment(take_object(attachment))
        except SourceError:
            yield attachment, None


@dataclass(frozen=True)
class FhirWriting:
    """The conversion of resources to their released form.

    index : the person of each resource, and the targets of references. marks : the marks of the
        operations.
    drops_stays : whether only the first day of a resource is written, in the order of its rule.
    """

    released: carrier.ReleasedStudy
    index: ExportIndex
    marks: Marks = "resources"
    drops_stays: bool = False

    def take_texts(self, one: FoundResource, person: str | None) -> Mapping[int, str | None]:
        """Take the released text of each note of a resource, by the attachment's identity.

        Notes are taken in the order in which they were unpacked, including those of people without
        a row.
        """
        rule = self.index.rules[one.kind]
        if not rule.notes or person is None:
            return {}
        texts = {}
        for attachment, text in _read_attachments(rule, one.resource):
            if text is not None:
                texts[id(attachment)] = next(self.released.notes, None)
        return texts

    def make(
        self,
        one: FoundResource,
        person: str | None,
        texts: Mapping[int, str | None],
        tally: carrier.FileTally,
    ) -> dict[str, Any]:
        """Make a resource in its released form.

        Raises
        ------
        WithheldError : its person has no released row, or it needs a dropped element.
        """
        rule, key = self.index.rules[one.kind], self.index.key_of(one)
        shown = None if person is None else self.released.shown(person)
        if person is not None and shown is None:
            raise carrier.WithheldError(carrier.NOT_RELEASED)
        made = _ReleasedElements(self, rule, person, texts, tally).of(one.resource)
        if one.kind == "Patient":
            assert shown is not None
            made |= self._of_row(str(person), shown)
        missing = [one for one in sorted(rule.required) if not find_values(made, one.split("."))]
        if missing:
            raise carrier.WithheldError(
                carrier.NO_TEXT if missing[0] in rule.notes else needs(missing[0])
            )
        try:
            made = complete(one.kind, made, lambda _: True, rule.required)
        except IncompleteError as name:
            raise carrier.WithheldError(needs(str(name))) from None
        id = self.released.fresh_id() if key is None else self._id_of(key)
        return {"resourceType": one.kind, "id": id, **self._labels(rule), **made}

    def refer(self, raw: Any, person: str | None) -> dict[str, str] | None:
        """Return a reference to a released resource of the same person or of no person.

        Return None if the target is missing, not released, or of another person.
        """
        text = read_reference(raw)
        key = None if text is None else self.index.find_key(text)
        if key is None:
            return None
        owner = self.index.owner_of(key)
        is_shared = self.index.rules[key.partition("/")[0]].is_shared
        is_own = owner is not None and owner == person
        return {"reference": self.reference_to(key)} if is_own or is_shared else None

    def reference_to(self, key: str) -> str:
        """Return the reference to the released form of a resource."""
        return f"{key.partition('/')[0]}/{self._id_of(key)}"

    def _id_of(self, key: str) -> str:
        """Return a resource's new id, the same for every reference to it."""
        kind, _, own = key.partition("/")
        if kind == "Patient":
            return self.released.name_of(own)
        return blake2b(key.encode(), key=self._run_key, digest_size=16).hexdigest()

    @cached_property
    def _run_key(self) -> bytes:
        """A key for this run only, so that nobody can compute an id again."""
        return self.released.chance.bytes(32)

    def _of_row(self, person: str, shown: carrier.Shown) -> dict[str, Any]:
        """Return the elements of a Patient that come from the released row."""
        return {
            "extension": [*_race(shown), *_intervals(shown)],
            **_name(*self.released.made_up(person)),
            **_gender(shown),
            "_birthDate": MASKED,
            **_address(shown),
        }

    def _labels(self, rule: TypeRule) -> dict[str, Any]:
        """Return the security labels of a type, the same for each of its resources."""
        if self.marks == "none":
            return {}
        is_general = rule.kind == "Patient" or GENERALISE in rule.operations
        codes = ["PSEUDED", "REDACTED", *(["ABSTRED"] if is_general else [])]
        return {"meta": {"security": [{"system": _VALUES, "code": code} for code in codes]}}


def needs(name: str) -> str:
    return f"nothing of {name} can be released, which it needs"


@dataclass(frozen=True)
class _ReleasedElements:
    """The released elements of one resource of a person, by the rule for its type."""

    writing: FhirWriting
    rule: TypeRule
    person: str | None
    texts: Mapping[int, str | None]
    tally: carrier.FileTally
    _days: list[Any] = field(default_factory=list)
    """The days of the resource that were written."""

    def of(self, one: Resource) -> dict[str, Any]:
        if self._is_withheld(one):
            raise carrier.WithheldError(CODE_OF_PERSON)
        return self._part(self.rule.elements, one, self.rule.kind)

    @property
    def _written_elsewhere(self) -> set[str]:
        """Elements that are in the release without a rule."""
        return {f"{self.rule.kind}.resourceType", f"{self.rule.kind}.id", *FROM_ROW}

    def _part(self, rules: Mapping[str, ElementRule], one: Resource, path: str) -> dict[str, Any]:
        """Return the released elements, and count the other elements by name."""
        found: dict[str, Any] = {}
        in_order = [name for name in rules if name in one] if self.writing.drops_stays else []
        for name in dict.fromkeys([*in_order, *one]):
            raw = one[name]
            rule, own = rules.get(name), f"{path}.{name}"
            value = None if rule is None else self._value(rule, raw, own)
            if value is not None:
                found[name] = value
                self._mark(found, rule, name)
            elif own not in self._written_elsewhere:
                self.tally.dropped[own if rule or _is_known(path, name) else _other(path)] += 1
        return found

    def _value(self, rule: ElementRule, raw: Any, path: str) -> Any:
        return map_values(rule.element, raw, lambda _, each: self._write_value(rule, each, path))

    def _write_value(self, rule: ElementRule, raw: Any, path: str) -> Any:
        element, operation = rule.element, rule.operation
        if operation is None:
            if not isinstance(raw, dict) or self._is_withheld(raw):
                return None
            return self._part(rule.inner, raw, path) or None
        if operation == KEEP:
            return keep_value(element, raw)
        if operation == PSEUDONYMISE:
            return self.writing.refer(raw, self.person)
        if operation == NOTES:
            text = self.texts.get(id(raw))
            return None if text is None else make_attachment(text)
        if operation == GENERALISE and element.type not in DATES:
            return generalise_value(element, raw)
        if self.writing.drops_stays and self._days:
            return None
        days = self._dates(element.type, raw, is_year=operation == GENERALISE)
        self._days.extend([days] * bool(days))
        return days

    def _dates(self, kind: str, raw: Any, *, is_year: bool) -> Any:
        most = 1 if self.writing.drops_stays else None
        if kind == "Period":
            ends = islice(read_period(raw).items(), most)
            days = {name: self._move_day(day) for name, day in ends}
            return {name: day[:4] if is_year else day for name, day in days.items() if day} or None
        if kind == "Timing":
            moved = [
                self._move_day(day)
                for day in islice(filter(None, map(read_day, take_list(raw.get("event")))), most)
            ]
            return {"event": [day for day in moved if day]} if any(moved) else None
        day = read_day(raw)
        written = None if day is None else self._move_day(day)
        if written is None or kind != "instant":
            return written and (written[:4] if is_year else written)
        return f"{written}T00:00:00Z"

    def _move_day(self, day: date) -> str | None:
        assert self.person is not None
        try:
            moved = self.writing.released.move_day(self.person, day)
        except carrier.WithheldError:
            if self.rule.kind != "Patient":  # a person is released without the day
                raise
            return None
        return None if moved is None else moved.isoformat()

    def _is_withheld(self, one: Resource) -> bool:
        codes = {str(coding.get("code")) for coding in list_codings(one.get("code"))}
        return bool(codes & self.rule.withheld_codes)

    def _mark(self, found: dict[str, Any], rule: ElementRule | None, name: str) -> None:
        """Add an extension to an element with the operation that changed it."""
        operation = rule.operation if rule else None
        if self.writing.marks != "elements" or operation in (None, KEEP) or rule is None:
            return
        mark = {"url": OPERATION, "valueCode": operation}
        if not rule.element.is_primitive:
            for one in list_objects(found[name]):
                one["extension"] = [mark]  # type: ignore[index]
        else:
            marks = {"extension": [mark]}
            is_list = isinstance(found[name], list)
            found[f"_{name}"] = [marks for _ in found[name]] if is_list else marks


def _is_known(path: str, name: str) -> bool:
    """Return whether R4 defines an element. Other names may themselves be data."""
    parent, *inner = path.split(".")
    for one in inner:
        element = read_elements().get(parent, {}).get(one)
        if element is None:
            return False
        parent = element.parent
    return name.removeprefix("_") in (*read_elements().get(parent, {}), *COMMON)


def _other(path: str) -> str:
    return f"{path}.(another name)"


def _name(given: str | None, family: str | None) -> dict[str, Any]:
    own = {**({"family": family} if family else {}), **({"given": given.split()} if given else {})}
    return {"name": [own]} if own else {}


def _gender(shown: carrier.Shown) -> dict[str, str]:
    if "sex" not in shown:
        return {}
    return {"gender": GENDERS.get(carrier.one_value(shown, "sex") or "", "unknown")}


def _race(shown: carrier.Shown) -> list[dict[str, Any]]:
    found = RACE_CODES.get(carrier.one_value(shown, "race") or "")
    if found is None:
        return []
    name, code = found
    word = carrier.one_value(shown, "race")
    inner = [
        {"url": "ombCategory", "valueCoding": {"system": OMB, "code": code}},
        {"url": "text", "valueString": word},
    ]
    return [{"url": f"{US_CORE}{name}", "extension": inner}]


def _intervals(shown: carrier.Shown) -> list[dict[str, str]]:
    return [
        {"url": f"{INTERVAL}{name}", "valueString": shown[name].label}
        for name in carrier.QUASI
        if name in shown
    ]


def _address(shown: carrier.Shown) -> dict[str, Any]:
    code = carrier.common_start(shown, "zip")
    return {"address": [{"postalCode": code}]} if code else {}
