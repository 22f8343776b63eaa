"""FHIR R4 exports: a folder of bulk files or Bundles, opened and written back as bulk files.

`Patient` identifies people. Each rule contains the reference to the patient. Ages are counted on
one day for all. Memory: the people, and the id of each resource. Resources are read one at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path

from voile.core.errors import RequestError, SourceError
from voile.data.fhir import fields
from voile.data.fhir.definitions import read_elements
from voile.data.fhir.exports import (
    FoundResource,
    count_empty_entries,
    count_other_files,
    read_export,
)
from voile.data.fhir.rules import TypeRule, read_rules_with
from voile.data.person_codes import HISPANIC, RACES, SEXES, US_CORE, fhir_codes
from voile.study.carriers import carrier
from voile.study.carriers.fhir_index import PATIENT, ExportIndex
from voile.study.carriers.fhir_known import STAFF, events_of, known_of, name_of, staff_of
from voile.study.carriers.fhir_packing import FhirPacking
from voile.study.carriers.fhir_writing import FROM_ROW, FhirWriting, Marks, read_notes
from voile.study.carriers.row_limits import RowLimits

NO_RULE = "no rule releases this type"
NO_RESOURCE = "the entry has no resource"
CONTAINED = "contained"
NOT_CONTAINED = "no contained resource is released"
SEX_WORDS = {code: word for word, code in fhir_codes(SEXES).items()}
RACE_WORDS = {code: word for word, code in fhir_codes(RACES).items()}


@dataclass
class FhirCarrier:
    """A folder with a bulk export or Bundles.

    as_of : the day on which ages are counted. drop : types that are not released.
    rules : a folder of rules in addition to voile's. marks : the marks of operations on resources.
    most_rows : by type, the maximum number of released resources of a person.
    drops_stays : whether only the first day of each resource is released.
    """

    folder: Path
    as_of: date
    drop: frozenset[str] = frozenset()
    rules: Path | None = None
    marks: Marks = "resources"
    most_rows: Mapping[str, int] = field(default_factory=dict)
    drops_stays: bool = False
    _index: ExportIndex | None = field(default=None, repr=False)

    @cached_property
    def released_rules(self) -> Mapping[str, TypeRule]:
        """The rules of the released types."""
        every = read_rules_with(self.rules)
        return {kind: rule for kind, rule in every.items() if kind not in self.drop}

    def unpack(self, folder: Path) -> None:
        """Write the tables of people and notes.

        Raises
        ------
        RequestError : a type has no rule, or a resource has no patient or an unknown one.
        SourceError : a line is not a resource.
        """
        self.index.check()
        carrier.write_people(self.index.people, self.as_of, folder)
        carrier.write_notes(self._notes(), folder)

    def pack(
        self, released: carrier.ReleasedStudy, folder: Path, scratch: Path
    ) -> carrier.PackedExport:
        """Write the released resources with new ids, in shuffled lines, one file per type."""
        writing = FhirWriting(released, self.index, self.marks, self.drops_stays)
        limits = RowLimits(lambda kind, _: self.most_rows.get(kind), released.secret)
        packing = FhirPacking(writing, scratch, limits)
        for one in read_export(self.folder) if self.most_rows else ():
            if one.kind in self.most_rows:
                packing.consider(one)
        for one in read_export(self.folder):
            packing.add(one)
        rows = packing.write(folder)
        _check_resolves(folder)
        others = count_other_files(self.folder)
        unread = {
            name: carrier.FileTally(n, set_aside=Counter({carrier.NO_RESOURCES: n}))
            for name, n in others.items()
            if n
        }
        return carrier.PackedExport(rows, {**packing.tallies, **unread})

    def last_day(self) -> date | None:
        days = (_start(one.resource) for one in self._resources("Encounter"))
        return max((day for day in days if day), default=None)

    def names(self) -> Iterator[tuple[str, carrier.Names]]:
        for one in self._resources(PATIENT):
            subject = fields.read_id(one.resource, one.place)
            yield subject, name_of(one.resource.get("name"))

    def list_known(self) -> Iterator[tuple[str, carrier.Known]]:
        for one in self._resources(PATIENT):
            subject = fields.read_id(one.resource, one.place)
            yield from ((subject, row) for row in known_of(one.resource))

    def staff(self) -> Iterator[carrier.Known]:
        for one in read_export(self.folder):
            if one.kind in STAFF:
                yield from staff_of(one.resource)

    def without_rule(self) -> list[str]:
        ruled = read_rules_with(self.rules)
        return sorted({one.kind for one in read_export(self.folder)} - ruled.keys())

    def count_covered(self) -> dict[str, int]:
        rows = Counter(one.kind for one in read_export(self.folder))
        return {kind: rows[kind] for kind in sorted(rows.keys() & self.released_rules.keys())}

    def list_uncovered(self) -> list[carrier.UncoveredContent]:
        """Return the content that is not released: files, entries, types and elements."""
        others = count_other_files(self.folder).items()
        files = [
            carrier.UncoveredContent(name, rows, carrier.NO_RESOURCES, is_standard=False)
            for name, rows in others
        ]
        files += [
            carrier.UncoveredContent(f"Bundle.entry: {method}", rows, NO_RESOURCE)
            for method, rows in sorted(count_empty_entries(self.folder).items())
        ]
        ruled = read_rules_with(self.rules)
        types, elements, contained = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
        for one in read_export(self.folder):
            if (rule := self.released_rules.get(one.kind)) is None:
                types[one.kind] += 1
            else:
                contained.update((one.kind, kind) for kind in _list_contained(one.resource))
                removed = (x for x in one.resource if rule.removes(x) and x != CONTAINED)
                elements.update({f"{one.kind}.{name}" for name in removed} - FROM_ROW)
        dropped = [
            carrier.UncoveredContent(
                kind,
                rows,
                "the plan drops it" if kind in ruled else NO_RULE,
                kind in read_elements(),
            )
            for kind, rows in sorted(types.items())
        ]
        why = "its rule removes it"
        left = [
            carrier.UncoveredContent(name, rows, why) for name, rows in sorted(elements.items())
        ]
        inner = [
            carrier.UncoveredContent(
                f"{kind}.{CONTAINED}: {own}", rows, NOT_CONTAINED, own in read_elements()
            )
            for (kind, own), rows in sorted(contained.items())
        ]
        return [*files, *dropped, *inner, *left]

    def extract(self) -> carrier.Extract:
        starts = (_start(one.resource) for one in self._resources("Encounter"))
        rules = self.released_rules
        every = (one for one in read_export(self.folder) if one.kind in rules)
        days = (day for one in every for day in rules[one.kind].find_days(one.resource))
        return carrier.extract_between(filter(None, starts), days)

    def events(self, *, written: bool) -> Iterator[carrier.PersonEvent]:
        ranks = Counter[tuple[str, str]]()
        for one in read_export(self.folder):  # the id of a written patient is the pseudonym
            rule = self.released_rules.get(one.kind)
            who = None if rule is None else self._person_of(one)
            if rule is not None and who is not None:
                days = tuple(rule.find_days(one.resource))
                ranks[one.kind, who] += 1
                for found in events_of(one.kind, one.resource):
                    yield carrier.PersonEvent(who, *found, days, one.kind, ranks[one.kind, who])

    @property
    def index(self) -> ExportIndex:
        """The people in the export and the person of each resource, with all references checked."""
        if self._index is None:
            index = ExportIndex(self.released_rules)
            index.index_resources(
                self._check_resources(), lambda one: _person(one.resource, one.place)
            )
            self._index = index
        return self._index

    def _check_resources(self) -> Iterator[FoundResource]:
        for one in read_export(self.folder):
            if one.kind not in self.released_rules and one.kind not in self.drop:
                raise RequestError(
                    f"there is no rule for resources of type {one.kind}",
                    where=one.place,
                    instead=f'leave them out of the release: drop = ["{one.kind}"] in [export]',
                )
            yield one

    def _person_of(self, one: FoundResource) -> str | None:
        return self.index.person_of(one)

    def _notes(self) -> Iterator[tuple[str, str]]:
        for one in read_export(self.folder):
            rule = self.released_rules.get(one.kind)
            if rule is not None and rule.notes and (person := self._person_of(one)) is not None:
                yield from ((person, text) for text in read_notes(rule, one.resource))

    def _resources(self, kind: str) -> Iterator[FoundResource]:
        return (one for one in read_export(self.folder) if one.kind == kind)


def _person(one: fields.Resource, place: str) -> carrier.ExportPerson:
    gender, birth = one.get("gender"), one.get("birthDate")
    return carrier.ExportPerson(
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


def _list_contained(one: fields.Resource) -> Iterator[str]:
    """Yield the type of each contained resource."""
    for inner in fields.list_objects(one.get(CONTAINED)):
        kind = inner.get("resourceType")
        yield kind if isinstance(kind, str) else "no type"


def _start(one: fields.Resource) -> date | None:
    return fields.read_period(one.get("period")).get("start")


def _race(extensions: object) -> str | None:
    """Combine US Core's race and ethnicity into one word, as in a census table."""
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
    """Check that every reference of the written files refers to one of their resources."""
    there = {f"{one.kind}/{one.resource['id']}" for one in read_export(folder)}
    for one in read_export(folder):
        if not there.issuperset(fields.find_references(one.resource)):
            raise SourceError("a written reference leads nowhere", where=one.place)
