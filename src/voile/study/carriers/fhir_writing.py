"""A FHIR resource as it is released: the fields of the list, ids drawn anew, one offset a person.

A person's sex, race and postal code are those of the released row; the age is its interval, in an
extension, and the birth date is marked as masked. Dates are days: their times of day are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from voile.data.fhir import rules
from voile.data.fhir.attachments import make_attachment, read_contents
from voile.data.fhir.fields import Resource, read_day, read_period
from voile.data.person_codes import HISPANIC, OMB, RACES, SEXES, US_CORE, fhir_codes
from voile.keys.pseudonyms import pseudonym
from voile.study.carriers import carrier

INTERVAL = "urn:voile:interval:"
"""The extension that holds what a released row shows of a column."""
ABSENT = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
GENDERS = fhir_codes(SEXES)
RACE_CODES = {  # "Other" is not a category of US Core
    **{word: ("race", code) for word, code in fhir_codes(RACES).items() if word != "Other"},
    HISPANIC.word: ("ethnicity", HISPANIC.fhir),
}


def read_notes(one: Resource) -> list[str]:
    """Return the texts of the contents that can be read."""
    return [text for text in read_contents(one) if isinstance(text, str)]


@dataclass(frozen=True)
class FhirWriting:
    """Writes released resources.

    encounter_of : the id and the person of the encounter that a reference names.
    """

    released: carrier.Released
    encounter_of: Callable[[object], tuple[str, str] | None]
    encounters: set[str] = field(default_factory=set)
    """Those that were released, by the ids that they had: nothing refers to another."""

    def patient(
        self, person: carrier.Person, one: Resource, tally: carrier.Tally
    ) -> dict[str, Any]:
        """Write a person from the released row.

        Raises WithheldError: the person has none.
        """
        shown = self.released.shown(person.subject)
        if shown is None:
            raise carrier.WithheldError(carrier.NOT_RELEASED)
        return {
            "resourceType": "Patient",
            "id": self.released.name_of(person.subject),
            "extension": [*_race(shown), *_intervals(shown)],
            **_name(*self.released.made_up(person.subject)),
            **_gender(shown),
            "_birthDate": {"extension": [{"url": ABSENT, "valueCode": "masked"}]},
            **_Fields(self, person.subject, tally, [], whole=False).of(
                rules.FIELDS["Patient"], one, "Patient"
            ),
            **_address(shown),
        }

    def resource(
        self, kind: str, one: Resource, subject: str, tally: carrier.Tally
    ) -> dict[str, Any]:
        """Write any other resource of a person.

        Raises WithheldError: the person has no released row, or a field that it needs is dropped.
        """
        texts: list[str | None] = []
        if kind == "DocumentReference":  # each note is taken, also of people without a row
            texts = [next(self.released.notes) for _ in read_notes(one)]
        if self.released.shown(subject) is None:
            raise carrier.WithheldError(carrier.NOT_RELEASED)
        if kind == "DocumentReference" and not any(text is not None for text in texts):
            raise carrier.WithheldError(carrier.NO_TEXT)
        content = [{"attachment": make_attachment(text)} for text in texts if text is not None]
        fields = _Fields(self, subject, tally, content).of(rules.FIELDS[kind], one, kind)
        missing = [name for name in rules.REQUIRED[kind] if name not in fields]
        if missing:
            raise carrier.WithheldError(f"nothing of {missing[0]} can be released, which it needs")
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
    tally: carrier.Tally
    content: list[dict[str, Any]]
    whole: bool = True
    """Whether a resource with a day outside the extract is withheld, and not that day alone."""

    def of(self, listed: rules.Rules, one: Resource, path: str) -> dict[str, Any]:
        """Return what is released; what is not is counted by its name."""
        found: dict[str, Any] = {}
        for name, raw in one.items():
            value = self._value(listed.get(name), raw, f"{path}.{name}")
            if value is not None:
                found[name] = value
            elif name not in ("resourceType", "id"):
                self.tally.dropped[_named(path, name)] += 1
        return found

    def _value(self, rule: rules.Rule | rules.Rules | None, raw: Any, path: str) -> Any:
        if rule is None:
            return None
        if rule == rules.CONTENT:
            return self.content or None
        if not isinstance(raw, list):
            return self._one(rule, raw, path)
        return [x for x in (self._one(rule, each, path) for each in raw) if x is not None] or None

    def _one(self, rule: rules.Rule | rules.Rules, raw: Any, path: str) -> Any:
        if isinstance(rule, Mapping):
            found = self.of(rule, raw, path) if isinstance(raw, dict) else {}
            needed = rules.WITHIN.get(path.rpartition(".")[2])
            return found if found and (needed is None or needed in found) else None
        return self._of_person(rule, raw) if isinstance(rule, str) else rule(raw)

    def _of_person(self, rule: str, raw: Any) -> Any:
        if rule == rules.SUBJECT:
            return {"reference": f"Patient/{self.writing.released.name_of(self.subject)}"}
        if rule == rules.ENCOUNTER:
            found = self.writing.encounter_of(raw)
            if found is None or found[0] not in self.writing.encounters:
                return None
            return {"reference": f"Encounter/{self.writing.encounter_id(found[0])}"}
        if rule == rules.PERIOD:
            days = {name: self._moved(day) for name, day in read_period(raw).items()}
            return {name: day for name, day in days.items() if day} or None
        assert rule == rules.DAY
        day = read_day(raw)
        return None if day is None else self._moved(day)

    def _moved(self, day: date) -> str | None:
        try:
            moved = self.writing.released.moved(self.subject, day)
        except carrier.WithheldError:
            if self.whole:
                raise
            return None
        return None if moved is None else moved.isoformat()


def _named(path: str, name: str) -> str:
    """Name a dropped field; a name that is not an element of FHIR may be data itself."""
    return f"{path}.{name if name in rules.ELEMENTS else '(another name)'}"


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
