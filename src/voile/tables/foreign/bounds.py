"""Read two bound columns in place of one column, as `voile tables apply --bounds` writes them."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from voile.tables.domains.domain import OUTSIDE, ValueDomain

BOUNDS = ("low", "high")
Groups = dict[str, frozenset[str]]


def released_as(column: str, names: Collection[str]) -> tuple[str, ...]:
    """Return the released columns that represent a column: itself, its two bounds, or none."""
    if column in names:
        return (column,)
    both = tuple(f"{column}_{bound}" for bound in BOUNDS)
    return both if set(both) <= set(names) else ()


def join_bounds(
    domain: ValueDomain, low: pa.ChunkedArray, high: pa.ChunkedArray
) -> tuple[pa.ChunkedArray, Groups]:
    """Join two bound columns into one column of intervals in brackets.

    Values without a scale become named groups instead. The upper bound of a decimal is not in the
    interval. A row without bounds becomes null.
    """
    pairs = list(zip(low.to_pylist(), high.to_pylist(), strict=True))
    is_scale = domain.parser.is_scale or all(str(v).isdigit() for v in domain.values if v)
    if is_scale:
        end = ")" if domain.parser.kind == "decimal" else "]"
        cells = {pair: _interval(*pair, end) for pair in set(pairs)}
        groups: Groups = {}
    else:
        cells = {pair: _label(*pair) for pair in set(pairs)}
        groups = {str(cells[pair]): _between(domain, *pair) for pair in cells if cells[pair]}
    return pa.chunked_array([pa.array([cells[pair] for pair in pairs], pa.string())]), groups


def _interval(low: object, high: object, end: str) -> str | None:
    if low is None and high is None:
        return None
    if low == high:
        return str(low)
    return f"[{'-inf' if low is None else low}, {'inf' if high is None else high}{end}"


def _label(low: object, high: object) -> str | None:
    return None if low is None or high is None else f"{low} to {high}"


def _between(domain: ValueDomain, low: object, high: object) -> frozenset[str]:
    first, last = domain.code(low), domain.code(high)
    known = domain.values[first : last + 1] if OUTSIDE not in (first, last) else ()
    return frozenset(str(value) for value in known if value is not None)
