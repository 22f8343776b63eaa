"""Choose the one released row of each person: at random, unless its group has too few people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data import Source
from voile.gate.losses import number_tuples
from voile.keys.random import ProtectiveRandom
from voile.tables.domains.domain import encode_cells
from voile.tables.recoding.recoder import BatchRecoder, PersonRecoder, RecodedBatch
from voile.tables.verbs.content import TablesContent

Ints = NDArray[np.int64]
NO_GROUP = -1
ROUNDS = 10
"""The number of rounds. A move may leave another group short, which the next round repairs."""


def other_rows(
    content: TablesContent,
    source: Source,
    recoder: BatchRecoder | PersonRecoder,
    drawn: ProtectiveRandom,
    k: int,
) -> Ints:
    """Return the numbers of all rows except one of each person.

    `drawn` picks a row at random. A group may then have fewer than `k` people. It then gains people
    who have another row in it, or loses all its people to other groups. Some groups may stay short.
    A row without a subject is a separate person. The source is read twice. Memory: O(rows x
    columns).

    Raises
    ------
    RequestError : the roles name no subject.
    """
    if content.roles.subject is None:
        raise RequestError(
            "--one-row needs to know whose each row is", instead="name the subject in the roles"
        )
    people, of_row = encode_cells(source.read([content.roles.subject]).column(0))
    nobody = np.array([person is None for person in people], dtype=np.bool_)[of_row]
    who = np.where(nobody, len(people) + np.arange(len(of_row)), of_row).astype(np.int64)
    group = _number_groups(_recode(content, source, recoder))
    chosen = choose_rows(who, group, k, drawn.generator().permutation(len(of_row)))
    return np.setdiff1d(np.arange(len(of_row)), chosen)


def _recode(
    content: TablesContent, source: Source, recoder: BatchRecoder | PersonRecoder
) -> Iterator[RecodedBatch]:
    columns = [*content.space.quasi, *filter(None, [content.roles.subject])]
    first = 0
    for batch in source.batches(columns):
        recoded = recoder(batch, np.arange(first, first + len(batch)))
        held = content.hold_out.find_held(batch, first)
        yield replace(recoded, suppressed=recoded.suppressed | held)
        first += len(batch)


def _number_groups(recoded: Iterable[RecodedBatch]) -> Ints:
    """Return the group number of each row, or -1 for rows that no choice can release."""
    parts = [(one.intervals, one.suppressed | one.outside) for one in recoded]
    if not parts:
        return np.zeros(0, np.int64)
    lost = np.concatenate([out for _, out in parts])
    columns = np.concatenate([intervals for intervals, _ in parts]).T
    return np.where(lost, NO_GROUP, number_tuples(*columns) if len(columns) else 0)


def choose_rows(person: Ints, group: Ints, k: int, order: Ints) -> Ints:
    """Return one row of each person: the first in `order` that leaves no group short of k people.

    `person` and `group` (n,) describe each row, where group -1 means no group. The choice is
    greedy: groups may stay short that another choice would fill. Cost: O(n log n), and O(rows of
    the group) for each short group.
    """
    order = order[np.argsort(group[order] == NO_GROUP, kind="stable")]
    pairs = number_tuples(person[order], group[order])
    rows = order[np.sort(np.unique(pairs, return_index=True)[1])]
    choice = _Choice.of(number_tuples(person[rows]), group[rows], k)
    for _ in range(ROUNDS):
        if not sum(choice.repair(short) for short in choice.find_short()):
            break
    return np.sort(rows[choice.taken])


@dataclass(frozen=True, eq=False)
class _Choice:
    """The chosen row of each person, among one row for each pair of a person and a group.

    Attributes
    ----------
    person, group : (pairs,) the person and the group of each pair.
    taken : (people,) the chosen pair of each person.
    people : (groups,) the people of each group.
    """

    person: Ints
    group: Ints
    k: int
    taken: Ints
    people: Ints
    by_group: tuple[Ints, Ints]
    by_person: tuple[Ints, Ints]

    @classmethod
    def of(cls, person: Ints, group: Ints, k: int) -> _Choice:
        taken = np.unique(person, return_index=True)[1]
        groups = int(group.max(initial=NO_GROUP)) + 1
        shown = group[taken]
        people = np.bincount(shown[shown >= 0], minlength=groups)
        indices = _index(group + 1, groups + 1), _index(person, len(taken))
        return cls(person, group, k, taken, people, *indices)

    def find_short(self) -> list[int]:
        """Return the groups with fewer than k people, the largest first."""
        short = np.flatnonzero((self.people > 0) & (self.people < self.k))
        return [int(one) for one in short[np.argsort(-self.people[short], kind="stable")]]

    def repair(self, group: int) -> bool:
        """Fill a group up to k people, or else empty it, and return whether that was possible."""
        if not 0 < self.people[group] < self.k:
            return False
        return self._fill(group) or self._empty(group)

    def _fill(self, group: int) -> bool:
        pairs = _part(self.by_group, group + 1)
        pairs = pairs[self.group[self.taken[self.person[pairs]]] != group]
        movable, spare = [], self.people.copy()
        for pair in pairs.tolist():
            own = self.group[self.taken[self.person[pair]]]
            if spare[own] != self.k:  # losing one person breaks no promise of this group
                spare[own] -= 1
                movable.append(pair)
        needed = self.k - int(self.people[group])
        if len(movable) < needed:
            return False
        for pair in movable[:needed]:
            self._take(pair)
        return True

    def _empty(self, group: int) -> bool:
        members = np.flatnonzero(self.group[self.taken] == group)
        elsewhere = []
        for one in members.tolist():
            pairs = _part(self.by_person, one)
            pairs = pairs[(self.group[pairs] >= 0) & (self.group[pairs] != group)]
            pairs = pairs[self.people[self.group[pairs]] >= self.k]
            if not len(pairs):
                return False
            elsewhere.append(int(pairs[0]))
        for pair in elsewhere:
            self._take(pair)
        return True

    def _take(self, pair: int) -> None:
        person = self.person[pair]
        self.people[self.group[self.taken[person]]] -= 1
        self.people[self.group[pair]] += 1
        self.taken[person] = pair


def _index(keys: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the positions sorted by key, and the first position of each key."""
    order = np.argsort(keys, kind="stable")
    return order, np.searchsorted(keys[order], np.arange(size + 1))


def _part(index: tuple[Ints, Ints], key: int) -> NDArray[Any]:
    order, begins = index
    return order[begins[key] : begins[key + 1]]
