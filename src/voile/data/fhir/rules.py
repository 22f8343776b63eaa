"""The release rules: a file for each resource type lists its released elements by operation.

Source: HL7 FHIR R4 (4.0.1). Elements without an operation are removed. No rule releases original
ids, `text`, `meta`, `contained`, extensions, `display`, texts or identifiers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from voile.core.errors import RequestError, nearest
from voile.core.mistakes import mistakes
from voile.data.fhir.definitions import COMMON, TypeElement, list_types, read_elements
from voile.data.fhir.fields import Resource, list_objects, read_day, read_period, read_reference
from voile.data.fhir.values import can_generalise, can_keep
from voile.data.files.own_files import read_toml

KEEP, GENERALISE, SHIFT = "keep", "generalise", "shift"
PSEUDONYMISE, NOTES = "pseudonymise", "notes"
DATES = ("date", "dateTime", "instant", "Period", "Timing")


class RuleFile(BaseModel):
    """The content of a rule file.

    person : the references to the patient. Resources of a type without one belong to no person.
    required : elements that a released resource must have, in addition to those of R4.
    notes : attachments that are released with the texts of the study.
    withheld_codes : codes of resources and of their parts that are not released.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    person: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    generalise: tuple[str, ...] = ()
    shift: tuple[str, ...] = ()
    pseudonymise: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    withheld_codes: tuple[str, ...] = ()


class ElementRule(NamedTuple):
    """The operation on an element. For a part, `inner` contains the rules of its elements."""

    element: TypeElement
    operation: str | None
    inner: RuleTree


RuleTree: TypeAlias = dict[str, ElementRule]


@dataclass(frozen=True)
class TypeRule:
    """The release rule of a resource type."""

    kind: str
    person: tuple[tuple[str, ...], ...]
    elements: Mapping[str, ElementRule]
    required: frozenset[str]
    notes: tuple[str, ...]
    withheld_codes: frozenset[str]

    @property
    def is_person_required(self) -> bool:
        """Whether R4 requires a reference to the patient, or notes need one."""
        found = (read_elements()[self.kind].get(path[0]) for path in self.person)
        return bool(self.notes) or any(one.is_required for one in found if one and not one.is_list)

    @property
    def is_shared(self) -> bool:
        """Whether resources of the type belong to no person."""
        return not self.person and self.kind != "Patient"

    @cached_property
    def operations(self) -> frozenset[str]:
        return frozenset(_list_operations(self.elements))

    def removes(self, name: str) -> bool:
        """Return whether the rule removes `name`, an element of R4. Other names may be data."""
        return name not in self.elements and name in (*read_elements()[self.kind], *COMMON[1:])

    def list_persons(self, resource: Resource) -> list[str]:
        """Return the references to the patient."""
        found = (each for path in self.person for each in find_values(resource, path))
        return [one for one in map(read_reference, found) if one is not None]

    def list_notes(self, resource: Resource) -> list[Any]:
        """Return the attachments that are notes, in their order."""
        paths = (path.split(".") for path in self.notes)
        return [one for path in paths for one in find_values(resource, path)]

    def find_days(self, resource: Resource) -> Iterator[date]:
        """Yield the days of the released elements of a resource."""
        return _find_days(self.elements, resource)


def find_values(found: Any, path: tuple[str, ...] | list[str]) -> list[Any]:
    """Return the values at a path. The items of lists are returned one by one.

    >>> find_values({"a": [{"b": 1}, {"b": [2, 3]}, 4]}, ("a", "b"))
    [1, 2, 3]
    """
    if not path:
        return found if isinstance(found, list) else [found]
    inner = [one[path[0]] for one in list_objects(found) if path[0] in one]
    return [each for one in inner for each in find_values(one, path[1:])]


@cache
def read_rules() -> Mapping[str, TypeRule]:
    """Return the built-in rules by type."""
    folder = files("voile.data.fhir").joinpath("types")
    found = sorted(one.name for one in folder.iterdir() if one.name.endswith(".toml"))
    texts = {name: folder.joinpath(name).read_text("utf-8") for name in found}
    return {
        name.removesuffix(".toml"): parse_rule(
            name.removesuffix(".toml"), tomllib.loads(text), name
        )
        for name, text in texts.items()
    }


def read_rules_with(folder: Path | None) -> Mapping[str, TypeRule]:
    """Return the built-in rules, replaced or extended by the rules of a folder.

    Raises
    ------
    RequestError : the folder does not exist, or one of its files is not a rule.
    """
    if folder is None:
        return read_rules()
    if not folder.is_dir():
        raise RequestError(
            "the folder of FHIR rules does not exist",
            where=str(folder),
            instead='correct the path in rules = "..." under [export]',
        )
    paths = sorted(folder.glob("*.toml"))
    own = {path.stem: parse_rule(path.stem, read_toml(path), path.name) for path in paths}
    return {**read_rules(), **own}


def parse_rule(kind: str, data: Any, place: str) -> TypeRule:
    """Return a rule after checking it against R4.

    Raises
    ------
    RequestError : R4 has no such type or element, or an operation does not fit the type of an
        element.
    """
    if kind not in list_types():
        raise RequestError(
            f"R4 has no resource type {kind}", where=place, instead=nearest(kind, list_types())
        )
    if isinstance(data.get("person"), str):
        data = {**data, "person": [data["person"]]}
    try:
        rule = RuleFile.model_validate(data)
    except ValidationError as error:
        raise RequestError(mistakes(error), where=place) from None
    tree: RuleTree = {}
    for operation in (KEEP, GENERALISE, SHIFT, PSEUDONYMISE, NOTES):
        for path in getattr(rule, operation):
            for way in _find_ways(kind, path, operation, place):
                _add(tree, way, operation, place)
    for path in (*rule.person, *rule.required):
        _find_ways(kind, path, None, place)
    if not rule.person and kind != "Patient" and {SHIFT, NOTES} & {*_list_operations(tree)}:
        raise RequestError(
            "the operations shift and notes need the patient's element",
            where=place,
            instead='name the element, for instance person = "subject"',
        )
    persons = tuple(tuple(path.split(".")) for path in rule.person)
    withheld = frozenset(rule.withheld_codes)
    return TypeRule(kind, persons, tree, frozenset(rule.required), rule.notes, withheld)


def _find_ways(kind: str, path: str, operation: str | None, place: str) -> list[list[TypeElement]]:
    """Return the elements along a path.

    For `value[x]`, one path for each type that the operation fits.
    """
    parent, way = kind, list[TypeElement]()
    *outer, last = path.split(".")
    for name in outer:
        way.append(_find_element(parent, name, kind, path, place))
        parent = way[-1].parent
    among = read_elements().get(parent, {})
    if last.endswith("[x]"):
        ends = [one for one in among.values() if one.choice == last.removesuffix("[x]")]
        if ends and (ends := [one for one in ends if _can(operation, one)]):
            return [[*way, one] for one in ends]
    end = _find_element(parent, last, kind, path, place)
    if not _can(operation, end):
        raise RequestError(
            f"the operation {operation} does not apply to {kind}.{path}, which has the "
            f"type {end.type}",
            where=place,
            instead=_FITS[str(operation)],
        )
    return [[*way, end]]


def _find_element(parent: str, name: str, kind: str, path: str, place: str) -> TypeElement:
    among = read_elements().get(parent, {})
    if name not in among:
        raise RequestError(
            f"R4 has no element {kind}.{path}",
            where=place,
            instead=nearest(name, among) if among else "take it out",
        )
    return among[name]


_FITS = {
    KEEP: "keep codes, concepts, quantities, numbers and booleans, or take it out",
    GENERALISE: "generalise dates, concepts, codings and quantities, or take it out",
    SHIFT: "shift dates, periods and timings, or take it out",
    PSEUDONYMISE: "pseudonymise references, or take it out",
    NOTES: "notes are attachments",
}


def _can(operation: str | None, element: TypeElement) -> bool:
    if operation is None:
        return True
    if operation == KEEP:
        return can_keep(element)
    if operation == GENERALISE:
        return can_generalise(element) or element.type in ("date", "dateTime", "Period")
    if operation == SHIFT:
        return element.type in DATES
    return element.type == ("Reference" if operation == PSEUDONYMISE else "Attachment")


def _add(tree: RuleTree, way: list[TypeElement], operation: str, place: str) -> None:
    for element in way[:-1]:
        found = tree.setdefault(element.name, ElementRule(element, None, {}))
        if found.operation is not None:
            raise RequestError(
                f"the element {element.name} has two operations",
                where=place,
                instead="keep one of them",
            )
        tree = found.inner
    if way[-1].name in tree:
        raise RequestError(
            f"the element {way[-1].name} has two operations",
            where=place,
            instead="list the element once",
        )
    tree[way[-1].name] = ElementRule(way[-1], operation, {})


def _list_operations(tree: Mapping[str, ElementRule]) -> Iterator[str]:
    for rule in tree.values():
        if rule.operation is not None:
            yield rule.operation
        yield from _list_operations(rule.inner)


def _find_days(tree: Mapping[str, ElementRule], resource: Resource) -> Iterator[date]:
    for name, rule in tree.items():
        raw = resource.get(name)
        for each in raw if isinstance(raw, list) else [raw]:
            if isinstance(each, dict) and rule.inner:
                yield from _find_days(rule.inner, each)
            elif rule.operation in (SHIFT, GENERALISE):
                yield from _days_of(rule.element, each)


def _days_of(element: TypeElement, raw: Any) -> Iterator[date]:
    if element.type == "Timing":
        yield from filter(None, map(read_day, find_values(raw, ("event",))))
        for period in find_values(raw, ("repeat", "boundsPeriod")):
            yield from read_period(period).values()
    elif element.type == "Period":
        yield from read_period(raw).values()
    elif element.type in DATES and (day := read_day(raw)):
        yield day
