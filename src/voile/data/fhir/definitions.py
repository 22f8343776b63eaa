"""The elements of FHIR R4, with the names, types, cardinalities and required codes of each type.

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
"""Elements that many types have, which the list omits."""
_BACKBONES = ("BackboneElement", "Element")
_ELEMENT = re.compile(r"(\w+):(#?[\w.]+)(!?)(\*?)(?:\?(\w+))?(?:=(\S+))?")


@dataclass(frozen=True)
class TypeElement:
    """An element of a type.

    parent : the entry that lists its own elements. It is the element's type, except for an inline
        part.
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
        """Whether the element is an inline part of one type, and not a data type."""
        return self.type in _BACKBONES


@cache
def read_elements() -> Mapping[str, Mapping[str, TypeElement]]:
    """Return the elements of each type and part, by names such as `"Procedure.performer"`."""
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
    """Return the codes of each required value set by name, and of each system by URL."""
    rows = (line.split(" ") for line in read_lines("codes.txt"))
    return {name: frozenset(codes) for name, *codes in rows}


def list_types() -> frozenset[str]:
    """Return the resource types of R4, which follow the data types in the list."""
    names = [name for name in read_elements() if "." not in name]
    return frozenset(names[names.index("Account") :])


def read_lines(name: str) -> Iterator[str]:
    """Yield the lines of a list of this package, without comments."""
    text = files("voile.data.fhir").joinpath("r4", name).read_text("utf-8")
    return (line for line in text.splitlines() if not line.startswith("#"))
