"""Whole numbers beyond 64 bits are groups of their own: as floats they would be one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd
import polars as pl
import pytest

import voile.tables

CODES = [10**24 + i % 4 for i in range(80)]
MAKES: dict[str, Any] = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "polars": lambda columns: pl.DataFrame(
        {name: pl.Series(cells, dtype=pl.Int128) for name, cells in columns.items()}
    ),
    "dictionary": dict,
}


@pytest.mark.parametrize("kind", MAKES)
def test_neighbours_are_released_as_what_they_are(kind: str) -> None:
    frame = MAKES[kind]({"code": CODES, "age": [i % 2 for i in range(80)]})
    kit = voile.tables.fit(frame, roles={"code": "quasi", "age": "quasi"}, k=5, seed=1)
    released = kit.apply(kit.choose(max_loss=0), frame).frame
    assert Counter(map(int, released["code"])) == Counter(CODES)


def test_a_number_of_its_own_in_each_row_is_an_identifier() -> None:
    roles = voile.inspect({"serial": [10**30 + 7 * i for i in range(60)]})
    assert roles.of("identifier") == ["serial"]
