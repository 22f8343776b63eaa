"""Find pairs of columns that contain the latitude and the longitude of one place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from voile.data.column_words import split_name

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.proposals.seen import ColumnLook

LATITUDES = frozenset(
    {"lat", "latitude", "breite", "breitengrad", "latitud", "latitudine", "breedtegraad"}
)
LONGITUDES = frozenset(
    {"lon", "lng", "long", "longitude", "laenge", "laengengrad", "longitud", "longitudine"}
    | {"lengtegraad"}
)
WIDE = {"latitude": 90.0, "longitude": 180.0}


def find_pairs(seen: Iterable[ColumnLook], table: pa.Table) -> dict[str, str]:
    """Return the longitude column of each latitude column, by name.

    Both columns contain decimals in the legal range. The remaining parts of their names are equal:
    ``home_lat`` belongs to ``home_lon``, not to ``work_lon``.
    """
    found: dict[str, dict[tuple[str, ...], str]] = {"latitude": {}, "longitude": {}}
    for column in seen:
        words = split_name(column.name)
        for what, names in (("latitude", LATITUDES), ("longitude", LONGITUDES)):
            rest = tuple(word for word in words if word not in names)
            if len(rest) == len(words) - 1 and _lies_within(column, table, WIDE[what]):
                found[what][rest] = column.name
    both = found["latitude"].keys() & found["longitude"].keys()
    return {found["latitude"][rest]: found["longitude"][rest] for rest in both}


def _lies_within(seen: ColumnLook, table: pa.Table, degrees: float) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if seen.number != "fraction":
        return False
    cells = table.column(seen.name)
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        cells = pc.replace_substring(cells.drop_null(), ",", ".")
    try:
        most = pc.max(pc.abs(pc.cast(cells, pa.float64()))).as_py()
    except pa.ArrowInvalid:
        return False
    return most is not None and most <= degrees
