"""Determine which three-digit ZIP areas are small, and whether an order keeps each together."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.domains.domain import ValueDomain

SMALL_AREA = 20_000
SMALL = "000"
ROUNDING = 1e-6
Vintage = Literal["population", "2000", "2010"]

# Three-digit areas of 20,000 people or fewer: Census 2000 as in HHS's guidance of 2012, and the
# same rule over Census 2010.
SMALL_AREAS: dict[str, frozenset[str]] = {
    "2000": frozenset(
        (
            "036", "059", "063", "102", "203", "556", "692", "790", "821",
            "823", "830", "831", "878", "879", "884", "890", "893",
        )
    ),
    "2010": frozenset(
        (
            "036", "059", "102", "202", "203", "204", "205", "369", "556",
            "692", "753", "772", "821", "823", "878", "879", "884", "893",
        )
    ),
}  # fmt: skip
ZIP = re.compile(r"\d{5}(-\d{4})?\Z")


@dataclass(frozen=True)
class ZipAreas:
    """The three-digit ZIP areas of a domain.

    Area a has the name `names[a]` and `people[a]` people. `small[a]` is whether it is small.
    """

    names: tuple[str, ...]
    people: NDArray[np.float64]
    small: NDArray[np.bool_]


def is_zip(domain: ValueDomain) -> bool:
    """Return whether every value is a five-digit ZIP code stored as text."""
    known = [v for v in domain.values if v is not None]
    return all(isinstance(v, str) and ZIP.match(v) for v in known)


def count_areas(
    domain: ValueDomain, people: NDArray[np.float64], vintage: Vintage = "population"
) -> ZipAreas:
    """Count the people of each three-digit area, and determine which areas are small.

    An area of exactly 20,000 people is small, and an area of 20,001 is not.
    """
    names = [_area(value) for value in domain.values]
    distinct = tuple(dict.fromkeys(name for name in names if name))
    totals = np.array(
        [people[[n == name for n in names]].sum() for name in distinct], dtype=np.float64
    )
    if vintage == "population":
        small = totals <= SMALL_AREA + ROUNDING
    else:
        small = np.array([name in SMALL_AREAS[vintage] for name in distinct])
    return ZipAreas(distinct, totals, small)


def locate_areas(domain: ValueDomain, areas: ZipAreas) -> list[NDArray[np.intp]]:
    """Return the positions of each three-digit area's ZIP codes, in order, small areas last.

    Any order that keeps these blocks together keeps Safe Harbor on the lattice, whatever the order
    within blocks. The small areas are neighbours and together form the area 000.
    """
    check_text(domain)
    own = np.array([_area(value) for value in domain.values if value is not None])
    small = _small(areas)
    names = sorted(set(own.tolist()), key=lambda name: (name in small, name))
    return [np.flatnonzero(own == name) for name in names]


def explain_off_lattice(domain: ValueDomain, areas: ZipAreas) -> str | None:
    """Explain why Safe Harbor is not a policy of a domain's order, or return None if it is.

    A policy merges only neighbours. Safe Harbor is therefore a policy on two conditions. The ZIP
    codes of each three-digit area are neighbours, and so are those of all small areas together.

    >>> from voile.tables.domains.parser import CellParser
    >>> zips = ValueDomain("zip", ("37010", "03601", "37011"), CellParser("listed"))
    >>> explain_off_lattice(zips, count_areas(zips, np.array([30_000, 5, 30_000])))
    'this order of ZIP codes tears 1 of 2 three-digit areas apart'
    """
    groups = group_values(domain, areas)
    runs = Counter(group for group, _ in groupby(groups))
    torn = {group for group, times in runs.items() if times > 1}
    known = [str(value) for value in domain.values if value is not None]
    order = "numeric order" if known == sorted(known) else "this order"
    said = []
    if torn - {SMALL}:
        whole = len(set(groups) - {SMALL, None}) + int(areas.small.sum())
        said.append(f"tears {len(torn - {SMALL})} of {whole} three-digit areas apart")
    if SMALL in torn:
        small = int(areas.small.sum())
        said.append(f"does not put the {small} small three-digit areas side by side")
    return f"{order} of ZIP codes {' and '.join(said)}" if said else None


def _area(value: object) -> str:
    return str(value)[:3] if value is not None else ""


def _small(areas: ZipAreas) -> set[str]:
    return {name for name, is_small in zip(areas.names, areas.small, strict=True) if is_small}


def group_values(domain: ValueDomain, areas: ZipAreas) -> list[str | None]:
    """Return the group of each value under Safe Harbor. Null is a separate group."""
    small = _small(areas)
    names = [None if value is None else _area(value) for value in domain.values]
    return [SMALL if name in small else name for name in names]


def check_text(domain: ValueDomain) -> None:
    """Raise an error if ZIP codes are numbers, since their leading zeros are lost."""
    if not all(value is None or isinstance(value, str) for value in domain.values):
        raise RequestError(
            "three-digit areas are asked for, and the values are not text",
            where=f"column {domain.column}",
            instead="write ZIP codes as text of five digits, leading zeros included",
        )
