"""Names for people who do not exist: common given names, family names made of syllables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def words(*lines: str) -> list[str]:
    return " ".join(lines).split()


FEMALE = words(
    "Ada Agnes Alice Amelia Anna Beatrice Bella Carla Cecilia Clara Cora Daisy Diana Dora Edith",
    "Elena Elsa Emily Emma Esther Eva Fiona Flora Frida Gloria Grace Hanna Helen Ida Ines Irene",
    "Iris Jane Joan Julia Karen Laura Lena Lily Lucia Lydia Maria Martha Maya Mina Nadia Nina",
    "Nora Olga Olivia Paula Petra Rita Rosa Ruth Sara Silvia Sofia Stella Tina Vera Viola Zoe",
)
MALE = words(
    "Aaron Adam Alan Albert Alex Anton Arthur Ben Bruno Carl Cesar Chris Conrad Daniel David",
    "Dennis Edgar Eli Emil Eric Ernest Felix Frank Fred Gabriel George Gordon Gus Harry Hector",
    "Henry Hugo Ian Isaac Ivan Jack Jacob James Joel John Jonas Karl Kevin Leo Louis Luke Marco",
    "Mark Martin Max Miles Nathan Noah Oscar Otto Owen Paul Peter Ralph Robert Simon Theo Tom",
)
_STARTS = words(
    "Bal Bren Cal Cor Dar Del Fal Fen Gar Hal Har Kel Lam Lor Mar Mel Nor Pel Ral Ros Sal Tar",
    "Tol Ver Wal Wil",
)
_MIDDLES = ["", "a", "e", "i", "o", "ba", "de", "ka", "li", "mo", "ne", "ra", "si", "ta"]
_ENDS = words("by dan den der fin gren kin len lin low met nor pen ran rik sen ter tin ton vin")


def given_names(rng: np.random.Generator, female: NDArray[np.bool_]) -> pa.Array:
    """Draw a given name for each person as (n,) strings. A few names are common."""
    names = [*rng.permutation(FEMALE).tolist(), *rng.permutation(MALE).tolist()]
    women, men = (_ranks(rng, len(female), len(each), exponent=0.5) for each in (FEMALE, MALE))
    return pa.array(names).take(pa.array(np.where(female, women, men + len(FEMALE))))


def family_names(rng: np.random.Generator, n: int) -> pa.Array:
    """Draw n family names as strings. A few names are common."""
    names = rng.permutation([a + b + c for a in _STARTS for b in _MIDDLES for c in _ENDS]).tolist()
    return pa.array(names).take(pa.array(_ranks(rng, n, len(names), exponent=0.6)))


def _ranks(rng: np.random.Generator, n: int, ranks: int, *, exponent: float) -> NDArray[np.int64]:
    """Draw n ranks from 0. Rank r has the weight 1 / (r + 1)^exponent."""
    weights = (np.arange(ranks) + 1.0) ** -exponent
    return rng.choice(ranks, size=n, p=weights / weights.sum())
