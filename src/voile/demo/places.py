"""The county's ZIP codes: text, some with leading zeros, in six areas, three of them small."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# ZIP3 area, ZIP codes in it, share of the county's people. The areas under 20,000 of 100,000
# people (003, 269, 343) do not lie side by side, and 099 is just over.
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
_SAMENESS = 30.0  # how alike the ZIP codes are in their shares of races; 0 is not at all


@dataclass(frozen=True)
class Places:
    """The ZIP codes in order; their shares of people (z,); of each race in each (z, races)."""

    zips: tuple[str, ...]
    shares: NDArray[np.float64]
    races: NDArray[np.float64]


def make_places(rng: np.random.Generator) -> Places:
    """Lay out the county: larger and smaller ZIP codes in each area, each with its own people."""
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
    return Places(tuple(zips), people, races / races.sum(axis=1, keepdims=True))
