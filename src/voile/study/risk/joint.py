"""The joint judgement: an adversary who holds all parts, and knows whose rows and texts meet.

The adversary links each person to the population by what the table shows, and by what the text
still says: a kept mention always, a missed one with the chance that the kit's recall leaves. A
missed name opens the person's row at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import mul

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.tables.people.counts import row_keys
from voile.tables.policies.family import AnyPolicy
from voile.tables.policies.space import PolicySpace

Floats = NDArray[np.float64]
Chance = float | Floats


@dataclass(frozen=True)
class Leaks(Brief):
    """The chance that a text says the exact value of each column, and that it names its person."""

    columns: Mapping[str, float]
    name: float = 0.0

    @classmethod
    def of(cls, kept: Sequence[str], read: Sequence[str], miss: float, *, names: bool) -> Leaks:
        """Return those of kept columns, and of others of which a share of mentions is missed."""
        return cls({**dict.fromkeys(read, miss), **dict.fromkeys(kept, 1.0)}, miss * names)


class JointRisk:
    """Expected matches of a policy's release beside texts that say more than its rows.

    Cost: O(combinations) for each set of columns that the text may say.
    """

    def __init__(self, space: PolicySpace, policy: AnyPolicy) -> None:
        self._space = space
        counts = space.counts
        groups, _, kept = space.groups(policy)
        own = policy.numbers_of(counts.codes)
        self._group = policy.keys_of(own)
        self.released = np.isin(self._group, policy.keys_of(groups[kept]))

    def expected(self, leaks: Leaks) -> float:
        """Return the expected matches: the sum of 1 / people who agree, over released subjects."""
        found = self.each(leaks.columns, np.arange(len(self._group)))
        subjects = self._space.counts.sample * self.released
        return float((subjects * (leaks.name + (1 - leaks.name) * found)).sum())

    def each(self, columns: Mapping[str, Chance], at: NDArray[np.intp]) -> Floats:
        """Return the match probability of a record of each of some combinations, (records,).

        columns : the chance that a text says a column's value: one for all, or one a record.
        """
        likely = {name: chance for name, chance in columns.items() if np.any(chance)}
        total = np.zeros(len(at))
        for known, chance in _outcomes(likely):
            total += chance * self._match(known)[at]
        return total

    def places(self, codes: NDArray[np.int32]) -> NDArray[np.intp]:
        """Return the combination of each record of positions in the domains."""
        counts = self._space.counts
        whole = np.concatenate([counts.codes, codes])
        sizes = list(counts.sizes)
        keys = row_keys(whole, sizes)
        return np.searchsorted(keys[: len(counts.codes)], keys[len(counts.codes) :])

    def _match(self, known: Sequence[str]) -> Floats:
        """Return 1 / the people in each combination's group who have its values of some columns."""
        counts, quasi = self._space.counts, self._space.quasi
        _, group = np.unique(self._group, return_inverse=True)
        exact = [counts.codes[:, quasi.index(name)] for name in known]
        parts = np.column_stack([group, *exact]).astype(np.int32)
        keys = row_keys(parts, [int(own.max()) + 1 for own in parts.T])
        _, place = np.unique(keys, return_inverse=True)
        people = np.maximum(
            np.bincount(place, counts.population), np.bincount(place, counts.sample)
        )
        return np.asarray(1 / np.maximum(people[place], 1))


def _outcomes(chances: Mapping[str, Chance]) -> Iterator[tuple[tuple[str, ...], Chance]]:
    """Yield each set of columns that the text says exactly, and its chance."""
    for size in range(len(chances) + 1):
        for known in combinations(chances, size):
            said = [x if name in known else 1 - x for name, x in chances.items()]
            chance = reduce(mul, said, 1.0)
            if np.any(chance):
                yield known, chance
