"""Choose how to read a column's cells: by its settings, or by the common form of its values.

A column of numbers or dates is never read as names. If most of its values have one kind and some do
not, the error lists rows. The same applies to values that can be read in two ways.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.round_cuts import roundest, roundest_decimal
from voile.data.forms import NumberForm, find_forms, find_usual_form, sort_of
from voile.report.wording import join_names
from voile.tables.domains.domain import infer_parser
from voile.tables.domains.parser import By, CellParser, FindRows, Kind, NotInKind
from voile.tables.domains.settings import QuasiSettings

MOSTLY = 0.5
NAME_FORMS = (
    'list every form (form = ["...", "..."]) and every text of a missing value '
    '(missing = ["..."]), or set kind = "text" if these are names'
)


def choose_parser(
    column: str, cells: Sequence[pa.Array], wanted: QuasiSettings, find_rows: FindRows
) -> CellParser:
    """Choose the parser of the distinct cells of a source and of its population tables.

    Raises
    ------
    RequestError : the values have no common kind or form, can be read in two ways, or contradict
        the settings.
    """
    if wanted.kind is None:
        kind, forms = _find_kind(column, cells, wanted, find_rows)
    else:
        kind, forms = wanted.kind, wanted.form
    parser = CellParser(kind, _by(column, kind, wanted), forms, wanted.missing)
    if kind in ("integer", "decimal") and any(NumberForm.of(form) is None for form in forms):
        raise _error(
            column, "a form of numbers writes 1234.5, or 1234, as the column would: 1.234,5 kg"
        )
    numbers = parser.is_number or (parser.by == "year" and not (wanted.bins or wanted.edges))
    if wanted.codes_numbers and not numbers:
        years = 'code the ends of dates as years, by = "year"' if kind == "date" else None
        raise _error(
            column, f"bins, edges, bottom and top are of numbers, and this is {kind}", years
        )
    _check_readable(column, cells, parser, find_rows)
    return parser


def _find_kind(
    column: str, cells: Sequence[pa.Array], wanted: QuasiSettings, find_rows: FindRows
) -> tuple[Kind, tuple[str, ...]]:
    if wanted.form:
        return _kind_of(wanted.form[0]), wanted.form
    if wanted.by is not None:
        return ("time" if wanted.by in ("hour", "minute") else "date"), ()
    known = [_drop_missing(array, wanted.missing) for array in cells]
    found = {infer_parser(a.type, raw).kind for a, raw in zip(cells, known, strict=True)}
    texts = [str(raw) for one in known for raw in one]
    kind = found.pop() if len(found) == 1 else infer_parser(pa.string(), texts).kind
    if kind != "text" or wanted.order is not None or all(text.isdigit() for text in texts):
        return kind, ()
    if found - {"text"}:
        raise _error(
            column,
            "its values are of one kind in the source and of another in a population table",
            "write both in one way, or set kind and form",
        )
    return _find_form(column, texts, wanted, find_rows)


def _find_form(
    column: str, texts: Sequence[str], wanted: QuasiSettings, find_rows: FindRows
) -> tuple[Kind, tuple[str, ...]]:
    """Find the form of numbers, dates or times in text, or return text if most values are names."""
    forms = find_forms(texts)
    if len(forms) > 1:
        ways = " or ".join(f'form = "{form}"' for _, form in forms)
        raise _error(column, "its values can be read in more than one way", f"say which: {ways}")
    if forms:
        ((kind, form),) = forms
        return _as_kind(kind), (form,)
    usual = find_usual_form(texts)
    if usual is None or usual[1] <= MOSTLY:
        _refuse_mixed(column, texts, find_rows)
        return "text", ()
    kind, form = usual[0]
    parser = CellParser(_as_kind(kind), forms=(form,), missing=wanted.missing)
    rows = find_rows(lambda raw: not reads(parser, raw))
    raise _error(
        column,
        f"most of its values are of kind {kind}, written {form}, and others are not, as in "
        f"{_rows(rows)}",
        f"correct them, {NAME_FORMS}",
    )


def _refuse_mixed(column: str, texts: Sequence[str], find_rows: FindRows) -> None:
    """Raise an error if fewer than half of the texts are names: numbers and dates are mixed."""
    named = sum(sort_of(text) is None for text in set(texts))
    if named >= (1 - MOSTLY) * len(set(texts)):
        return
    looks_like = (partial(_looks_like, sort) for sort in ("number", "date", None))
    firsts = map(find_rows, looks_like)
    rows = sorted(found[0] for found in firsts if found)
    raise _error(
        column,
        f"its values are neither all numbers, nor all dates, nor names, as in {_rows(rows)}",
        f"correct them, {NAME_FORMS}",
    )


def _looks_like(sort: str | None, raw: Any) -> bool:
    return raw is not None and sort_of(str(raw)) == sort


def _kind_of(form: str) -> Kind:
    if "%" in form.replace("1234 %", "").replace("%%", "") and NumberForm.of(form) is None:
        dated = any(f"%{letter}" in form for letter in "YymdbBj")
        return "date" if dated else "time"
    number = NumberForm.of(form)
    return "decimal" if number and number.point else "integer"


def _as_kind(kind: str) -> Kind:
    found: dict[str, Kind] = {"integer": "integer", "decimal": "decimal", "time": "time"}
    return found.get(kind, "date")


def _by(column: str, kind: Kind, wanted: QuasiSettings) -> By:
    of_times = wanted.by in ("hour", "minute")
    if wanted.by is not None and (kind == "time") != of_times:
        of = "times" if of_times else "dates"
        raise _error(column, f'by = "{wanted.by}" is of {of}, and this column is of kind {kind}')
    return wanted.by or ("hour" if kind == "time" else "day")


def _drop_missing(array: pa.Array, missing: Sequence[str]) -> list[Any]:
    return [raw for raw in array.to_pylist() if raw is not None and str(raw).strip() not in missing]


def _check_readable(
    column: str, cells: Sequence[pa.Array], parser: CellParser, find_rows: FindRows
) -> None:
    for array in cells:
        if pa.types.is_floating(array.type):
            _check_finite(column, array, find_rows)
            continue
        known = _drop_missing(array, parser.missing)
        unreadable = sum(not reads(parser, raw) for raw in known)
        if unreadable:
            rows = find_rows(lambda raw: not reads(parser, raw))
            none = " (none can)" if unreadable == len(known) else ""
            form = f" written {' or '.join(parser.forms)}" if parser.forms else ""
            raise _error(
                column,
                f"{_values(unreadable)} cannot be read as {parser.kind}{form}{none}, as in "
                f"{_rows(rows)}",
                "give the column another kind or form in the roles file",
            )


def _check_finite(column: str, numbers: pa.Array, find_rows: FindRows) -> None:
    infinite = pc.sum(pc.is_inf(numbers)).as_py()
    if infinite:
        rows = find_rows(lambda raw: raw is not None and math.isinf(raw))
        are = "is" if infinite == 1 else "are"
        raise _error(
            column,
            f"{_values(infinite)} {are} infinite, as in {_rows(rows)}",
            "write a number there, or nothing",
        )


def _values(count: int) -> str:
    return f"{count:,} distinct value{'s' * (count > 1)}"


def reads(parser: CellParser, raw: Any) -> bool:
    """Return whether a parser can read a cell."""
    try:
        parser(raw)
    except NotInKind:
        return False
    return True


def choose_edges(
    ordered: Sequence[Any], subjects: NDArray[np.float64], bins: int, parser: CellParser
) -> tuple[Decimal, ...]:
    """Return edges that divide ordered distinct numbers into about `bins` bins of equal size.

    The size of a bin is its number of subjects. Each edge is the roundest number between two
    neighbours.

    >>> some = [Decimal(x) for x in ("1.5", "2.25", "7", "30")]
    >>> [str(x) for x in choose_edges(some, np.ones(4), 2, CellParser("decimal"))]
    ['5']
    """
    reached = np.cumsum(subjects)
    wanted = np.arange(1, bins) / bins * (reached[-1] if len(reached) else 0)
    places = np.searchsorted(reached, wanted - 1e-9) + 1
    if len(ordered) < 2:
        return ()
    within = np.unique(np.minimum(places, len(ordered) - 1))
    return tuple(_edge(parser(ordered[i - 1]), parser(ordered[i])) for i in within)


def _edge(below: Any, above: Any) -> Decimal:
    if isinstance(below, int):
        return Decimal(roundest(below, above))
    return roundest_decimal(below, above)


def _rows(rows: Iterable[int]) -> str:
    numbers = [f"{row:,}" for row in rows]
    return (
        f"row{'s' * (len(numbers) > 1)} {join_names(numbers)}" if numbers else "a population table"
    )


def _error(column: str, what: str, instead: str | None = None) -> RequestError:
    return RequestError(what, where=f"column {column}", instead=instead)
