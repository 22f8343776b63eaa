"""The county's places, and its register: all people on a date, with name, birth and address."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.demo.names import family_names, given_names
from voile.keys.random import RandomState, streams

# ZIP3 area, ZIP codes in it, share of the county's people. The areas under 20,000 of 100,000
# people (003, 269, 343) are not adjacent, and 099 is just over.
AREAS = (
    ("002", 14, 0.275),
    ("003", 10, 0.135),
    ("004", 13, 0.246),
    ("099", 11, 0.214),
    ("269", 4, 0.036),
    ("343", 8, 0.094),
)
RACES = ("White", "Hispanic", "Black", "Asian", "Two or more", "Native")
RACE_SHARES = (0.620, 0.170, 0.120, 0.055, 0.025, 0.010)
_SAMENESS = 30.0  # similarity of the ZIP codes' shares of races; 0 is none


@dataclass(frozen=True)
class CountyPlaces:
    """The ZIP codes in order, with their shares of people (z,) and of each race (z, races)."""

    zips: tuple[str, ...]
    shares: NDArray[np.float64]
    races: NDArray[np.float64]


def make_places(rng: np.random.Generator) -> CountyPlaces:
    """Make up the county's ZIP codes, with different sizes and shares of races in each area."""
    zips: list[str] = []
    shares: list[NDArray[np.float64]] = []
    for prefix, count, share in AREAS:
        zips += [f"{prefix}{7 * i + 1:02d}" for i in range(count)]
        sizes = rng.permutation((np.arange(count) + 1.0) ** -0.7)
        shares.append(share * sizes / sizes.sum())
    races = rng.dirichlet(_SAMENESS * np.array(RACE_SHARES), size=len(zips))
    people = np.concatenate(shares)
    # Scale each race back to its share of the county.
    races *= np.array(RACE_SHARES) / (people @ races)
    return CountyPlaces(tuple(zips), people, races / races.sum(axis=1, keepdims=True))


REFERENCE_YEAR = 2013  # ages are completed years on 1 July of this year
OLDEST = 104
INSURANCE = ("private", "public", "senior", "none")


def make_register(seed: RandomState, people: int) -> pa.Table:
    """Make up a register with one row per person. The order of the ids reveals nothing.

    The columns are person_id, given_name, family_name, birth_date, age (0 to 104), sex (F, M),
    race, zip (text) and insurance.
    """
    purposes = ("places", "ages", "homes", "names", "insurance")
    layout, ages, homes, names, insurance = streams(seed, *purposes)
    places = make_places(layout)
    age = ages.choice(OLDEST + 1, size=people, p=age_shares())
    female = ages.random(people) < 0.49 + 0.21 * np.clip((age - 50) / 45, 0, 1)
    home = homes.choice(len(places.zips), size=people, p=places.shares)
    return pa.table(
        {
            "person_id": pa.array([f"P{i + 1:06d}" for i in range(people)]),
            "given_name": given_names(names, female),
            "family_name": family_names(names, people),
            "birth_date": pa.array(_births(ages, age)),
            "age": pa.array(age),
            "sex": pa.array(["M", "F"]).take(pa.array(female.astype(np.int8))),
            "race": pa.array(RACES).take(pa.array(draw(homes, places.races[home]))),
            "zip": pa.array(places.zips).take(pa.array(home)),
            "insurance": pa.array(INSURANCE).take(pa.array(_insurance(insurance, age))),
        }
    )


def age_shares() -> NDArray[np.float64]:
    """Return the share of people of each age, (105,), from births reduced by Gompertz mortality."""
    age = np.arange(OLDEST + 1.0)
    births = np.exp(-0.006 * age) * (1 + 0.15 * np.exp(-(((age - 55) / 8) ** 2)))  # a baby boom
    alive = np.exp(-1.85e-4 * (np.exp(0.1 * age) - 1))
    shares: NDArray[np.float64] = births * alive / (births * alive).sum()
    return shares


def draw(rng: np.random.Generator, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw a column number in 0..m-1 for each row of non-negative weights (n, m), as (n,) int64."""
    steps = np.cumsum(weights, axis=1)
    drawn: NDArray[np.int64] = (rng.random((len(weights), 1)) * steps[:, -1:] >= steps).sum(axis=1)
    return drawn


def _births(rng: np.random.Generator, age: NDArray[np.int64]) -> NDArray[np.datetime64]:
    """Return a random day of birth for each age, uniform over the year that gives this age."""
    last = _first_of_july(REFERENCE_YEAR - age)
    days = (last - _first_of_july(REFERENCE_YEAR - age - 1)).astype(np.int64)
    return last - rng.integers(0, days)


def _first_of_july(year: NDArray[np.int64]) -> NDArray[np.datetime64]:
    return ((year - 1970) * 12 + 6).astype("datetime64[M]").astype("datetime64[D]")


def _insurance(rng: np.random.Generator, age: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw one of `INSURANCE` for each person.

    ``senior`` is frequent from age 65, and rare before.
    """
    bands = np.array([[0.52, 0.41, 0.0, 0.07], [0.66, 0.17, 0.03, 0.14], [0.05, 0.04, 0.9, 0.01]])
    return draw(rng, bands[np.digitize(age, [19, 65])])
