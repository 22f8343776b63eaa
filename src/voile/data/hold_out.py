"""Hold people out before the fit, as a control group for attacks.

A key and the subject alone determine whether a person is held out. Fit, apply and attack therefore
agree without a list of people. The key stays in the kit, which is private.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.data import Source
from voile.keys.macs import tokens_of, utf8_of

SCALE = 2**64


@dataclass(frozen=True)
class HoldOut(BriefRepr):
    """A rule that holds out a `share` of the subjects, in [0, 1), drawn with a `key`."""

    shows = ("share",)

    share: float
    key: bytes
    subject: str | None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a hold-out contains its secret key and cannot be pickled")

    def to_data(self) -> dict[str, Any]:
        return {"share": self.share, "key": self.key.hex()}

    @classmethod
    def from_data(cls, data: Mapping[str, Any], subject: str | None) -> HoldOut:
        return cls(data["share"], bytes.fromhex(data["key"]), subject)

    def find_held(self, batch: pa.RecordBatch, first_row: int) -> NDArray[np.bool_]:
        """Return a mask of the held-out rows of a batch. Its first row has the number `first_row`.

        Without a subject column, every row is a person, drawn by its number. A row with a null
        subject belongs to nobody, and is never held out.
        """
        if self.share == 0:
            return np.zeros(len(batch), dtype=np.bool_)
        if self.subject is None:
            rows = range(first_row, first_row + len(batch))
            return self._draw([b"%d" % row for row in rows])
        people = batch.column(self.subject).cast(pa.string()).dictionary_encode()
        places = people.indices.fill_null(len(people.dictionary)).to_numpy()
        drawn = np.append(self._draw(utf8_of(people.dictionary)), False)
        return np.asarray(drawn[places])

    def _draw(self, names: Sequence[bytes]) -> NDArray[np.bool_]:
        return tokens_of(self.key, names) < np.uint64(ceil(self.share * SCALE))


class TrainingSource(Source):
    """A source without its held-out people."""

    def __init__(self, source: Source, hold_out: HoldOut) -> None:
        fields = [pa.field(name, type_) for name, type_ in source.columns.items()]
        super().__init__(source.name, source.kind, fields, source.notes)
        self._source = source
        self._hold_out = hold_out

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        subject = self._hold_out.subject
        wanted = columns if subject is None or subject in columns else [*columns, subject]
        first = 0
        for batch in self._source.batches(wanted, batch_rows=rows):
            learnt = batch.filter(pa.array(~self._hold_out.find_held(batch, first)))
            yield learnt.select(columns)
            first += len(batch)

    @property
    def origin(self) -> Source:
        """The source including its held-out people."""
        return self._source

    def fingerprint(self) -> str:
        """Return a hash of the whole source, including held-out people."""
        return self._source.fingerprint()
