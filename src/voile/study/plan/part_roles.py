"""The roles of a part, with the study's subject, date rule and split points to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from voile.core.errors import RequestError
from voile.data import Source
from voile.data.column_words import glossary
from voile.data.roles import AS_IT_IS, Roles
from voile.keys.date_rule import DateRule
from voile.study.adversary.days import as_days, can_be_moved, day_columns
from voile.study.carriers.carrier import YEARS
from voile.study.plan.entries import RowsPart
from voile.study.plan.plan import StudyPlan

DATE_SHIFT = "date_shift_days"
Extract = tuple[date | None, date | None]


def part_roles(plan: StudyPlan, name: str, source: Source, extract: Extract) -> Roles:
    """Return the roles of a part with the study's subject and its rule for dates.

    The roles of the study's table also set the columns that keep all split points.

    Raises
    ------
    RequestError : the roles set another subject or offset, or would move a birth date.
    """
    part = plan.rows[name]
    where = str(plan.place(part.roles))
    roles = Roles.read(plan.place(part.roles))
    subject = plan.study.subject
    if roles.subject not in (None, subject):
        raise RequestError(
            f"its subject is {roles.subject}, and the study's is {subject}",
            where=where,
            instead="name one column in both",
        )
    if subject not in source.columns:
        raise RequestError(f"there is no subject column {subject}", where=source.name)
    for text in plan.texts.values():
        if text.of == name and text.text not in roles.of("text"):
            raise RequestError(
                f"column {text.text} is released as text, and its role is not text", where=where
            )
    if part.stays == "drop":
        later = day_columns(source, roles.of(*AS_IT_IS))[1:]
        roles = roles.corrected(dict.fromkeys(later, "drop"), subject=subject)
    changed = _dates(plan, part, roles, source, where, extract)
    if name == plan.table[0]:
        changed |= _kept_cuts(plan, roles, where)
    return roles.corrected(changed, subject=subject)


def _dates(
    plan: StudyPlan, part: RowsPart, roles: Roles, source: Source, where: str, extract: Extract
) -> dict[str, Any]:
    """Apply the person's one offset to every released date."""
    days, changed = plan.study.date_shift_days, {}
    rule = settings_of(plan.date_rule(*extract))
    dated = day_columns(source, roles.of(*AS_IT_IS))
    for name in roles.of(*AS_IT_IS):
        settings = roles.columns[name].settings
        asked = settings.get(DATE_SHIFT)
        if asked not in (None, days):
            raise RequestError(
                f"column {name} moves by up to {asked} days, and the study's dates by {days}",
                where=where,
                instead="take date_shift_days out: a person has one offset",
            )
        if asked is None and name not in dated:
            continue
        if glossary()["birth"].found_in(name):
            raise RequestError(
                f"column {name} is a birth date. Together with dates that move by the same offset, "
                "it reveals the age to the day",
                where=where,
                instead="make it quasi by year, or drop it",
            )
        if part.kind != "tables":
            raise RequestError(
                f"column {name} is a date, which a part of kind {part.kind} does not move",
                where=where,
                instead="drop it, or release it in a part of kind tables",
            )
        if name in dated and not can_be_moved(source, name):
            raise RequestError(
                f"column {name} has dates that cannot be moved",
                where=source.name,
                instead="write them as 2013-07-01 and leave its other cells empty, or drop it",
            )
        changed[name] = {"role": roles.columns[name].role, **settings, **rule}
    return changed


def settings_of(rule: DateRule) -> dict[str, Any]:
    """Return the settings of a column with dates that move by a rule."""
    ends = {"dates_from": rule.first, "dates_to": rule.last}
    return {
        DATE_SHIFT: rule.days,
        **({"date_shift_weeks": True} if rule.weeks else {}),
        **({"date_months": True} if rule.months else {}),
        **{name: day.isoformat() for name, day in ends.items() if day is not None},
    }


def extract_of(plan: StudyPlan, sources: Mapping[str, Source]) -> Extract:
    """Return the first and the last day of all parts' released dates, or (None, None)."""
    days = [day for name in plan.rows for day in _ends(plan, name, sources[name])]
    return (min(days), max(days)) if days else (None, None)


def _ends(plan: StudyPlan, name: str, source: Source) -> Iterator[date]:
    roles = Roles.read(plan.place(plan.rows[name].roles))
    for column in day_columns(source, roles.of(*AS_IT_IS)):
        for batch in source.batches([column]):
            days = as_days(pa.chunked_array([batch.column(0)]))
            ends = pc.min_max(days.filter(_are_of_people(days)))
            yield from (x for x in ends.as_py().values() if x is not None)


def _are_of_people(days: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return whether each day moves. Days with implausible years mean "never" and are left out."""
    first, last = YEARS
    after = pc.greater_equal(days, pa.scalar(date(first, 1, 1)))
    return pc.and_(after, pc.less_equal(days, pa.scalar(date(last, 12, 31))))


def _kept_cuts(plan: StudyPlan, roles: Roles, where: str) -> dict[str, Any]:
    """Keep all split points of the columns with values that the text keeps."""
    quasi = roles.of("quasi")
    wrong = [
        f"mentions.{label} follows column {one.column}, which is not quasi"
        for label, one in plan.mentions.items()
        if one.column not in (None, *quasi)
    ]
    if wrong:
        remedy = "name a quasi-identifier, or drop"
        raise RequestError("; ".join(wrong), where=where, instead=remedy)
    kept = [str(one.column) for one in plan.mentions.values() if one.keep]
    return {
        column: {"role": "quasi", **roles.columns[column].settings, "keep_cuts": "all"}
        for column in kept
    }
