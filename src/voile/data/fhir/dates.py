"""Read dates and moments of FHIR, which may have a year or a month alone."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import TypeAlias

from voile.core.errors import RequestError
from voile.data.fhir.fields import take_object

DateParts: TypeAlias = tuple[int, int | None, int | None]
"""A year, and its month and day where the text has them."""
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


def read_parts(raw: object) -> DateParts | None:
    """Return the numbers of a FHIR date, without a check of their ranges; None for anything else.

    >>> read_parts("1966-07"), read_parts("1966-07-01"), read_parts("July 1966")
    ((1966, 7, None), (1966, 7, 1), None)
    """
    found = _DATE.fullmatch(raw) if isinstance(raw, str) else None
    if found is None:
        return None
    year, month, day = (int(one) if one else None for one in found.groups())
    return year or 0, month, day


def read_day(raw: object) -> date | None:
    """Return the day of a whole date or moment; None for anything else, such as a month.

    >>> read_day("2013-05-14T08:15:00Z"), read_day("2013-05")
    (datetime.date(2013, 5, 14), None)
    """
    parts = read_parts(raw.partition("T")[0]) if isinstance(raw, str) else None
    try:
        return date(parts[0], parts[1] or 0, parts[2] or 0) if parts else None
    except ValueError:
        return None


def read_period(raw: object) -> dict[str, date]:
    """Return the days of a Period by the names of its ends.

    >>> read_period({"start": "2013-05-14", "end": "2013-06"})
    {'start': datetime.date(2013, 5, 14)}
    """
    ends = {name: read_day(take_object(raw).get(name)) for name in ("start", "end")}
    return {name: day for name, day in ends.items() if day}


def read_moment(time: str, place: str) -> float:
    """Return the seconds from 1970 to a FHIR dateTime.

    >>> read_moment("2024-03", "") == read_moment("2024-03-01T00:00:00Z", "")
    True
    """
    padded = time + {4: "-01-01", 7: "-01"}.get(len(time), "")
    try:
        at = datetime.fromisoformat(padded)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise RequestError("the time is not a dateTime of FHIR", where=place) from None
