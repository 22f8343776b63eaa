"""Count the cells of a released table with a value of HIPAA Safe Harbor's 18 categories.

45 CFR 164.514(b)(2)(i) lists the categories. The gate searches the text of every cell for the forms
of dates finer than a year, network addresses and telephone numbers. It recognises the other
categories by the names of columns: ages, ZIP codes, places, persons' names and numbers. It does not
find names and places within text, and does not read lists and pictures. The value search compares
text with the source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from voile.data import Source
from voile.data.column_words import find_words, mentions
from voile.gate.finding import GateFinding, StatedAdversary

SAFE_HARBOR_FOUND = "safe_harbor_found"
READER = StatedAdversary("reads the released cells, and knows no person")
NOTHING = ("", "*", "any")
"""Labels that distinguish no value from another."""
ZIP_NAME = re.compile(r"zip|zcta|post(al)?[ _-]?code", re.IGNORECASE)
MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
DATES = (
    r"\b\d{4}-\d{2}-\d{2}|\b(18|19|20)\d{2}-(0[1-9]|1[0-2])\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b"
    rf"|(?i:\b({MONTHS})[a-z]*\.? \d|\b\d{{1,2}}(st|nd|rd|th|\.)? ({MONTHS})[a-z]*\b)"
)
WHOLE_YEARS = (
    (r"\b(\d{4})-01-01( to | and later)", r"\1\2"),
    (r"( to )(\d{4})-12-31\b|(before )(\d{4})-01-01\b", r"\1\2\3\4"),
)
"""Patterns of the boundaries of an interval of whole years, as releases write them."""
AGES = r"(^|\D)(9[1-9]|1\d{2})(\D|$)|(^|\D)90(\.0)?\s*($|to|-|,|\])"
"""The pattern of an age over 89. It excludes the common group of all ages of 90 or more."""
AND_OVER = r"(>=|≥)\s*90(\.0)?$", ""
WHOLE_AREAS = r"(\d{3})00( to |-)(\d{3})99", r"\1\2\3"
FORMS: Mapping[str, str] = {
    "e-mail addresses": r"[\w.+-]+@[\w-]+\.\w+",
    "web addresses": r"(?i)https?://|\bwww\.",
    "IP addresses": r"\b(\d{1,3}\.){3}\d{1,3}\b",
    "social security numbers": r"\b\d{3}-\d{2}-\d{4}\b",
    "telephone and fax numbers": r"(\(\d{3}\) ?|\b\d{3}[-. ])\d{3}[-. ]\d{4}\b",
}
NAMED: Mapping[str, tuple[str, ...]] = {
    "names": ("name",),
    "numbers and codes of a person": ("number", "login", "possession"),
    "geographic subdivisions": ("place", "address"),
    "e-mail addresses": ("email",),
    "telephone and fax numbers": ("phone",),
}
"""The meanings of column names. Every value of a column with such a name is in the category."""
OTHER, ZIPS, DAYS, OLD = "numbers and codes of a person", "ZIP codes", "dates", "ages over 89"
IsFound = Callable[[pa.Array], pa.Array]


def count_safe_harbor(
    rows: Source,
    codes: Collection[str],
    small_areas: Collection[str],
    *,
    unread: Collection[str] = (),
) -> tuple[GateFinding, ...]:
    """Count the released cells with a value of the 18 categories, in total and by category.

    Parameters
    ----------
    rows : the release. Two columns of bounds, NAME_low and NAME_high, form one column of intervals.
    codes : the columns of pseudonyms.
    small_areas : the three-digit ZIP areas with 20,000 people or fewer.
    unread : the columns that another part of the gate measures.

    Cost: one pass over the rows, with O(distinct values of a batch) pattern matches for each
    column.
    """
    types = {name: kind for name, kind in rows.columns.items() if name not in unread}
    bounds = {name[:-4]: (name, high) for name in types if (high := _high_of(name)) in types}
    pairs = {x for pair in bounds.values() for x in pair}
    kinds = {name: kind for name, kind in types.items() if name not in pairs}
    kinds |= dict.fromkeys(bounds, pa.string())
    tests = {
        name: own
        for name, kind in kinds.items()
        if (own := dict(_list_tests(name, kind, name in codes, small_areas)))
    }
    found, cells = Counter[str](), 0
    read = [x for name in tests for x in bounds.get(name, (name,))]
    for batch in rows.batches(read) if read else ():
        for name, own in tests.items():
            columns = [batch.column(x) for x in bounds.get(name, (name,))]
            shown = columns[0] if len(columns) == 1 else _join(*columns)
            if {*own.values()} == {pc.is_valid}:  # the tests do not read the values
                number = len(shown) - (pc.sum(_is_nothing(shown)).as_py() or 0)
                found.update(dict.fromkeys(own, number))
                cells += number
                continue
            counts = shown.value_counts()
            values = pc.cast(counts.field("values"), pa.string())
            is_any = pa.array([False] * len(values))
            is_value = pc.invert(_is_nothing(values))
            for category, is_found in own.items():
                is_one = pc.and_(is_value, pc.fill_null(is_found(values), False))
                found[category] += _sum(counts, is_one)
                is_any = pc.or_(is_any, is_one)
            cells += _sum(counts, is_any)
    return (
        READER.finds(SAFE_HARBOR_FOUND, cells, "cells"),
        *(
            READER.finds(SAFE_HARBOR_FOUND, n, "cells", of=of)
            for of, n in sorted(found.items())
            if n
        ),
    )


def _is_nothing(values: pa.Array) -> pa.Array:
    """Return which cells distinguish no value: missing cells, and texts such as `*`."""
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return pc.is_null(values)
    return pc.is_in(values, pa.array([*NOTHING, None], values.type))


def _high_of(name: str) -> str | None:
    return f"{name[:-4]}_high" if name.endswith("_low") else None


def _join(low: pa.Array, high: pa.Array) -> pa.Array:
    """Write two bounds as an interval: null without bounds, and one value if they are equal."""
    first, last = (pc.cast(one, pa.string()) for one in (low, high))
    both = pc.binary_join_element_wise(first, last, " to ")
    from_first = pc.binary_join_element_wise(first, "and later", " ")
    up_to_last = pc.binary_join_element_wise("", last, " to ")
    joined = pc.coalesce(both, from_first, up_to_last)
    return pc.if_else(pc.fill_null(pc.equal(first, last), False), first, joined)


def _list_tests(
    name: str, kind: pa.DataType, is_code: bool, small_areas: Collection[str]
) -> Iterator[tuple[str, IsFound]]:
    """Yield the possible categories of a column's cells, each with its test."""
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return
    if is_code:
        yield OTHER, pc.is_valid
        return
    if pa.types.is_temporal(kind):
        yield DAYS, pc.is_valid
        return
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        yield DAYS, _matches(DATES, *WHOLE_YEARS)
        yield from ((category, _matches(form)) for category, form in FORMS.items())
    words = find_words(name)
    if ZIP_NAME.search(name):
        small = "|".join(rf"{one}((-| to ){one})?" for one in sorted(small_areas))
        yield ZIPS, _matches(rf"\d{{5}}{f'|^({small})[*xX]*$' if small else ''}", WHOLE_AREAS)
    elif words is not None and mentions(name, "birth") and words[0].role == "quasi":
        yield OLD, _matches(AGES, AND_OVER)
    elif words is not None:
        about = [c for c, meanings in NAMED.items() if words[0] in _words_of(meanings)]
        yield from ((category, pc.is_valid) for category in about)


def _words_of(meanings: Collection[str]) -> list[object]:
    from voile.data.column_words import glossary

    return [glossary()[meaning] for meaning in meanings]


def _matches(pattern: str, *replaced: tuple[str, str]) -> IsFound:
    def is_found(values: pa.Array) -> pa.Array:
        for old, new in replaced:
            values = pc.replace_substring_regex(values, old, new)
        return pc.match_substring_regex(values, pattern)

    return is_found


def _sum(counts: pa.StructArray, is_one: pa.Array) -> int:
    return int(pc.sum(counts.field("counts").filter(is_one)).as_py() or 0)
