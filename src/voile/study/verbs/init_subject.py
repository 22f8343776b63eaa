"""Find the column of subjects of a folder's files: by its name, or by values that files share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from voile.core.errors import RequestError, nearest
from voile.data import Source
from voile.data.column_words import mentions as names_as
from voile.proposals.seen import printable
from voile.report.wording import join_names

SHARED = 0.5
"""Minimum share of one file's distinct values in another, for a column without a known name."""
_ASK = "name the column that every table of people has with --subject"


class SubjectColumn(NamedTuple):
    """The column of subjects, and the reason for the choice."""

    column: str
    why: str


def find_subject(files: Mapping[str, Source], place: str, asked: str | None) -> SubjectColumn:
    """Return the column of subjects: as requested, by its name, or by values that files share.

    Raises
    ------
    RequestError : no column is found.
    """
    times = Counter(column for source in files.values() for column in source.columns)
    if asked is not None:
        if asked not in times:
            raise RequestError(
                f"there is no column {asked}", where=place, instead=nearest(asked, times)
            )
        return SubjectColumn(asked, "it was asked for")
    named = [c for c in times if names_as(c, "people") or names_as(c, "number")]
    likely = min(named, key=lambda c: (-times[c], not names_as(c, "people"), c), default=None)
    if likely is None or (times[likely] == 1 and len(files) > 1):
        return _by_values(files, place)
    has = [name for name, source in files.items() if likely in source.columns]
    every = "every file has it" if len(has) == len(files) else "most files have it"
    return SubjectColumn(likely, f"{every}: {join_names(list(map(printable, has)))}")


def _by_values(files: Mapping[str, Source], place: str) -> SubjectColumn:
    """Find the column with the most distinct values that several files share.

    With a single file, find a column with a different value in every row.
    """
    found: dict[str, tuple[int, int]] = {}
    for column in dict.fromkeys(c for source in files.values() for c in source.columns):
        values = [_distinct(one, column) for one in files.values() if column in one.columns]
        values = [one for one in values if one]
        if len(files) > 1 and (len(values) < 2 or not _are_shared(values)):
            continue
        if len(files) == 1 and not _numbers_rows(next(iter(files.values())), column, values):
            continue
        found[column] = (len(values), max(map(len, values)))
    if not found:
        several = len(files) > 1
        raise RequestError(
            "its files have no common column of subjects"
            if several
            else "no column has a value of its own in every row",
            where=place,
            instead=_ASK,
        )
    best = max(found, key=lambda one: found[one])
    why = f"{found[best][0]} files share its values" if len(files) > 1 else "one value a row"
    return SubjectColumn(best, f"{why}: correct it with --subject")


def _distinct(source: Source, column: str) -> set[str]:
    cells = source.read([column]).column(0)
    try:
        return {str(one) for one in cells.unique().drop_null().to_pylist()}
    except NotImplementedError:  # lists and structs have no distinct values
        return set()


def _are_shared(values: list[set[str]]) -> bool:
    """Return whether the file with most values contains most values of the others."""
    largest = max(values, key=len)
    others = [one for one in values if one is not largest]
    return len(largest) > 1 and all(len(one & largest) > SHARED * len(one) for one in others)


def _numbers_rows(source: Source, column: str, values: list[set[str]]) -> bool:
    cells = source.read([column]).column(0)
    return bool(values) and not cells.null_count and len(values[0]) == len(cells) > 1
