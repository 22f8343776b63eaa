"""Tiny tables of purchases for the contract tests (see `Case` in conftest.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.contracts.people import ROLES, names, put, table_of

from voile.data.roles import Roles

PEOPLE = 240
THINGS = ("bread", "milk", "tea")
AREAS = ("north", "south", "west")
LIMIT = "max_risk"
OWN_ROLES = {"items"}
NAMED_BY: tuple[str, ...] = ("features",)


def roles() -> Roles:
    return Roles.model_validate(
        {
            "subject": "person",
            "columns": {
                **ROLES,
                **dict.fromkeys(THINGS, "items"),
                "area": "items",
                "age": {"role": "items", "as": "numbers"},
                "words": {"role": "items", "as": "words"},
                "ill": "label",
            },
        }
    )


def ordinary() -> pa.Table:
    """Return 240 people, of whom a quarter have two rows; canaries in what never leaves.

    The first row holds nothing, so that nobody misses it; the last columns tell of the label.
    """
    rng = np.random.default_rng(7)
    of = np.concatenate([np.arange(PEOPLE), np.arange(0, PEOPLE, 4)])
    things = [rng.random(PEOPLE) < share for share in (0.5, 0.25, 0.1)]
    area = rng.choice(AREAS, PEOPLE, p=[0.6, 0.3, 0.1])
    age = rng.integers(20, 70, PEOPLE)
    score = 2.0 * things[0] + 2.5 * things[1] + 3.0 * things[2] + 2.0 * (area == "south")
    ill = rng.random(PEOPLE) < 1 / (1 + np.exp(2.5 - score - (age > 45)))
    said = rng.choice(["fever", "cough", "fever cough", "", "rare fever"], PEOPLE)
    table = _table(
        names(of),
        [[str(int(x)) for x in thing[of]] for thing in things],
        area[of].tolist(),
        age[of].tolist(),
        said[of].tolist(),
        np.where(ill, "yes", "no")[of].tolist(),
    )
    nothing = _table(["CANARYPERSON0000"], [["0"]] * 3, [None], [None], [""], ["no"])
    return pa.concat_tables([nothing, table.slice(1)])


def limits() -> dict[str, tuple[pa.Table, bool]]:
    """Return limit cases, and whether they can be worked on: the others are refused."""
    whole = ordinary()
    n = 30
    everyone = names(range(n))
    halves = [("yes", "no")[i % 2] for i in range(n)]
    one = ([["1"] * n] * 3, ["north"] * n, [40] * n, ["fever"] * n)
    bits = [[str(i >> bit & 1) for i in range(n)] for bit in range(3)]
    unique = (bits, [f"area {i}" for i in range(n)], [40] * n, ["fever"] * n)
    nulls = ([["0", "1"] * (n // 2)] * 3, [None] * n, [None] * n, [None] * n)
    twice = pa.Table.from_arrays([*whole.columns, whole["tea"]], [*whole.column_names, "tea"])
    nan = pa.array([float("nan"), *([0.0, 1.0] * len(whole))][: len(whole)])
    zeros = pa.array(([-0.0, 0.0, 1.0] * len(whole))[: len(whole)])
    return {
        "one row": (whole.slice(0, 1), False),
        "empty": (whole.slice(0, 0), False),
        "all rows equal": (_table(["CANARYPERSON"] * n, *one, ["yes"] * n), False),
        "all people equal": (_table(everyone, *one, halves), False),
        "all unique": (_table(everyone, *unique, halves), True),
        "nulls": (_table([None, *everyone[1:]], *nulls, halves), True),
        "NaN": (put(whole, "tea", nan), False),
        "-0.0": (put(whole, "tea", zeros), True),
        "NaN in a kept column": (put(whole, "weight", nan), True),
        "-0.0 in a kept column": (put(whole, "weight", zeros), True),
        "two columns of one name": (twice, False),
        "a column without a role": (whole.append_column("more", whole["tea"]), False),
        "a column too few": (whole.drop_columns(["ward"]), False),
    }


def outside(table: pa.Table, canary: str) -> pa.Table:
    """Return the table with one cell that no policy of its kit speaks of."""
    return put(table, "tea", pa.array([canary, *table["tea"].to_pylist()[1:]]))


def options(folder: Path) -> dict[str, dict[str, object]]:
    """Return the settings of each verb; people who were never there are the control."""
    pq.write_table(ordinary().slice(0, 60), folder / "control.parquet")
    return {
        "fit": {},
        "impossible": {"k": [239]},
        "held out": {"hold_out": 0.2},
        "apply": {},
        "attack": {"targets": 100},
    }


def _table(
    person: list[str | None],
    things: list[list[str]],
    area: list[str | None],
    age: list[int | None],
    words: list[str | None],
    ill: list[str],
) -> pa.Table:
    return table_of(
        person,
        {
            **{name: pa.array(x, pa.string()) for name, x in zip(THINGS, things, strict=True)},
            "area": pa.array(area, pa.string()),
            "age": pa.array(age, pa.int64()),
            "words": pa.array(words, pa.string()),
            "ill": pa.array(ill, pa.string()),
        },
    )
