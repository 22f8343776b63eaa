"""Generate ids of equivalence classes that reveal only which rows share a class."""

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
    """Ids for the classes of one release, derived with a key that is discarded.

    An id is 60 random bits, written with a letter first, so that no program reads it as a number.
    It reveals neither the order nor the size of a class. Two releases share no ids.
    """

    key: bytes = field(default_factory=lambda: ProtectiveRandom().bytes(32), repr=False)

    def __call__(self, codes: NDArray[np.int32]) -> pa.Array:
        """Return the id of each row. `codes` (rows, columns) are its published intervals."""
        classes, place = np.unique(codes, axis=0, return_inverse=True)
        ids = pa.array([self._id(row.tobytes()) for row in classes], pa.string())
        return ids.take(pa.array(place))

    def _id(self, codes: bytes) -> str:
        return f"c{hashlib.blake2b(codes, key=self.key).hexdigest()[:15]}"
