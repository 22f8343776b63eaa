"""Build Safe Harbor's generalisation of the quasi-identifiers as a policy (45 CFR 164.514(b)(2)).

- ZIP codes become their first three digits. Three-digit areas of 20,000 people or fewer form one
  group.
- Ages over 89 form one group. 89 itself is not in it.
- Dates become years.
- A column is one group if its name means a place smaller than a state: towns, postal codes of other
  countries, coordinates.
- Other columns stay unchanged.

This is only a generalisation of these columns. The law requires more (identifiers, actual
knowledge).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError, nearest
from voile.core.warn import warn
from voile.data.column_words import mentions
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.zip_areas import (
    SMALL_AREA,
    SMALL_AREAS,
    Vintage,
    ZipAreas,
    check_text,
    count_areas,
    explain_off_lattice,
    group_values,
    is_zip,
)
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.policy import Policy

LAST_SINGLE_AGE = 89
ZIP_NAME = re.compile(r"zip|zcta|postcode|postal[ _-]?code|post[ _-]?code", re.IGNORECASE)
BIRTH = re.compile(r"birth|born|\bdob\b", re.IGNORECASE)


class SafeHarborWarning(UserWarning):
    """The population has only a part of a three-digit ZIP area. Treat the area as a small one."""


def safe_harbor(
    space: CountedSpace,
    *,
    zip_column: str | None = None,
    age_column: str | None = None,
    vintage: Vintage | None = None,
    on: dt.date | None = None,
) -> Policy:
    """Return Safe Harbor's generalisation of the space's columns.

    Parameters
    ----------
    zip_column, age_column : the columns of ZIP codes and ages. If not given, they are detected by
        values and names.
    vintage : the list of small areas: counted in the ``population`` table, or the lists of the
        ``2000`` or ``2010`` census. None counts them if there is a table, and otherwise uses the
        2010 list.
    on : the day at which ages are counted, for columns of birth dates. Years of birth of ages over
        89 are then grouped.

    Returns
    -------
    policy : a policy with ``notes`` on the change of each column, and on unknown facts.

    Raises
    ------
    RequestError : the order of ZIP codes does not allow the rule, or a given column is not a
        quasi-identifier.

    Warns
    -----
    SafeHarborWarning : a small area is not in the dated lists. The population table probably
        contains only a part of it.
    """
    zips = zip_column or _find(space.domains, _is_zip_of_states, named=ZIP_NAME)
    ages = age_column or _find(space.domains, is_age)
    for given in (zip_column, age_column):
        if given is not None and given not in space.quasi:
            raise RequestError(
                f"{given} is not a quasi-identifier", instead=nearest(given, space.quasi)
            )
    if vintage is None:
        vintage = "population" if space.population.counts_by(zips) else "2010"
    bits, notes = [], []
    for domain in space.domains:
        if domain.column == zips:
            areas = count_areas(domain, space.people_by_value(domain.column), vintage)
            cuts, said = _zip_cuts(domain, areas, vintage), _zip_notes(domain, areas, vintage)
        elif domain.column == ages:
            cuts, said = _age_cuts(domain), [f"{domain.column}: ages over 89 are one group"]
        elif domain.parser.kind == "date":
            cuts, said = _year_cuts(domain, on)
        elif is_place(domain):
            cuts, said = _one_group(domain)
        else:
            cuts, said = np.ones(len(domain) - 1, dtype=np.bool_), []
        bits.append(cuts)
        notes += said
    if zips is None:
        notes.append("no column of ZIP codes was found")
    if ages is None:
        notes.append("no column of ages was found")
    return Policy(space.domains, np.concatenate(bits), notes=tuple(notes))


def is_age(domain: ValueDomain) -> bool:
    """Return whether this is a column of whole years with "age" in its name."""
    return domain.parser.kind == "integer" and bool(
        re.search(r"(^|_)age(_|$)", domain.column, re.IGNORECASE)
    )


def is_place(domain: ValueDomain) -> bool:
    """Return whether a column's name refers to a place within a state.

    The rule allows no geographic subdivision smaller than a state, except three-digit areas.
    """
    return mentions(domain.column, "place", "address")


def _is_zip_of_states(domain: ValueDomain) -> bool:
    """Return whether values may be US ZIP codes, and the name does not mean another country's."""
    return is_zip(domain) and (bool(ZIP_NAME.search(domain.column)) or not is_place(domain))


def _find(
    domains: Sequence[ValueDomain],
    test: Callable[[ValueDomain], bool],
    named: re.Pattern[str] = re.compile(""),
) -> str | None:
    """Return the first column that passes the test. Columns with a matching name come first."""
    found = [domain.column for domain in domains if test(domain)]
    fitting = [column for column in found if named.search(column)]
    return next(iter(fitting + found), None)


def _zip_cuts(domain: ValueDomain, areas: ZipAreas, vintage: Vintage) -> NDArray[np.bool_]:
    check_text(domain)
    off = explain_off_lattice(domain, areas)
    if off is not None:
        raise RequestError(
            f"Safe Harbor is not on this lattice, since {off}",
            where=f"column {domain.column}",
            instead='take order = "zip3" or "zip3-population", or order within = "zip3"'
            if vintage == "population"
            else f"order them by a list that has the small areas of the {vintage} census last",
        )
    return np.array([a != b for a, b in pairwise(group_values(domain, areas))], dtype=np.bool_)


def _zip_notes(domain: ValueDomain, areas: ZipAreas, vintage: Vintage) -> list[str]:
    grouped = int(areas.small.sum())
    by_table = vintage == "population"
    known_by = "counted in the population table" if by_table else f"list of the {vintage} census"
    notes = [
        f"{domain.column}: first three digits; {grouped} areas of {SMALL_AREA:,} people or fewer "
        f"in one group ({known_by})"
    ]
    listed = SMALL_AREAS["2000"] | SMALL_AREAS["2010"]
    partial = [n for n, s in zip(areas.names, areas.small, strict=True) if s and n not in listed]
    if by_table and partial:
        note = (
            f"{domain.column}: the population table counts {SMALL_AREA:,} people or fewer in "
            f"{len(partial)} three-digit areas that no census lists as small "
            f"({', '.join(partial[:5])}{', ...' if len(partial) > 5 else ''}); "
            "they probably cross its edge"
        )
        warn(note, SafeHarborWarning)
        notes.append(note)
    return notes


def _one_group(domain: ValueDomain) -> tuple[NDArray[np.bool_], list[str]]:
    cuts = np.zeros(len(domain) - 1, dtype=np.bool_)
    if domain.nullable:
        cuts[-1] = True
    return cuts, [f"{domain.column}: one group, since it is of places within a state"]


def _age_cuts(domain: ValueDomain) -> NDArray[np.bool_]:
    if domain.parser.kind != "integer":
        raise RequestError("ages must be whole years", where=f"column {domain.column}")
    old = [isinstance(v, int) and v > LAST_SINGLE_AGE for v in domain.values]
    return np.array([not (a and b) for a, b in pairwise(old)], dtype=np.bool_)


def _year_cuts(domain: ValueDomain, on: dt.date | None) -> tuple[NDArray[np.bool_], list[str]]:
    years = [None if v is None else int(str(v)[:4]) for v in domain.values]
    notes = [f"{domain.column}: dates become years"]
    if BIRTH.search(domain.column):
        if on is None:
            notes.append(
                f"{domain.column}: years of birth are not grouped over age 89, since the day at "
                "which ages are counted was not given"
            )
        else:
            oldest = on.year - LAST_SINGLE_AGE - 1
            years = [y if y is None or y > oldest else oldest for y in years]
            notes.append(f"{domain.column}: years of birth up to {oldest} are one group")
    cuts = [a != b for a, b in pairwise(years)]
    return np.array(cuts, dtype=np.bool_), notes
