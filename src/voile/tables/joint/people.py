"""Record who has rows in a release, and in which groups, as private keyed tokens.

A release of next month's rows differs from this month's release by people who came, left or
changed. An adversary with both sees the difference. A later release is therefore evaluated with the
people of this one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.release.manifest import WHO

N = TypeVar("N", bound=np.generic)
Tokens = NDArray[np.uint64]
DOMAINS, SHOWN = "domains.parquet", "shown"
ABSENT = np.uint64(0)


@dataclass(frozen=True, eq=False)
class ReleasedPeople(BriefRepr):
    """The people of a release.

    Attributes
    ----------
    who : (people,) keyed tokens, ascending.
    shown : (people,) a joint token of the groups of each person's rows, or `ABSENT` for people
        without a row in the release.
    kept : (people,) a token of each person's values, by the keyed hash of a kept column.
    """

    shows = ()

    who: Tokens
    shown: Tokens
    kept: Mapping[str, Tokens]

    @classmethod
    def of_rows(
        cls, who: Tokens, shown: Tokens, kept: Mapping[str, Tokens], *, are_joined: bool
    ) -> ReleasedPeople:
        """Join the rows of each person, in any order.

        Parameters
        ----------
        are_joined : whether a release shows which rows belong to one person. If so, a group that
            contains several of a person's rows counts once for each row, and otherwise once. All
            rows count for kept values, since one more row shows a change.
        """
        order = np.lexsort((shown, who))
        people, first = np.unique(who[order], return_index=True)
        again = np.zeros(len(who), np.bool_)
        again[1:] = (np.diff(who[order]) == 0) & (np.diff(shown[order]) == 0)

        def each(tokens: Tokens, once: bool = False) -> Tokens:
            mixed = np.where(tokens == ABSENT, ABSENT, mix(tokens))[order]
            mixed = np.where(again, ABSENT, mixed) if once else mixed
            return np.add.reduceat(mixed, first) if len(first) else mixed

        kept_of_each = {name: each(one) for name, one in kept.items()}
        return cls(people, each(shown, once=not are_joined), kept_of_each)

    def __len__(self) -> int:
        return len(self.who)

    def has(self, who: Tokens) -> NDArray[np.bool_]:
        """Return a mask of the given tokens that belong to these people."""
        return np.asarray(np.isin(who, self.who))

    def look_up(self, values: NDArray[N], who: Tokens) -> NDArray[N]:
        """Return the value of each person in `who`, or 0 for people not in the release."""
        if not len(self):
            return np.zeros(len(who), values.dtype)
        place = np.minimum(np.searchsorted(self.who, who), len(self) - 1)
        return np.where(self.who[place] == who, values[place], values.dtype.type(0))

    def select_released(self) -> ReleasedPeople:
        """Return the people who have a released row."""
        there = self.shown != ABSENT
        kept = {name: one[there] for name, one in self.kept.items()}
        return ReleasedPeople(self.who[there], self.shown[there], kept)

    def digest(self) -> str:
        """Return a hash of everything that is written to the file."""
        parts = [self.who, self.shown, *(self.kept[name] for name in sorted(self.kept))]
        digest = hashlib.sha256("\0".join(sorted(self.kept)).encode())
        for part in parts:
            digest.update(part.tobytes())
        return digest.hexdigest()

    def to_rows(self) -> pa.RecordBatch:
        columns = {WHO: self.who, SHOWN: self.shown, **self.kept}
        return pa.RecordBatch.from_pydict({name: pa.array(x) for name, x in columns.items()})

    @classmethod
    def from_table(cls, table: pa.Table) -> ReleasedPeople:
        columns: dict[str, Any] = {
            name: table.column(name).to_numpy().astype(np.uint64) for name in table.column_names
        }
        return cls(columns.pop(WHO), columns.pop(SHOWN), columns)


def mix(tokens: Tokens) -> Tokens:
    """Scatter numbers over 64 bits (splitmix64), so that sums distinguish multisets."""
    z = tokens + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Tokens = z ^ (z >> np.uint64(31))
    return np.where(found == ABSENT, np.uint64(1), found)
