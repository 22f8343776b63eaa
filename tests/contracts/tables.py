"""Tiny tables of people for the contract tests.

The file of every kind of data defines the same names: `ordinary`, `limits`, `roles` and `options`
(see `Case` in conftest.py).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.contracts.people import ROLES, names, put, table_of

from voile.data.roles import Roles

PEOPLE = 240
AGES, SEXES, ZIPS = tuple(range(20, 40)), ("F", "M"), ("00501", "37201", "37202", "38101")
LIMIT = "max_relative_risk"
OWN_ROLES = {"quasi", "weight"}
NAMED_BY: tuple[str, ...] = ("domains", "trees")


def roles() -> Roles:
    return Roles.model_validate(
        {
            "subject": "person",
            "columns": {
                **ROLES,
                "age": "quasi",
                "sex": "quasi",
                "zip": "quasi",
                "diagnosis": "sensitive",
            },
        }
    )


def ordinary() -> pa.Table:
    """Return 240 people, of whom a quarter have two rows; canaries in what never leaves."""
    rng = np.random.default_rng(7)
    of = np.concatenate([np.arange(PEOPLE), np.arange(0, PEOPLE, 4)])
    age, sex, zips = (rng.choice(values, PEOPLE)[of] for values in (AGES, SEXES, ZIPS))
    return _table(
        names(of),
        age.tolist(),
        sex.tolist(),
        zips.tolist(),
        rng.choice(["asthma", "flu", "gout"], len(of)).tolist(),
    )


def limits() -> dict[str, tuple[pa.Table, bool]]:
    """Return limit cases, and whether they can be worked on: the others are refused."""
    whole = ordinary()
    n = 30
    everyone = names(range(n))
    one = ([30] * n, ["F"] * n, ["37201"] * n, ["flu"] * n)
    unique = (
        [AGES[i % 20] for i in range(n)],
        [SEXES[i // 20] for i in range(n)],
        [ZIPS[0]] * n,
        ["flu"] * n,
    )
    nulls = ([None, *one[0][1:]], [None, *one[1][1:]], [*one[2][1:], None], [None] * n)
    twice = pa.Table.from_arrays([*whole.columns, whole["zip"]], [*whole.column_names, "zip"])
    nan = pa.array([float("nan"), *(float(a) for a in whole["age"].to_pylist()[1:])])
    zeros = pa.array([-0.0, 0.0] * (len(whole) // 2), pa.float64())
    return {
        "one row": (whole.slice(0, 1), True),
        "empty": (whole.slice(0, 0), False),
        "all rows equal": (_table(["CANARYPERSON"] * n, *one), True),
        "all people equal": (_table(everyone, *one), True),
        "all unique": (_table(everyone, *unique), True),
        "nulls": (_table([None, *everyone[1:]], *nulls), True),
        "NaN": (put(whole, "age", nan), False),
        "-0.0": (put(whole, "age", zeros), False),
        "NaN in a kept column": (put(whole, "weight", nan), True),
        "-0.0 in a kept column": (put(whole, "weight", zeros), True),
        "two columns of one name": (twice, False),
        "a column without a role": (whole.append_column("more", whole["zip"]), False),
        "a column too few": (whole.drop_columns(["ward"]), False),
    }


def outside(table: pa.Table, canary: str) -> pa.Table:
    """Return the table with one cell that no policy of its kit speaks of."""
    cells = [canary, *table["zip"].to_pylist()[1:]]
    return put(table, "zip", pa.array(cells))


def options(folder: Path) -> dict[str, dict[str, object]]:
    """Write what the adversary and the fit read beside the source, and name it."""
    whole = ordinary()
    grid = [(a, s, z) for a in AGES for s in SEXES for z in ZIPS]
    people = np.random.default_rng(8).integers(2, 40, len(grid)).tolist()
    counts = pa.table(
        {name: [cell[i] for cell in grid] for i, name in enumerate(("age", "sex", "zip"))}
        | {"people": people}
    )
    pq.write_table(counts, folder / "population.parquet")
    register = whole.slice(0, PEOPLE).select(["person", "age", "sex", "zip"])
    pq.write_table(register, folder / "register.parquet")
    population = str(folder / "population.parquet")
    fit = {"population": [population], "population_gap": "sample", "method": "steepest"}
    return {
        "fit": fit,
        "impossible": {**fit, "k": 10**6},
        "held out": {**fit, "hold_out": 0.2},
        "apply": {"no_pseudonyms": True},
        "attack": {"register": str(folder / "register.parquet"), "population": population},
    }


def _table(
    person: list[str | None],
    age: list[int | None],
    sex: list[str | None],
    zips: list[str | None],
    diagnosis: list[str | None],
) -> pa.Table:
    return table_of(
        person,
        {
            "age": pa.array(age, pa.int64()),
            "sex": pa.array(sex, pa.string()),
            "zip": pa.array(zips, pa.string()),
            "diagnosis": pa.array(diagnosis, pa.string()),
        },
    )
