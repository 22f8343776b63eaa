"""Counts by age, sex, region and year, in the source and in the written release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from voile.data import Source, open_source
from voile.data.roles import AS_IT_IS
from voile.study.adversary.days import as_days, day_columns
from voile.study.study_release import EXPORT
from voile.study.verbs.export import carrier_of, open_export
from voile.study.verbs.writing import StudyWriting
from voile.tables.recoding.codebook import CodedColumn

BAND = 10
"""Years of a compared age band."""
REGION = 3
"""Number of first characters of a code that identify a region."""
MOST = 30
"""Maximum compared values of a column. Longer columns are compared by region."""
MISSING = "missing"


class ComparedCount(NamedTuple):
    """The number of rows with a value, in the source and in the release.

    after : each released row is spread evenly over the source's values in its interval.
    """

    of: str
    value: str
    before: float
    after: float


def compare_counts(writing: StudyWriting) -> list[ComparedCount]:
    """Compare the counts of the first table's columns and of years, before and after.

    Cost: one pass over the source and the release of each part, and over an export's files.
    """
    table, _ = writing.plan.table
    source, written = writing.plan.open_part(table), open_source(writing.place(table))
    found = [
        one
        for column in writing.shown.codebook.columns
        for one in _compare(column, source, written)
    ]
    return [*found, *_compare_years(writing)]


def _compare(column: CodedColumn, source: Source, written: Source) -> Iterator[ComparedCount]:
    values, before = _count(source.read([column.column]).column(0))
    cells = pa.array([None if one is None else str(one) for one in values], pa.string())
    held, _ = column.membership(cells, blank_is_unknown=False)
    columns = written.read(column.released).columns
    codes = column.released_codes([one.combine_chunks() for one in columns])
    rows = np.bincount(codes, minlength=len(column.entries)).astype(float)
    spread = held / np.maximum(held.sum(axis=1, keepdims=True), 1)
    after = rows @ spread
    name = _namer(column, values)
    bands: dict[str, list[float]] = {}
    for value, old, new in zip(values, before, after.tolist(), strict=True):
        both = bands.setdefault(name(value), [0.0, 0.0])
        both[0] += old
        both[1] += new
    for value in sorted(bands, key=_in_order):
        yield ComparedCount(column.column, value, *bands[value])


def _count(cells: pa.ChunkedArray) -> tuple[list[Any], list[int]]:
    counted = pc.value_counts(cells)
    return counted.field("values").to_pylist(), counted.field("counts").to_pylist()


def _namer(column: CodedColumn, values: Iterable[Any]) -> Callable[[Any], str]:
    """Return a function for the band of a value: ten years, a region, or the value itself."""
    present = [one for one in values if one is not None]
    if column.kind in ("integer", "decimal", "date"):
        return lambda value: _band(column.parser(value))
    is_code = len(present) > MOST and all(str(one)[:1].isdigit() for one in present)
    if is_code or len(present) > MOST:
        return lambda value: MISSING if value is None else f"{str(value)[:REGION]}..."
    return lambda value: MISSING if value is None else str(value)


def _band(value: Any) -> str:
    number = getattr(value, "year", value)
    if number is None:
        return MISSING
    first = int(number // BAND) * BAND
    return f"{first}-{first + BAND - 1}"


def _in_order(name: str) -> tuple[bool, int, str]:
    first = name.partition("-")[0]
    return name == MISSING, int(first) if first.isdecimal() else 0, name


def _compare_years(writing: StudyWriting) -> Iterator[ComparedCount]:
    before, after = Counter[int](), Counter[int]()
    for name in writing.plan.rows:
        roles = writing.parts[name][0]["columns"]
        kept = [one["column"] for one in roles if one["role"] in AS_IT_IS]
        source = writing.plan.open_part(name)
        days = day_columns(source, kept)
        for years, rows in ((before, source), (after, open_source(writing.place(name)))):
            years.update(year for one in days for year in _years(rows, one))
    if writing.plan.export is not None:
        there = writing.release / EXPORT
        carriers = (carrier_of(writing.plan), open_export(writing.plan.export, str(there)))
        for years, carrier, written in zip((before, after), carriers, (False, True), strict=True):
            events = carrier.events(written=written)
            years.update(day.year for one in events for day in one.days[:1])
    for year in sorted({*before, *after}):
        yield ComparedCount("year", str(year), before[year], after[year])


def _years(source: Source, column: str) -> Iterator[int]:
    for batch in source.batches([column]):
        days = as_days(pa.chunked_array([batch.column(0)]))
        yield from pc.year(days.drop_null()).to_pylist()


def counts_to_data(counts: Iterable[ComparedCount]) -> list[Mapping[str, Any]]:
    """Return the counts in the form of the private manifest."""
    return [one._asdict() for one in counts]
