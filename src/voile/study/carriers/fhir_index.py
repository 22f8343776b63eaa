"""Find the person of each resource of a FHIR export, and the targets of references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from voile.core.errors import RequestError, SourceError
from voile.data.fhir import fields
from voile.data.fhir.exports import FoundResource
from voile.data.fhir.rules import TypeRule
from voile.study.carriers.carrier import ExportPerson

PATIENT = "Patient"
_TARGET = re.compile(r"(?:https?://[^\s?#]*/)?([A-Za-z]+/[A-Za-z0-9.-]{1,64})(?:/_history/[^/]+)?")


class NamedPatients(NamedTuple):
    """The references of a resource to its patient."""

    key: str | None
    references: list[str]
    is_required: bool
    place: str

    @classmethod
    def of(cls, one: FoundResource, rule: TypeRule, key: str | None) -> Self:
        """Read the references of a resource to its patient.

        Raises
        ------
        RequestError : there is no reference, although R4 or a note requires one.
        """
        references = rule.list_persons(one.resource)
        if not references and rule.is_person_required:
            name = rule.person[0][0]
            raise RequestError(
                f"a {'note' if rule.notes else one.kind} without a {name}",
                where=one.place,
                instead=f"name its patient as {name}, or take the resource out",
            )
        return cls(key, references, rule.is_person_required, one.place)


@dataclass
class ExportIndex:
    """The people of an export, and the person of each resource by `type/id`.

    Memory: the people, and the id of each resource of a released type.
    """

    rules: Mapping[str, TypeRule]
    people: dict[str, ExportPerson] = field(default_factory=dict, repr=False)
    rows: Counter[str] = field(default_factory=Counter)
    twice: set[str] = field(default_factory=set, repr=False)
    """Keys of resources in several lines or entries."""
    _owners: dict[str, str | None] = field(default_factory=dict, repr=False)
    _urls: dict[str, str] = field(default_factory=dict, repr=False)
    _indirect: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def index_resources(
        self, every: Iterable[FoundResource], make: Callable[[FoundResource], ExportPerson]
    ) -> None:
        """Find the person of each resource of an export.

        Raises
        ------
        RequestError : a resource refers to no patient, or to one that the export lacks.
        SourceError : two patients, or two visits, have the same id.
        """
        later = []
        for one in every:
            self.rows[one.kind] += 1
            if (rule := self.rules.get(one.kind)) is None:
                continue
            self._add(one)
            if one.kind == PATIENT:
                person = make(one)
                self.people[person.subject] = person
            elif rule.person:
                named = NamedPatients.of(one, rule, self.key_of(one))
                if all(self._is_person(text) for text in named.references):
                    self._set_owner(named)
                else:
                    later.append(named)
        if self.people:
            for named in later:
                self._set_owner(named)
        for key in self._indirect:
            self._owners[key] = self._follow(key, set())

    def check(self) -> None:
        """Refuse an export without a patient, or without a type that refers to one."""
        if not self.people:
            raise RequestError("the export has no Patient", instead="export the patients as well")
        if not any(rule.person and self.rows[kind] for kind, rule in self.rules.items()):
            raise RequestError(
                "no type of the export refers to a patient",
                instead="export the patients' resources as well, such as Condition",
            )

    def _add(self, one: FoundResource) -> None:
        key = self.key_of(one)
        if key is None and one.kind == PATIENT:
            fields.read_id(one.resource, one.place)
        if key is None:
            return
        if key in self._owners and one.kind in (PATIENT, "Encounter"):
            raise SourceError(f"another {one.kind} has its id", where=one.place)
        if key in self._owners:
            self.twice.add(key)
        self._owners[key] = one.resource["id"] if one.kind == PATIENT else None
        if one.full_url is not None:
            self._urls[one.full_url] = key

    def _is_person(self, reference: str) -> bool:
        return (self.find_key(reference) or "").startswith(f"{PATIENT}/")

    def _set_owner(self, named: NamedPatients) -> None:
        targets = self._find_targets(named)
        if named.key is None or self._owners[named.key] is not None:
            return
        self._owners[named.key] = self._only_person(targets)
        if not any(target.startswith(f"{PATIENT}/") for target in targets):
            self._indirect[named.key] = tuple(targets)

    def _only_person(self, targets: Iterable[str]) -> str | None:
        people = {self._owners[one] for one in targets if one.startswith(f"{PATIENT}/")}
        return people.pop() if len(people) == 1 else None

    def _find_targets(self, named: NamedPatients) -> list[str]:
        """Return the resources that a resource refers to as its patient.

        Raises
        ------
        RequestError : it refers to a patient that the export does not contain.
        """
        found = [(text, self.find_key(text)) for text in named.references]
        for text, target in found:
            is_patient = fields.find_target({"reference": text}, PATIENT) is not None
            if target is None and is_patient and (named.is_required or "urn:" not in text):
                raise RequestError(
                    "refers to a patient that the export does not have",
                    where=named.place,
                    instead="export the patient as well, or take the resource out",
                )
        return [target for _, target in found if target is not None]

    def _follow(self, key: str, passed: set[str]) -> str | None:
        """Return the single person of all resources that a resource is about, or None."""
        if key not in self._indirect:
            return self._owners.get(key)
        if key in passed:
            return None
        inner = {self._follow(one, passed | {key}) for one in self._indirect[key]} - {None}
        return inner.pop() if len(inner) == 1 else None

    def key_of(self, one: FoundResource) -> str | None:
        """Return `type/id`, or None for a resource without a valid id."""
        id = one.resource.get("id")
        is_valid = isinstance(id, str) and re.fullmatch(r"[A-Za-z0-9.-]{1,64}", id)
        return f"{one.kind}/{id}" if is_valid else None

    def person_of(self, one: FoundResource) -> str | None:
        """Return the person of a resource, or None if it refers to no patient or to several."""
        if (key := self.key_of(one)) is not None:
            return self._owners.get(key)
        return self._only_person(
            self._find_targets(NamedPatients.of(one, self.rules[one.kind], None))
        )

    def owner_of(self, key: str) -> str | None:
        """Return the person of a resource, or None if it belongs to no person or to several."""
        return self._owners.get(key)

    def find_key(self, reference: str) -> str | None:
        """Return the key of the released resource that a reference refers to, or None."""
        if (key := self._urls.get(reference)) is not None:
            return key
        if reference.startswith("urn:uuid:"):
            id = reference.removeprefix("urn:uuid:")
            keys = (f"{kind}/{id}" for kind in self.rules)
            return next((key for key in keys if key in self._owners), None)
        found = _TARGET.fullmatch(reference)
        return found[1] if found and found[1] in self._owners else None
