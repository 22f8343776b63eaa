"""Check pairs of latitude and longitude columns, which count as one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from voile.core.errors import RequestError, nearest
from voile.report.wording import join_names
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import CellParser, FindRows, NotInKind
from voile.tables.domains.public_files import LATITUDE, LONGITUDE


class DistinctCells(Protocol):
    """The interface of a table that lists the distinct cells of a column, and their rows."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    def distinct(self, column: str) -> pa.Array: ...

    def rows_of(self, column: str) -> FindRows: ...


def check_pairs(
    domains: Sequence[ValueDomain], pairs: Mapping[str, str], tables: Sequence[DistinctCells]
) -> None:
    """Raise an error unless each pair of latitude and longitude columns is valid.

    Raises
    ------
    RequestError : a longitude is not a quasi-identifier, two pairs share a column, or a column's
        values are not degrees in the valid range.
    """
    of_name = {domain.column: domain for domain in domains}
    named = [column for pair in pairs.items() for column in pair]
    for latitude, longitude in pairs.items():
        if longitude not in of_name:
            raise RequestError(
                f"its pair {longitude} is not a quasi-identifier",
                where=f"roles, column {latitude}",
                instead=nearest(longitude, of_name),
            )
        for column, ends in ((latitude, LATITUDE), (longitude, LONGITUDE)):
            if named.count(column) > 1:
                raise RequestError("a column of two pairs", where=f"roles, column {column}")
            _check_range(of_name[column], ends, tables)


def _check_range(
    domain: ValueDomain, ends: tuple[str, float, float], tables: Sequence[DistinctCells]
) -> None:
    column, (name, least, most), parser = domain.column, ends, domain.parser.reading
    if not parser.is_number:
        raise RequestError(f"{name}s are numbers, and this is {parser.kind}", where=column)
    for table in tables:
        if column not in table.columns:
            continue

        def outside(raw: Any) -> bool:
            return not _lies_within(parser, raw, least, most)

        if any(map(outside, table.distinct(column).to_pylist())):
            rows = join_names([f"{row:,}" for row in table.rows_of(column)(outside)])
            raise RequestError(
                f"{name}s lie between {least:g} and {most:g} degrees, and those of rows {rows} do "
                "not",
                where=f"column {column}",
                instead="correct them, or leave the pair out",
            )


def _lies_within(parser: CellParser, raw: Any, least: float, most: float) -> bool:
    if raw is None or raw != raw:
        return True
    try:
        value = parser(raw)
    except NotInKind:
        return True
    return value is None or least <= float(value) <= most
