"""The treatment of people's dates: one offset for each person, and further removals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from voile.keys.pseudonyms import ShiftedDates, Subject, date_shift, shift_dates

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.keys.secret import Secret

WEEK = 7


@dataclass(frozen=True)
class DateRule:
    """The treatment of dates, in columns and in text alike.

    days : the largest offset in days.
    weeks : whether offsets are whole weeks, so that weekdays stay.
    months : whether a moved date is written as the first day of its month, so that gaps are coarse.
    first, last : a moved date before or after them is left out, and reveals no bound of its offset.

    >>> from voile.keys.secret import Secret
    >>> DateRule(30, weeks=True).offset(Secret(bytes(32)), "A-17") % 7
    0
    """

    days: int
    weeks: bool = False
    months: bool = False
    first: date | None = None
    last: date | None = None

    @property
    def step(self) -> int:
        return WEEK if self.weeks else 1

    @property
    def is_plain(self) -> bool:
        """Whether dates are moved by their offset without any other change."""
        return self == DateRule(self.days)

    def offset(self, secret: Secret, subject: Subject) -> int:
        """Return the number of days by which all dates of a subject move."""
        return date_shift(secret, subject, days=self.days, step=self.step)

    def keeps(self, moved: date) -> bool:
        """Return whether a moved date may be written."""
        return (self.first or date.min) <= moved <= (self.last or date.max)

    def move(self, secret: Secret, dates: pa.Array, subjects: pa.Array) -> ShiftedDates:
        """Move each date by the offset of its subject. Dates that are left out become null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        moved = shift_dates(secret, dates, subjects, days=self.days, step=self.step)
        days, written = moved.dates.cast(pa.date32()), moved.dates
        if self.months:
            written = _firsts_of_months(written)
        for end, outside in ((self.first, pc.less), (self.last, pc.greater)):
            if end is not None:
                gone = pc.fill_null(outside(days, pa.scalar(end, pa.date32())), False)
                written = pc.if_else(gone, pa.scalar(None, written.type), written)
        return ShiftedDates(written, moved.set_aside)


def _firsts_of_months(dates: pa.Array) -> pa.Array:
    """Return the first moment of each date's month, by the clocks of its time zone.

    If clocks were put forward over midnight, the month begins at the time after the change.
    """
    import pyarrow.compute as pc

    zone = getattr(dates.type, "tz", None)
    if zone is None:
        return pc.floor_temporal(dates, unit="month")
    firsts = pc.floor_temporal(pc.local_timestamp(dates), unit="month")
    return pc.assume_timezone(firsts, zone, ambiguous="earliest", nonexistent="latest")
