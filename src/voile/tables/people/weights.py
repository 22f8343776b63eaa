"""Use sampling weights: the number of people whom each subject of a survey represents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data import Source
from voile.data.source import identifier
from voile.engines.counting import count_combinations
from voile.engines.duck import connect
from voile.report.wording import join_names
from voile.tables.people.combinations import QuasiCombinations, check_quasi


def count_weighted(
    source: Source, quasi: Sequence[str], weight: str, subject: str | None
) -> QuasiCombinations:
    """Sum the weights of subjects by combination of the quasi-identifiers.

    A subject with several combinations is divided evenly among them, and so is the weight.

    Raises
    ------
    RequestError : weights are missing, negative, not numbers or all 0, or differ within a subject.
    """
    check_quasi(source, [*quasi, weight])
    if subject is not None:
        _check_one_each(source, weight, subject)
    columns = [*quasi, weight]
    counted = count_combinations(source, columns, subject=subject, floats=columns)
    weights = _numbers(QuasiCombinations(tuple(columns), counted, source), weight)
    people = counted.column("count").to_numpy() * weights
    if not people.sum() > 0:
        raise RequestError("all weights are 0", where=f"column {weight}")
    table = counted.select(list(quasi)).append_column("count", pa.array(people))
    return QuasiCombinations(tuple(quasi), table, source)


def _numbers(counted: QuasiCombinations, weight: str) -> NDArray[np.float64]:
    weights = np.array([_number(cell) for cell in counted.table.column(weight).to_pylist()])
    if not (weights >= 0).all():
        rows = counted.rows_of(weight)(lambda cell: not _number(cell) >= 0)
        raise RequestError(
            f"weights are negative, missing or not numbers, as in row{'s' * (len(rows) > 1)} "
            f"{join_names([f'{row:,}' for row in rows])}",
            where=f"column {weight}",
            instead="give each row the number of people that it represents",
        )
    return weights


def _number(cell: Any) -> float:
    """Return a cell as a number, or NaN if it is not a finite number."""
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return float("nan")
    return number if np.isfinite(number) else float("nan")


def _check_one_each(source: Source, weight: str, subject: str) -> None:
    who, own = identifier(subject), identifier(weight)
    several = (
        f"SELECT count(*) FROM (SELECT {who} FROM source WHERE {who} IS NOT NULL "
        f"GROUP BY {who} HAVING count(DISTINCT {own}) > 1)"
    )
    with connect() as connection:
        relation = source.relation(connection, [subject, weight])
        ((found,),) = relation.query("source", several).fetchall()
    if found:
        raise RequestError(
            f"{found:,} subject{'s have' if found > 1 else ' has'} several weights",
            where=f"column {weight}",
            instead="give all rows of a subject one weight",
        )
