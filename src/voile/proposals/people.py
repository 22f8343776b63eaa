"""Find signs that a column does not identify people correctly: truncated or shared ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from voile.core.warn import warn
from voile.data.column_words import mentions
from voile.proposals.seen import printable
from voile.proposals.values import MOSTLY

if TYPE_CHECKING:
    import pyarrow as pa

CUT, LONG_CUT = r"^\s*\d[.,]\d+E\+\d\d\s*$", r"^\s*\d[.,]\d+E\+1\d\s*$"
"""A number as a spreadsheet shows it (2.98725E+13), of any length and of 11 digits or more."""
MANY_ROWS, TIMES_MEDIAN = 100, 50
"""A subject with more rows than both limits is probably several people.

The limits are a number of rows, and a multiple of the median.
"""


class PeopleWarning(UserWarning):
    """A column that identifies people has equal values for several. Check the subject's column."""


def warn_of_people(source: str, table: pa.Table, subject: str | None) -> None:
    """Warn of ids that a spreadsheet truncated, and of a subject with implausibly many rows."""
    for said in (*_find_cut(table), *_find_crowds(table, subject)):
        warn(f"{source}: {said}", PeopleWarning)


def _find_cut(table: pa.Table) -> Iterator[str]:
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, cells in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_string(cells.type):
            continue
        is_id = mentions(name, "number")
        cut = cells.filter(pc.match_substring_regex(cells, CUT if is_id else LONG_CUT))
        if len(cut) and (is_id or len(cut) >= MOSTLY * (len(cells) - cells.null_count)):
            yield (
                f"column {printable(name)} has {pc.count_distinct(cut).as_py():,} distinct values "
                f"in {len(cut):,} rows that a spreadsheet cut short, as 1.23457E+13. Several "
                "ids are now equal: export the column again as text"
            )


def _find_crowds(table: pa.Table, subject: str | None) -> Iterator[str]:
    import numpy as np
    import pyarrow.compute as pc

    if subject is None:
        return
    rows = np.sort(pc.value_counts(table.column(subject).drop_null()).field("counts").to_numpy())
    median = float(np.median(rows)) if len(rows) else 0.0
    crowds = int((rows > max(MANY_ROWS, TIMES_MEDIAN * median)).sum())
    if crowds:
        yield (
            f"column {printable(subject)} has {rows[-1]:,} rows of one subject, and the median is "
            f"{median:,.0f}; see that {'it is' if crowds == 1 else f'these {crowds} subjects are'} "
            "no placeholder for unknown people"
        )
