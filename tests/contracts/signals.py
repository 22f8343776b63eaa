"""Tiny tables of readings for the contract tests (see `Case` in conftest.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from tests.contracts.people import CANARIES as CANARIES
from tests.contracts.people import ROLES, names, put, table_of

from voile.data.roles import Roles

PEOPLE = 240
MOODS = ("calm", "glad", "low")
LIMIT = "max_relative_risk"
OWN_ROLES = {"reading", "private", "known"}
NAMED_BY: tuple[str, ...] = ()


def roles() -> Roles:
    return Roles.model_validate(
        {
            "subject": "person",
            "columns": {
                **ROLES,
                "pulse": "reading",
                "pressure": {"role": "reading", "resolution": 0.5},
                "mood": {"role": "reading", "nominal": True},
                "ill": "private",
            },
        }
    )


def ordinary() -> pa.Table:
    """Return 240 people, of whom a quarter have two rows; canaries in what never leaves."""
    rng = np.random.default_rng(7)
    of = np.concatenate([np.arange(PEOPLE), np.arange(0, PEOPLE, 4)])
    ill = (np.arange(PEOPLE) % 2 == 0)[of]
    return _table(
        names(of),
        np.rint(rng.normal(np.where(ill, 95, 70), np.where(ill, 9, 6))).tolist(),
        (np.rint(2 * rng.normal(np.where(ill, 140, 120), 10)) / 2).tolist(),
        [MOODS[i] for i in np.where(ill, rng.integers(0, 3, len(of)), rng.integers(0, 2, len(of)))],
        np.where(ill, "yes", "no").tolist(),
    )


def limits() -> dict[str, tuple[pa.Table, bool]]:
    """Return limit cases, and whether they can be worked on: the others are refused."""
    whole = ordinary()
    n = 60
    everyone = names(range(n))
    halves = [("yes", "no")[i % 2] for i in range(n)]
    one = ([70.0] * n, [120.0] * n, ["calm"] * n)
    unique = ([60.0 + i for i in range(n)], [100.0 + i / 2 for i in range(n)], ["calm"] * n)
    twice = pa.Table.from_arrays([*whole.columns, whole["pulse"]], [*whole.column_names, "pulse"])
    pulse = whole["pulse"].to_pylist()
    mood = pa.array([None, *whole["mood"].to_pylist()[1:]])
    zeros = pa.array([-0.0, 0.0, 1.0, 2.0, 1.0] * (len(whole) // 5))
    return {
        "one row": (whole.slice(0, 1), False),
        "empty": (whole.slice(0, 0), False),
        "all rows equal": (_table(["CANARYPERSON"] * n, *one, ["yes"] * n), False),
        "all people equal": (_table(everyone, *one, halves), False),
        "all unique": (_table(everyone, *unique, [f"class {i}" for i in range(n)]), False),
        "nulls": (put(put(whole, "pulse", pa.array([None, *pulse[1:]])), "mood", mood), True),
        "NaN": (put(whole, "pulse", pa.array([float("nan"), float("inf"), *pulse[2:]])), True),
        "-0.0": (put(whole, "pulse", zeros), True),
        "NaN in a kept column": (put(whole, "weight", pa.array([float("nan")] * len(whole))), True),
        "-0.0 in a kept column": (put(whole, "weight", zeros), True),
        "two columns of one name": (twice, False),
        "a column without a role": (whole.append_column("more", whole["pulse"]), False),
        "a column too few": (whole.drop_columns(["ward"]), False),
    }


def outside(table: pa.Table, canary: str) -> pa.Table:
    """Return the table with one cell that no policy of its kit speaks of."""
    return put(table, "mood", pa.array([canary, *table["mood"].to_pylist()[1:]]))


def options(folder: Path) -> dict[str, dict[str, object]]:
    """Return the settings of each verb."""
    fit = {"method": ["normal"], "strength": [0, 0.5, 0.75, 1]}
    return {
        "fit": fit,
        "impossible": {**fit, "bits": 0},
        "held out": {**fit, "hold_out": 0.2},
        "apply": {"missing": "pass", "no_pseudonyms": True},
        "attack": {"permutations": 5},
    }


def _table(
    person: list[str | None],
    pulse: list[float],
    pressure: list[float],
    mood: list[str],
    ill: list[str],
) -> pa.Table:
    return table_of(
        person,
        {
            "pulse": pa.array(pulse, pa.float64()),
            "pressure": pa.array(pressure, pa.float64()),
            "mood": pa.array(mood, pa.string()),
            "ill": pa.array(ill, pa.string()),
        },
    )
