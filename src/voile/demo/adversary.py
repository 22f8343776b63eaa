"""The register as an adversary holds it: a little old, a little wrong."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.keys.random import RandomState, streams

AGE_OFF, MOVED, RACE_MISSING, LACKING = 0.05, 0.08, 0.03, 0.05


def register_with_errors(register: pa.Table, seed: RandomState = 2013) -> pa.Table:
    """Return the register with an adversary's errors, the same people in the same rows.

    Of all people, drawn apart for each error: 5% have an age one year off, up or down, and a
    birth date that says the same; 8% have another ZIP code; 3% have no race.
    """
    ageing, moving, forgetting = streams(seed, "age errors", "zip errors", "race errors")
    n = len(register)

    age = register["age"].to_numpy().copy()
    wrong = _some(ageing, n, AGE_OFF)
    years = np.where(age[wrong] > 0, ageing.choice([-1, 1], size=len(wrong)), 1)
    age[wrong] += years
    births = register["birth_date"].to_numpy().copy()
    births[wrong] = _earlier(births[wrong], years)

    zips, home = np.unique(register["zip"].to_numpy().astype(str), return_inverse=True)
    moved = _some(moving, n, MOVED)
    home[moved] = (home[moved] + moving.integers(1, len(zips), size=len(moved))) % len(zips)

    unknown = np.zeros(n, dtype=bool)
    unknown[_some(forgetting, n, RACE_MISSING)] = True
    wrongly = {
        "birth_date": pa.array(births),
        "age": pa.array(age),
        "race": pc.if_else(unknown, None, register["race"]),
        "zip": pa.array(zips.tolist()).take(pa.array(home)),
    }
    return pa.table({name: wrongly.get(name, register[name]) for name in register.column_names})


def leave_some_out(register: pa.Table, seed: RandomState = 2013) -> pa.Table:
    """Return the register without the 5% of people whom the adversary never heard of."""
    (lacking,) = streams(seed, "people the register lacks")
    here = np.ones(len(register), dtype=bool)
    here[_some(lacking, len(register), LACKING)] = False
    return register.filter(pa.array(here))


def _some(rng: np.random.Generator, n: int, share: float) -> NDArray[np.int64]:
    return rng.permutation(n)[: round(share * n)]


def _earlier(day: NDArray[np.datetime64], years: NDArray[np.int64]) -> NDArray[np.datetime64]:
    """Move days back by whole years; 29 February becomes the 28th."""
    month = day.astype("datetime64[M]")
    leap_day = (month.astype(np.int64) % 12 == 1) & (day - month == np.timedelta64(28, "D"))
    in_month = day - month - leap_day.astype("timedelta64[D]")
    earlier: NDArray[np.datetime64] = (month - 12 * years).astype("datetime64[D]") + in_month
    return earlier
