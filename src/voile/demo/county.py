"""A made-up county: its register, its population table, and patients drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data.files.atomic import write_folder
from voile.data.files.outputs import OutputKind, holds_only
from voile.demo.people import make_register
from voile.demo.visits import make_patients
from voile.keys.random import RandomState, streams

__all__ = [
    "QUASI",
    "ROLES",
    "DemoCounty",
    "leave_some_out",
    "make_county",
    "register_with_errors",
    "write_county",
]

QUASI = ("age", "sex", "race", "zip")

ROLES = """\
subject = "person_id"

[columns]
visit_id = "identifier"
person_id = "identifier"
given_name = "identifier"
family_name = "identifier"
birth_date = "identifier"       # the age is released instead
age = "quasi"
sex = "quasi"
race = "quasi"
zip = "quasi"
insurance = "drop"              # kept as they are, these three would single people out
visit_date = "drop"             # a day of admission is known to many
ward = "drop"
diagnosis = "sensitive"
length_of_stay = "drop"
"""

SEED = 2013
_README = """\
A made-up county
================

Nobody in these files exists. Names, births, homes and illnesses were drawn at random, and the
ZIP codes belong to no place that was meant. Any likeness to a person is chance.

register.csv            everyone on 1 July 2013, with names: what a steward would never release
population.parquet      how many people have each age, sex, race and ZIP code
patients.csv            a year of visits to the county's hospital, from 1 July 2013: the source
register-adversary.csv  the register as an adversary holds it: age off by one in 5%,
                        another ZIP code in 8%, race missing in 3%, 5% of people missing

Ages are completed years on 1 July 2013, in every file and on every visit. ZIP codes are text:
00201 is not 201.
"""


@dataclass(frozen=True)
class DemoCounty:
    """A made-up county as three Arrow tables.

    Parameters
    ----------
    register : one row per person: person_id, given_name, family_name, birth_date, age, sex, race,
        zip, insurance.
    population : one row for each occurring combination of age, sex, race and zip, with its number
        of people.
    patients : one row per visit: visit_id, the register's columns, visit_date, ward, diagnosis,
        length_of_stay.
    """

    register: pa.Table
    population: pa.Table
    patients: pa.Table


def make_county(seed: RandomState = SEED, people: int = 100_000) -> DemoCounty:
    """Make up a county. The same seed gives the same county.

    Every patient is in the register and has its values on every visit. So no group of patients is
    larger than its population. With 100,000 people, three of the six ZIP3 areas have fewer than
    20,000.

    >>> county = make_county(people=1000)
    >>> len(county.register), len(county.patients["person_id"].unique())
    (1000, 80)
    """
    if people < 100:
        raise RequestError(
            f"the county has {people} people, which are too few", instead="use 100 people or more"
        )
    register = make_register(seed, people)
    return DemoCounty(register, count_people(register), make_patients(seed, register))


def count_people(register: pa.Table) -> pa.Table:
    """Count people by age, sex, race and zip, in that order, in the column ``people``."""
    counts = register.group_by(list(QUASI)).aggregate([([], "count_all")])
    ordered = counts.select([*QUASI, "count_all"]).rename_columns([*QUASI, "people"])
    return ordered.sort_by([(name, "ascending") for name in QUASI])


def write_county(county: DemoCounty, folder: Path, *, force: bool = False) -> None:
    """Write the county as a folder, which appears completely or not at all.

    The files are register.csv, population.parquet, patients.csv, register-adversary.csv, and a
    README.txt. The README explains that the data are made up.
    """
    adversary = leave_some_out(register_with_errors(county.register, SEED), SEED)
    with write_folder(folder, COUNTY, force=force) as new:
        pyarrow.csv.write_csv(county.register, new / "register.csv")
        pyarrow.parquet.write_table(county.population, new / "population.parquet")
        pyarrow.csv.write_csv(county.patients, new / "patients.csv")
        pyarrow.csv.write_csv(adversary, new / "register-adversary.csv")
        (new / "README.txt").write_text(_README, encoding="utf-8")


def _is_county(folder: Path) -> bool:
    """Return whether `write_county` wrote a folder, and no file was added to it."""
    readme = folder / "README.txt"
    return (
        readme.is_file() and readme.read_bytes() == _README.encode() and holds_only(folder, FILES)
    )


FILES = frozenset(
    {
        "README.txt",
        "patients.csv",
        "population.parquet",
        "register-adversary.csv",
        "register.csv",
    }
)
COUNTY = OutputKind("a made-up county", {"": _is_county})


AGE_OFF, MOVED, RACE_MISSING, LACKING = 0.05, 0.08, 0.03, 0.05


def register_with_errors(register: pa.Table, seed: RandomState = 2013) -> pa.Table:
    """Return the register with an adversary's errors, with the same people in the same rows.

    Each error affects its own random sample of all people:

    - 5% have an age one year off, up or down, with a matching birth date.
    - 8% have another ZIP code.
    - 3% have no race.
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
    """Return the register without the 5% of people that the adversary does not know."""
    (lacking,) = streams(seed, "people the register lacks")
    here = np.ones(len(register), dtype=bool)
    here[_some(lacking, len(register), LACKING)] = False
    return register.filter(pa.array(here))


def _some(rng: np.random.Generator, n: int, share: float) -> NDArray[np.int64]:
    return rng.permutation(n)[: round(share * n)]


def _earlier(day: NDArray[np.datetime64], years: NDArray[np.int64]) -> NDArray[np.datetime64]:
    """Move days back by whole years. 29 February becomes 28 February."""
    month = day.astype("datetime64[M]")
    leap_day = (month.astype(np.int64) % 12 == 1) & (day - month == np.timedelta64(28, "D"))
    in_month = day - month - leap_day.astype("timedelta64[D]")
    earlier: NDArray[np.datetime64] = (month - 12 * years).astype("datetime64[D]") + in_month
    return earlier
