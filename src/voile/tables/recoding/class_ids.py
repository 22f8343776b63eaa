"""Ids of equivalence classes, which reveal nothing but which rows share one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.keys.random import ProtectiveRandom

CLASS = pa.field("class", pa.string())


@dataclass(frozen=True)
class ClassIds(BriefRepr):
    """Name the classes of one release, under a key that nobody keeps.

    An id is 60 random bits, written with a letter first, so that no program takes it for a number.
    Neither order nor size of a class can be found from it, and two releases share none.
    """

    key: bytes = field(default_factory=lambda: ProtectiveRandom().bytes(32), repr=False)

    def __call__(self, codes: NDArray[np.int32]) -> pa.Array:
        """Return the id of each row, whose published intervals are `codes` (rows, columns)."""
        classes, place = np.unique(codes, axis=0, return_inverse=True)
        ids = pa.array([self._id(row.tobytes()) for row in classes], pa.string())
        return ids.take(pa.array(place))

    def _id(self, codes: bytes) -> str:
        return f"c{hashlib.blake2b(codes, key=self.key).hexdigest()[:15]}"
