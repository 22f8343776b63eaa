"""The elements of FHIR R4: of each type their names, types, cardinalities and required codes.

Source: HL7 FHIR R4 (4.0.1), in `r4/elements.txt` and `r4/codes.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_PRIMITIVES = """
    base64Binary boolean canonical code date dateTime decimal id instant integer markdown oid
    positiveInt string time unsignedInt uri url uuid xhtml"""
PRIMITIVES = frozenset(_PRIMITIVES.split())
COMMON = (
    "id",
    "extension",
    "modifierExtension",
    "meta",
    "implicitRules",
    "language",
    "text",
    "contained",
)
"""Elements that many types have, which the list leaves out."""
_BACKBONES = ("BackboneElement", "Element")
_ELEMENT = re.compile(r"(\w+):(#?[\w.]+)(!?)(\*?)(?:\?(\w+))?(?:=(\S+))?")


@dataclass(frozen=True)
class TypeElement:
    """An element of a type.

    parent : the line of its own elements: its type, except for an inline part.
    choice : the common name of several elements, of which a resource has one.
    codes : the name of its required value set.
    """

    name: str
    type: str
    parent: str
    is_required: bool
    is_list: bool
    choice: str | None
    codes: str | None

    @property
    def is_primitive(self) -> bool:
        return self.type in PRIMITIVES

    @property
    def is_part(self) -> bool:
        """Whether it is a part of one type alone, and no data type."""
        return self.type in _BACKBONES


@cache
def read_elements() -> Mapping[str, Mapping[str, TypeElement]]:
    """Return the elements of each type and part by name: `"Procedure"`, `"Procedure.performer"`."""
    rows = (line.split(" ") for line in read_lines("elements.txt"))
    return {row[0]: {one.name: one for one in _parse_all(row[0], row[1:])} for row in rows}


def _parse_all(parent: str, words: list[str]) -> Iterator[TypeElement]:
    for word in filter(None, words):
        found = _ELEMENT.fullmatch(word)
        assert found is not None, word
        name, kind, required, several, choice, codes = found.groups()
        part = f"{parent}.{name}" if kind in _BACKBONES else kind.removeprefix("#")
        kind = "BackboneElement" if kind.startswith("#") else kind
        yield TypeElement(name, kind, part, bool(required), bool(several), choice, codes)


@cache
def read_codes() -> Mapping[str, frozenset[str]]:
    """Return the codes of each required value set by its name, and of each system by its URL."""
    rows = (line.split(" ") for line in read_lines("codes.txt"))
    return {name: frozenset(codes) for name, *codes in rows}


def list_types() -> frozenset[str]:
    """Return the resource types of R4: those after the data types, in the order of the list."""
    names = [name for name in read_elements() if "." not in name]
    return frozenset(names[names.index("Account") :])


def read_lines(name: str) -> Iterator[str]:
    """Yield the lines of a list of this package that are no comments."""
    text = files("voile.data.fhir").joinpath("r4", name).read_text("utf-8")
    return (line for line in text.splitlines() if not line.startswith("#"))
