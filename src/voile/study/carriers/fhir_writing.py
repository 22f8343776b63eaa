"""A FHIR resource as it is released: the fields of the list, ids drawn anew, one offset a person.

A person's sex, race and postal code are those of the released row; the age is its interval, in an
extension, and the birth date is marked as masked. Dates are days: their times of day are dropped.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from voile.core.errors import SourceError
from voile.data.person_codes import HISPANIC, OMB, RACES, SEXES, US_CORE, fhir_codes
from voile.documents.text.formats.fhir import attachment_text
from voile.keys.pseudonyms import pseudonym
from voile.study.carriers.carrier import (
    NO_TEXT,
    NOT_RELEASED,
    QUASI,
    Person,
    Released,
    Shown,
    Tally,
    WithheldError,
    common_start,
    one_value,
)
from voile.study.carriers.fhir_fields import (
    CONTENT,
    DAY,
    ELEMENTS,
    ENCOUNTER,
    FIELDS,
    PERIOD,
    REQUIRED,
    SUBJECT,
    WITHIN,
    Rule,
    Rules,
)

Resource = Mapping[str, Any]
INTERVAL = "urn:voile:interval:"
"""The extension that holds what a released row shows of a column."""
ABSENT = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
GENDERS = fhir_codes(SEXES)
RACE_CODES = {  # "Other" is not a category of US Core
    **{word: ("race", code) for word, code in fhir_codes(RACES).items() if word != "Other"},
    HISPANIC.word: ("ethnicity", HISPANIC.fhir),
}
_MOMENT = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:T.*)?")


def readable_attachments(one: Resource) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each content that can be read."""
    contents = one.get("content")
    for number, content in enumerate(contents if isinstance(contents, list) else ()):
        attachment = content.get("attachment") if isinstance(content, dict) else None
        try:
            text = attachment_text(attachment if isinstance(attachment, dict) else {})
        except SourceError:
            continue
        yield number, text


@dataclass(frozen=True)
class FhirWriting:
    """Writes released resources.

    encounter_of : the id and the person of the encounter that a reference names.
    """

    released: Released
    encounter_of: Callable[[object], tuple[str, str] | None]
    encounters: set[str] = field(default_factory=set)
    """Those that were released, by the ids that they had: nothing refers to another."""

    def patient(self, person: Person, one: Resource, tally: Tally) -> dict[str, Any]:
        """Write a person from the released row.

        Raises WithheldError: the person has none.
        """
        shown = self.released.shown(person.subject)
        if shown is None:
            raise WithheldError(NOT_RELEASED)
        return {
            "resourceType": "Patient",
            "id": self.released.name_of(person.subject),
            "extension": [*_race(shown), *_intervals(shown)],
            **_name(*self.released.made_up(person.subject)),
            **_gender(shown),
            "_birthDate": {"extension": [{"url": ABSENT, "valueCode": "masked"}]},
            **_Fields(self, person.subject, tally, [], whole=False).of(
                FIELDS["Patient"], one, "Patient"
            ),
            **_address(shown),
        }

    def resource(self, kind: str, one: Resource, subject: str, tally: Tally) -> dict[str, Any]:
        """Write any other resource of a person.

        Raises WithheldError: the person has no released row, or a field that it needs is dropped.
        """
        texts: list[str | None] = []
        if kind == "DocumentReference":  # each note is taken, also of people without a row
            texts = [next(self.released.notes) for _ in readable_attachments(one)]
        if self.released.shown(subject) is None:
            raise WithheldError(NOT_RELEASED)
        if kind == "DocumentReference" and not any(text is not None for text in texts):
            raise WithheldError(NO_TEXT)
        content = [_content(text) for text in texts if text is not None]
        fields = _Fields(self, subject, tally, content).of(FIELDS[kind], one, kind)
        missing = [name for name in REQUIRED[kind] if name not in fields]
        if missing:
            raise WithheldError(f"nothing of {missing[0]} can be released, which it needs")
        id = self.released.fresh_id()
        if kind == "Encounter":
            self.encounters.add(str(one["id"]))
            id = self.encounter_id(str(one["id"]))
        return {"resourceType": kind, "id": id, **fields}

    def encounter_id(self, own: str) -> str:
        """Return an encounter's new id, the same wherever it is referred to."""
        return pseudonym(self.released.fresh, own, length=26)


@dataclass(frozen=True)
class _Fields:
    """The fields of one resource of a person, by the rules for its type."""

    writing: FhirWriting
    subject: str
    tally: Tally
    content: list[dict[str, Any]]
    whole: bool = True
    """Whether a resource with a day outside the extract is withheld, and not that day alone."""

    def of(self, rules: Rules, one: Resource, path: str) -> dict[str, Any]:
        """Return what is released; what is not is counted by its name."""
        found: dict[str, Any] = {}
        for name, raw in one.items():
            value = self._value(rules.get(name), raw, f"{path}.{name}")
            if value is not None:
                found[name] = value
            elif name not in ("resourceType", "id"):
                self.tally.dropped[_named(path, name)] += 1
        return found

    def _value(self, rule: Rule | Rules | None, raw: Any, path: str) -> Any:
        if rule is None:
            return None
        if rule == CONTENT:
            return self.content or None
        if not isinstance(raw, list):
            return self._one(rule, raw, path)
        return [x for x in (self._one(rule, each, path) for each in raw) if x is not None] or None

    def _one(self, rule: Rule | Rules, raw: Any, path: str) -> Any:
        if isinstance(rule, Mapping):
            found = self.of(rule, raw, path) if isinstance(raw, dict) else {}
            needed = WITHIN.get(path.rpartition(".")[2])
            return found if found and (needed is None or needed in found) else None
        return self._of_person(rule, raw) if isinstance(rule, str) else rule(raw)

    def _of_person(self, rule: str, raw: Any) -> Any:
        if rule == SUBJECT:
            return {"reference": f"Patient/{self.writing.released.name_of(self.subject)}"}
        if rule == ENCOUNTER:
            found = self.writing.encounter_of(raw)
            if found is None or found[0] not in self.writing.encounters:
                return None
            return {"reference": f"Encounter/{self.writing.encounter_id(found[0])}"}
        if rule == PERIOD:
            ends = raw if isinstance(raw, dict) else {}
            days = {name: self._day(ends.get(name)) for name in ("start", "end")}
            return {name: day for name, day in days.items() if day} or None
        assert rule == DAY
        return self._day(raw)

    def _day(self, raw: Any) -> str | None:
        """Move a whole day or moment; None for anything else, such as a month."""
        day = day_of(raw)
        moved = None if day is None else self._moved(day)
        return None if moved is None else moved.isoformat()

    def _moved(self, day: date) -> date | None:
        try:
            return self.writing.released.moved(self.subject, day)
        except WithheldError:
            if self.whole:
                raise
            return None


def day_of(raw: Any) -> date | None:
    """Read a whole day or moment; None for anything else, such as a month."""
    found = _MOMENT.fullmatch(raw) if isinstance(raw, str) else None
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def days_of(rules: Rules, one: Resource) -> Iterator[date]:
    """Yield the days of the fields of a resource that are released."""
    for name, rule in rules.items():
        raw = one.get(name)
        for each in raw if isinstance(raw, list) else [raw]:
            if isinstance(rule, Mapping) and isinstance(each, dict):
                yield from days_of(rule, each)
            elif rule == PERIOD and isinstance(each, dict):
                yield from filter(None, (day_of(each.get(end)) for end in ("start", "end")))
            elif rule == DAY and (day := day_of(each)):
                yield day


def _named(path: str, name: str) -> str:
    """Name a dropped field; a name that is not an element of FHIR may be data itself."""
    return f"{path}.{name if name in ELEMENTS else '(another name)'}"


def _content(text: str) -> dict[str, Any]:
    data = text.encode()
    sha1 = hashlib.sha1(data, usedforsecurity=False).digest()  # as FHIR asks
    return {
        "attachment": {
            "contentType": "text/plain; charset=utf-8",
            "data": b64encode(data).decode(),
            "size": len(data),
            "hash": b64encode(sha1).decode(),
        }
    }


def _name(given: str | None, family: str | None) -> dict[str, Any]:
    own = {**({"family": family} if family else {}), **({"given": given.split()} if given else {})}
    return {"name": [own]} if own else {}


def _gender(shown: Shown) -> dict[str, str]:
    if "sex" not in shown:
        return {}
    return {"gender": GENDERS.get(one_value(shown, "sex") or "", "unknown")}


def _race(shown: Shown) -> list[dict[str, Any]]:
    found = RACE_CODES.get(one_value(shown, "race") or "")
    if found is None:
        return []
    name, code = found
    word = one_value(shown, "race")
    inner = [
        {"url": "ombCategory", "valueCoding": {"system": OMB, "code": code}},
        {"url": "text", "valueString": word},
    ]
    return [{"url": f"{US_CORE}{name}", "extension": inner}]


def _intervals(shown: Shown) -> list[dict[str, str]]:
    return [
        {"url": f"{INTERVAL}{name}", "valueString": shown[name].label}
        for name in QUASI
        if name in shown
    ]


def _address(shown: Shown) -> dict[str, Any]:
    code = common_start(shown, "zip")
    return {"address": [{"postalCode": code}]} if code else {}
