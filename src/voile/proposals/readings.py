"""Propose roles for readings: the reading columns, their subject, and the class to hide.

A column of many different numbers, except an id, is a reading. Any other column is dropped unless
its name suggests a role, because a column released with a message can reveal the class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from voile.data.column_words import find_words
from voile.proposals.people import warn_of_people
from voile.proposals.proposal import (
    ColumnProposal,
    RolesProposal,
    find_subject,
    identifying,
    names_a_subject,
)
from voile.proposals.seen import ID_WIDTH, ColumnLook, first_rows, look

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.data import Source

CLASSES = 20  # most values of a private class
FEW_CLASSES = 6  # most values of a class without a meaningful name
FEW_EACH = 20  # people per value of such a class, on average
LEAST = 12  # fewest distinct numbers of a reading


def examine_readings(source: Source) -> RolesProposal:
    """Propose a role for every column, from its name, its type and the first 100,000 rows.

    The reasons contain types and counts, but no values.
    """
    rows = first_rows(source)
    seen = {one.name: one for one in look(rows)}
    subject = find_subject(seen.values()) or _only_id(seen)
    warn_of_people(source.name, rows, subject)
    people = rows.column(subject).to_pylist() if subject else []
    private = _private(seen, subject) or _find_class(rows, seen, people)
    time = _find_time(rows, seen, people)
    columns = tuple(_propose_column(one, subject, private, time) for one in seen.values())
    return RolesProposal(source.name, len(rows), columns, subject)


def _propose_column(
    seen: ColumnLook, subject: str | None, private: str | None, time: str | None
) -> ColumnProposal:
    name, found = seen.name, find_words(seen.name)
    if name == subject:
        return ColumnProposal(name, "identifier", "says who a row is about")
    if name == private:
        return ColumnProposal(name, "private", f"the class to hide, it seems; {seen.counts}")
    if name == time:
        rising = "rises from reading to reading of each person: give it as --time"
        return ColumnProposal(name, "drop", rising)
    if why := identifying(seen):
        return ColumnProposal(name, "identifier", why)
    if _may_be_read(found and found[0].about) and seen.number and seen.distinct >= LEAST:
        return _of_numbers(seen)
    if seen.kind == "date":
        why = "a date: give it as --time where people have several readings"
        return ColumnProposal(name, "drop", why)
    why = f"kept with a message, it may reveal the class; {seen.counts}"
    return ColumnProposal(name, "drop", why)


def _may_be_read(about: str | None) -> bool:
    """Return whether the meaning of a column's name allows a reading, such as a person's weight."""
    return about in (None, "a measure of the body")


def _of_numbers(seen: ColumnLook) -> ColumnProposal:
    if seen.number == "whole" and seen.width >= ID_WIDTH:
        why = f"whole numbers of {seen.width} digits each, as ids have; {seen.counts}"
        return ColumnProposal(seen.name, "drop", why)
    why = f"numbers, {seen.counts}; voile finds its resolution"
    return ColumnProposal(seen.name, "reading", why)


def _only_id(seen: Mapping[str, ColumnLook]) -> str | None:
    """Return the only id column with almost distinct values, for one reading per person."""
    ids = [
        name
        for name, one in seen.items()
        if one.nearly_unique and (names_a_subject(one) or one.numbers_people)
    ]
    return ids[0] if len(ids) == 1 else None


def _find_class(rows: pa.Table, seen: Mapping[str, ColumnLook], people: list[object]) -> str | None:
    """Return the only text column with few values and one value per person."""
    found = []
    for name, one in seen.items() if people else ():
        if one.kind == "text" and find_words(name) is None and 2 <= one.distinct <= FEW_CLASSES:
            pairs = set(zip(people, rows.column(name).to_pylist(), strict=True))
            if len(pairs) == len(set(people)) > FEW_EACH * one.distinct:
                found.append(name)
    return found[0] if len(found) == 1 else None


def _find_time(rows: pa.Table, seen: Mapping[str, ColumnLook], people: list[object]) -> str | None:
    """Return the only column of whole numbers or dates that increases within each person."""
    if len(people) < max(2 * len(set(people)), 1):
        return None
    whole = [one.name for one in seen.values() if one.kind in ("whole", "date")]
    found = [name for name in whole if _rises(people, rows.column(name).to_pylist())]
    return found[0] if len(found) == 1 else None


def _rises(people: list[object], values: list[Any]) -> bool:
    last: dict[object, Any] = {}
    for who, value in zip(people, values, strict=True):
        if value is None or (who in last and last[who] >= value):
            return False
        last[who] = value
    return True


def _private(seen: Mapping[str, ColumnLook], subject: str | None) -> str | None:
    """Return the only column of few values with a name that suggests a class or health."""
    named = []
    for name, one in seen.items():
        found = find_words(name)
        told = found is not None and (found[0].role == "label" or found[0].about == "health")
        if told and name != subject and 2 <= one.distinct <= CLASSES:
            named.append(name)
    return named[0] if len(named) == 1 else None
