from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from voile.core.errors import RequestError
from voile.tables import PolicySpace, generalise

N = 200
PEOPLE = pa.table(
    {
        "age": [i % 50 for i in range(N)],
        "name": [f"person {i}" for i in range(N)],
        "stay": list(range(N)),
    }
)


def policy():
    space = PolicySpace.of(PEOPLE, quasi=["age"])
    return space.policy(np.isin(np.arange(49), [17, 34]))


@pytest.mark.parametrize(
    ("frame", "kind"),
    [(PEOPLE.to_pandas(), pd.DataFrame), (pl.from_arrow(PEOPLE), pl.DataFrame), (PEOPLE, pa.Table)],
)
def test_a_frame_comes_back_as_the_kind_that_came_in(frame, kind):
    made = generalise(policy(), frame, keep=["stay"], keep_order=True)
    assert isinstance(made, kind)
    assert list(made["age"])[:30:10] == ["under 18", "under 18", "18-34"] or kind is pa.Table
    names = made.column_names if kind is pa.Table else list(made.columns)
    assert names == ["age", "stay"]


def test_each_row_gets_its_own_interval_in_an_order_drawn_anew():
    made = generalise(policy(), PEOPLE, keep=["stay"]).to_pydict()
    assert sorted(made["stay"]) == list(range(N))
    assert made["stay"] != list(range(N))
    groups = {"under 18": range(18), "18-34": range(18, 35), "35 and over": range(35, 50)}
    for label, stay in zip(made["age"], made["stay"], strict=True):
        assert stay % 50 in groups[label]


def test_a_value_outside_its_domain_is_refused_with_its_column():
    with pytest.raises(RequestError, match="column age: 2 rows"):
        generalise(policy(), pa.table({"age": [1, 70, None]}))


def test_no_rows_are_no_rows():
    assert generalise(policy(), PEOPLE.slice(0, 0)).num_rows == 0
