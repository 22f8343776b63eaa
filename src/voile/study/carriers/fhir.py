"""FHIR R4 bulk exports: files of resources, a line each, opened and written back.

`Patient` says who is who; every other resource names its patient. Ages are counted on one day for
all. Memory: the people, and the id of each encounter; texts and readings pass one at a time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, SourceError
from voile.data.fhir import fields
from voile.data.fhir.lines import ShuffledLines, read_resources
from voile.data.fhir.rules import FIELDS, find_days
from voile.data.person_codes import HISPANIC, RACES, SEXES, US_CORE, fhir_codes
from voile.study.carriers import carrier
from voile.study.carriers.fhir_known import STAFF, events_of, known_of, name_of, staff_of
from voile.study.carriers.fhir_writing import FhirWriting, read_notes

SUFFIX = ".ndjson"
FIRST = ("Patient", "Encounter")
"""Types that others refer to."""
SEX_WORDS = {code: word for word, code in fhir_codes(SEXES).items()}
RACE_WORDS = {code: word for word, code in fhir_codes(RACES).items()}


@dataclass
class Fhir:
    """A folder of a bulk export.

    as_of : the day on which ages are counted. drop : types that are not released.
    """

    folder: Path
    as_of: date
    drop: frozenset[str] = frozenset()
    _people: dict[str, carrier.Person] = field(default_factory=dict, repr=False)
    _encounters: dict[str, str] = field(default_factory=dict, repr=False)
    """Whose each encounter is."""

    def unpack(self, folder: Path) -> None:
        """Write the tables of people and notes.

        Raises
        ------
        RequestError : a type without a rule, a reference to nobody, a resource of nobody.
        SourceError : a line that is not a resource.
        """
        self._index()
        carrier.write_people(self._people, self.as_of, folder)
        carrier.write_notes(self._notes(), folder)

    def pack(self, released: carrier.Released, folder: Path, scratch: Path) -> carrier.Packed:
        """Write the released resources: random ids, shuffled lines, a file a type."""
        self._index()
        tallies: dict[str, carrier.Tally] = {}
        rows: dict[str, int] = {}
        writing = FhirWriting(released, self.encounter_of)
        for kind in self._kinds():
            tallies[kind], lines = carrier.Tally(), ShuffledLines(scratch / f"{kind}.lines")
            for place, one in self._resources(kind):
                tallies[kind].read += 1
                try:
                    lines.add(self._released(kind, one, place, writing, tallies[kind]))
                except carrier.WithheldError as why:
                    who = str(one["id"]) if kind == "Patient" else self._person_of(one, place)
                    tallies[kind].put_aside(who, str(why))
                else:
                    tallies[kind].released += 1
            tallies[kind].check(kind)
            name = f"{kind}{SUFFIX}"
            rows[name] = lines.write(folder / name, released.chance.generator())
        _check_resolves(folder)
        return carrier.Packed(rows, tallies)

    def last_day(self) -> date | None:
        days = (_start(one) for _, one in self._resources("Encounter"))
        return max((day for day in days if day), default=None)

    def names(self) -> Iterator[tuple[str, carrier.Names]]:
        for place, one in self._resources("Patient"):
            yield fields.read_id(one, place), name_of(one.get("name"))

    def known(self) -> Iterator[tuple[str, carrier.Known]]:
        for place, one in self._resources("Patient"):
            subject = fields.read_id(one, place)
            yield from ((subject, row) for row in known_of(one))

    def staff(self) -> Iterator[carrier.Known]:
        for path in self._every():
            if _kind_of(path) in STAFF:
                for _, one in read_resources(path):
                    yield from staff_of(one)

    def without_rule(self) -> list[str]:
        return sorted({_kind_of(path) for path in self._every()} - FIELDS.keys())

    def covered(self) -> dict[str, int]:
        return {kind: sum(1 for _ in self._resources(kind)) for kind in self._kinds()}

    def uncovered(self) -> list[carrier.Uncovered]:
        without = Counter[str]()
        for path in self._every():
            if (kind := _kind_of(path)) not in FIELDS:
                without[kind] += sum(1 for _ in read_resources(path))
        why = "no rule releases this type"
        return [carrier.Uncovered(kind, rows, why) for kind, rows in sorted(without.items())]

    def extract(self) -> carrier.Extract:
        starts = (_start(one) for _, one in self._resources("Encounter"))
        days = (
            day
            for kind in self._kinds()
            for _, one in self._resources(kind)
            for day in find_days(FIELDS[kind], one)
        )
        return carrier.extract_between(filter(None, starts), days)

    def events(self, *, written: bool) -> Iterator[carrier.Event]:
        self._index()  # a written patient's id is the pseudonym
        for kind in self._kinds():
            for place, one in self._resources(kind):
                who = str(one["id"]) if kind == "Patient" else self._person_of(one, place)
                days = tuple(find_days(FIELDS[kind], one))
                for found in events_of(kind, one):
                    yield carrier.Event(who, *found, days)

    def _released(
        self,
        kind: str,
        one: fields.Resource,
        place: str,
        writing: FhirWriting,
        tally: carrier.Tally,
    ) -> dict[str, Any]:
        if kind == "Patient":
            return writing.patient(self._people[str(one["id"])], one, tally)
        return writing.resource(kind, one, self._person_of(one, place), tally)

    def _index(self) -> None:
        """Read who is in the export, and whose each encounter is; check every reference."""
        if self._people:
            return
        for place, one in self._resources("Patient"):
            person = _person(one, place)
            if person.subject in self._people:
                raise SourceError("its id was there before", where=place)
            self._people[person.subject] = person
        if not self._people:
            raise RequestError("the export has no Patient", where=self.folder.name)
        for place, one in self._resources("Encounter"):
            if fields.read_id(one, place) in self._encounters:
                raise SourceError("its id was there before", where=place)
            self._encounters[one["id"]] = self._person_of(one, place)
        for kind in self._kinds():
            if kind not in FIRST:
                for place, one in self._resources(kind):
                    self._check_encounter(one, self._person_of(one, place), place)

    def _check_encounter(self, one: fields.Resource, person: str, place: str) -> None:
        within = fields.take_list(fields.take_object(one.get("context")).get("encounter"))
        for reference in (one.get("encounter"), *within):
            whose = self.encounter_of(reference)
            if isinstance(reference, dict) and reference.get("reference") and whose is None:
                raise RequestError(
                    "refers to an encounter that the export does not have",
                    where=place,
                    instead="export the encounters as well, or take the reference out",
                )
            if whose is not None and whose[1] != person:
                raise RequestError("refers to another person's encounter", where=place)

    def encounter_of(self, reference: object) -> tuple[str, str] | None:
        """Return an encounter's id and whose it is; None for anything else."""
        found = fields.find_target(reference, "Encounter") or ""
        return (found, self._encounters[found]) if found in self._encounters else None

    def _person_of(self, one: fields.Resource, place: str) -> str:
        """Return whose a resource is.

        Raises RequestError: it names no patient, or one that the export does not have.
        """
        found = fields.find_target(one.get("subject", one.get("patient")), "Patient")
        if found is None:
            kind = "note" if one["resourceType"] == "DocumentReference" else one["resourceType"]
            raise RequestError(
                f"a {kind} without a subject",
                where=place,
                instead="name its patient as subject, or take the resource out",
            )
        if found not in self._people:
            raise RequestError(
                "refers to a patient that the export does not have",
                where=place,
                instead="export the patient as well, or take the resource out",
            )
        return found

    def _notes(self) -> Iterator[tuple[str, str]]:
        for place, one in self._resources("DocumentReference"):
            person = self._person_of(one, place)
            yield from ((person, text) for text in read_notes(one))

    def _kinds(self) -> list[str]:
        """Return the types that are released, those that others refer to first."""
        return [kind for kind in FIELDS if kind not in self.drop and self._files(kind)]

    def _resources(self, kind: str) -> Iterator[tuple[str, fields.Resource]]:
        if kind in self.drop:
            return
        for path in self._files(kind):
            for place, one in read_resources(path):
                if one.get("resourceType") != kind:
                    raise SourceError(f"is not of type {kind}", where=place)
                yield place, one

    def _files(self, kind: str) -> list[Path]:
        self._check_files()
        return [path for path in self._every() if _kind_of(path) == kind]

    def _every(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{SUFFIX}"))

    def _check_files(self) -> None:
        for path in self._every():
            kind = _kind_of(path)
            if kind not in FIELDS and kind not in self.drop:
                raise RequestError(
                    f"there is no rule for resources of type {kind}",
                    where=path.name,
                    instead=f'leave them out of the release: drop = ["{kind}"] in [export]',
                )


def _kind_of(path: Path) -> str:
    """Return the type that a file's name begins with: `Patient.ndjson`, `Patient.0001.ndjson`."""
    return re.split(r"[.\-_]", path.name)[0]


def _person(one: fields.Resource, place: str) -> carrier.Person:
    gender, birth = one.get("gender"), one.get("birthDate")
    return carrier.Person(
        fields.read_id(one, place),
        None if birth is None else _birth(birth, place),
        SEX_WORDS.get(gender) if isinstance(gender, str) else None,
        _race(one.get("extension")),
        _zip(one.get("address")),
    )


def _birth(text: object, place: str) -> date:
    with suppress(ValueError):
        if parts := fields.read_parts(text):
            return carrier.birth_of(*parts)
    raise SourceError("has a birthDate that is not a date", where=place)


def _start(one: fields.Resource) -> date | None:
    return fields.read_period(one.get("period")).get("start")


def _race(extensions: object) -> str | None:
    """Read US Core's race and ethnicity into one word, as a census table has them."""
    codes: dict[str, set[str]] = {"race": set(), "ethnicity": set()}
    for one in fields.list_objects(extensions):
        name = str(one.get("url")).removeprefix(US_CORE)
        for inner in fields.list_objects(one.get("extension")) if name in codes else ():
            if inner.get("url") == "ombCategory":
                codes[name].add(str(fields.take_object(inner.get("valueCoding")).get("code")))
    if HISPANIC.fhir in codes["ethnicity"]:
        return HISPANIC.word
    races = {RACE_WORDS[one] for one in codes["race"] if one in RACE_WORDS}
    return next(iter(races)) if len(races) == 1 else "Two or more" if races else None


def _zip(addresses: object) -> str | None:
    codes = (carrier.zip_of(one.get("postalCode")) for one in fields.list_objects(addresses))
    return next(filter(None, codes), None)


def _check_resolves(folder: Path) -> None:
    """Hold every reference of the written files to the resources that they have."""
    every = sorted(folder.glob(f"*{SUFFIX}"))
    there = {
        f"{one['resourceType']}/{one['id']}"
        for path in every
        if _kind_of(path) in FIRST
        for _, one in read_resources(path)
    }
    for path in every:
        for place, one in read_resources(path):
            if not there.issuperset(fields.find_references(one)):
                raise SourceError("a written reference leads nowhere", where=place)
