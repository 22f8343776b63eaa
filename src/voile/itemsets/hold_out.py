"""Who is left out of a fit: people set aside to compare attacks with, and rows without a label."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

SCALE = 2**64


@dataclass(frozen=True)
class HoldOut:
    """Hold out a `share` of subjects in [0, 1), drawn by a `key`, so that apply draws the same.

    Without a subject every row is a person, drawn by its number; a row whose subject is null is
    nobody's, and never held out.
    """

    share: float
    key: bytes
    subject: str | None

    def held(self, batch: pa.RecordBatch, first_row: int) -> NDArray[np.bool_]:
        """Say which rows of a batch, the first of them numbered `first_row`, are held out."""
        if self.share == 0:
            return np.zeros(len(batch), dtype=np.bool_)
        if self.subject is None:
            names = (str(row) for row in range(first_row, first_row + len(batch)))
            return np.fromiter((self._draw(name) for name in names), np.bool_, len(batch))
        people = batch.column(self.subject).dictionary_encode(null_encoding="encode")
        named = people.dictionary.to_pylist()
        drawn = np.array([n is not None and self._draw(str(n)) for n in named], dtype=np.bool_)
        return np.asarray(drawn[people.indices.to_numpy(zero_copy_only=False)])

    def _draw(self, name: str) -> bool:
        digest = hashlib.blake2b(name.encode(), key=self.key, digest_size=8).digest()
        return int.from_bytes(digest, "big") < self.share * SCALE


def unlabelled(batch: pa.RecordBatch, label: str | None) -> NDArray[np.bool_]:
    """Say which rows have no label, where there is a column of labels."""
    if label is None:
        return np.zeros(len(batch), dtype=np.bool_)
    return np.asarray(batch.column(label).is_null(nan_is_null=True).to_numpy(zero_copy_only=False))
