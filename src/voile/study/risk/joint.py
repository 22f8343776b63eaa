"""The joint risk: an adversary who has all parts, and can link a person's rows and texts.

The adversary links each person to the population by the facts in the table and the remaining facts
in the text. A kept mention always counts. A missed mention counts with the probability that follows
from the kit's recall. A missed name identifies the person's row immediately.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from operator import mul

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.tables.people.counts import row_keys
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.family import AnyPolicy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]
Chance = float | Floats


@dataclass(frozen=True)
class TextLeaks(BriefRepr):
    """The probability that a text states the exact value of each column, or names its person."""

    columns: Mapping[str, float]
    name: float = 0.0

    @classmethod
    def of(cls, kept: Sequence[str], read: Sequence[str], miss: float, *, names: bool) -> TextLeaks:
        """Return the probabilities of kept columns, and of columns with missed mentions."""
        return cls({**dict.fromkeys(read, miss), **dict.fromkeys(kept, 1.0)}, miss * names)


@dataclass(frozen=True, eq=False)
class MatchRecords(BriefRepr):
    """Records for which match probabilities are computed.

    at : (records,) the combination of each record.
    weights : (records,) the record's share of its person.
    beside : (records,) a number for the person's facts in other parts of rows. Without such parts
        it is None, and people are counted in the population.
    """

    shows = ()

    at: Ints
    weights: Floats
    beside: Ints | None = None

    @cached_property
    def are_apart(self) -> bool:
        """Whether other parts of rows show different facts of different people."""
        return self.beside is not None and len(np.unique(self.beside)) > 1


class JointRisk:
    """Match probabilities of the groups of rows, given texts that reveal more than rows.

    group : (combinations,) the group of each combination. released : (combinations,) whether rows
        with it are released. Cost: O(combinations) for each set of columns that the text may
        reveal.
    """

    def __init__(self, space: CountedSpace, group: Ints, released: Mask) -> None:
        self._space, self.released = space, released
        self._group = np.unique(group, return_inverse=True)[1].reshape(-1)

    @classmethod
    def of(cls, space: CountedSpace, policy: AnyPolicy) -> JointRisk:
        """Return the joint risk of a policy's release."""
        groups, _, kept = space.groups(policy)
        own = policy.keys_of(policy.numbers_of(space.counts.codes))
        return cls(space, own, np.isin(own, policy.keys_of(groups[kept])))

    def expect_matches(self, leaks: TextLeaks, records: MatchRecords | None = None) -> float:
        """Return the expected matches: the sum of 1 / people who agree, over released subjects.

        records : the records, if there are other parts of rows [all released ones].
        """
        own = self.records if records is None else records
        return self.matches(leaks.columns, leaks.name, own)

    @property
    def records(self) -> MatchRecords:
        """All released subjects, by their combinations."""
        subjects = self._space.counts.sample * self.released
        return MatchRecords(np.arange(len(subjects)), subjects)

    def matches(self, columns: Mapping[str, Chance], name: Chance, records: MatchRecords) -> float:
        """Return the expected matches of some records; `name` is the probability of being named."""
        found = self.each(columns, records)
        return float((records.weights * (name + (1 - name) * found)).sum())

    def each(self, columns: Mapping[str, Chance], records: MatchRecords) -> Floats:
        """Return the match probability of each of some records, (records,).

        columns : the probability that a text states a column's value, for all records or for each.
        """
        likely = {name: chance for name, chance in columns.items() if np.any(chance)}
        total = np.zeros(len(records.at))
        for known, chance in _outcomes(likely):
            total += chance * self._match(known, records)
        return total

    def _match(self, known: Sequence[str], records: MatchRecords) -> Floats:
        """Return 1 / the people in each record's group with its values of some columns.

        No population provides counts for the facts in other parts of rows. If these facts differ
        between people, the group is the released people with the same facts, unless the
        population's group is smaller.
        """
        counts, quasi = self._space.counts, self._space.quasi
        exact = [counts.codes[:, quasi.index(name)] for name in known]
        place = _number_rows([self._group, *exact])
        people = np.maximum(
            np.bincount(place, counts.population), np.bincount(place, counts.sample)
        )[place[records.at]]
        if records.beside is not None and records.are_apart:
            own = _number_rows([place[records.at], records.beside])
            people = np.minimum(people, np.bincount(own, records.weights)[own])
        return np.asarray(1 / np.maximum(people, 1))


def places_in(space: CountedSpace, codes: NDArray[np.int32]) -> Ints:
    """Return the combination of each record, given positions in a space's domains."""
    counts = space.counts
    keys = row_keys(np.concatenate([counts.codes, codes]), list(counts.sizes))
    return np.searchsorted(keys[: len(counts.codes)], keys[len(counts.codes) :])


def _number_rows(labels: Sequence[NDArray[np.integer]]) -> Ints:
    """Number the distinct rows of label columns from 0, (rows,)."""
    rows = np.column_stack(labels).astype(np.int32)
    keys = row_keys(rows, [int(own.max(initial=0)) + 1 for own in rows.T])
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def _outcomes(chances: Mapping[str, Chance]) -> Iterator[tuple[tuple[str, ...], Chance]]:
    """Yield each set of columns that the text states exactly, and its probability."""
    for size in range(len(chances) + 1):
        for known in combinations(chances, size):
            said = [x if name in known else 1 - x for name, x in chances.items()]
            chance = reduce(mul, said, 1.0)
            if np.any(chance):
                yield known, chance
