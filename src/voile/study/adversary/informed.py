"""An informed adversary, who links by the table and knows some facts of the person beside.

The adversary knows the person's quasi-identifiers, and so the group of released rows that show
them; that the person is among these; and a few facts: diagnoses, readings, items, kept values that
the release shows as they are, or days up to one shift. Candidates are the people of the group of
whom the release shows all that. Success: one of them, drawn at random, is the person.

People who are not released have no facts here. So of an adversary with a register, who does not
know who is released, each figure is an upper bound, and the table's own one a lower bound.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.study.adversary.acquaintance import ALL
from voile.study.adversary.people import Fact

KNOWN = (1, 2, 3)
"""How many facts the adversary knows."""
DAYS = "days"
TARGETS = 1000
"""People who are attacked at most."""
DRAWN, TRIED = 500, 20_000
"""Combinations of facts that are averaged over at most; that are tried for the worst at most."""
Group = Hashable
Days = tuple[int, ...]


@dataclass(frozen=True)
class Facts(Brief):
    """What one part shows of each person, and of that what an adversary may know.

    They differ where a message stands for several readings: all are shown, and one is true.
    """

    shown: Mapping[str, frozenset[Fact]]
    known: Mapping[str, frozenset[Fact]]

    def __or__(self, other: Facts) -> Facts:
        return Facts(_joined(self.shown, other.shown), _joined(self.known, other.known))


def as_facts(found: Mapping[str, Mapping[Fact, int]]) -> Facts:
    """Return facts that a person has several times: who has n of one is shown with 1 to n of it.

    The adversary knows how many.
    """
    shown = {
        person: frozenset((fact, copy) for fact, n in own.items() for copy in range(1, n + 1))
        for person, own in found.items()
    }
    return Facts(shown, {person: frozenset(own.items()) for person, own in found.items()})


@dataclass(frozen=True)
class Informed(Brief):
    """What an adversary gets who knows the group, and facts of a part: expected matches.

    facts : how many are known, of people with fewer all; None for all. matches : for facts drawn at
    random, the mean over all combinations. most : for the facts that leave the fewest candidates,
    an upper bound of any that many. alone : people whom some such facts single out.
    """

    part: str
    facts: int | None
    people: int
    matches: float
    most: float
    alone: int


def inform(
    groups: Mapping[str, Mapping[Group, float]],
    parts: Mapping[str, Facts],
    days: Mapping[str, Days],
    rng: np.random.Generator,
) -> tuple[Informed, ...]:
    """Attack people by each part, by days, and by all of these, with more and more facts.

    groups : of each person, the groups of the released rows, and the share of these in each.
    days : of each person, the released days, sorted, without copies; or numbers of months.

    Cost: O(targets combinations people / 64) for each part, and O(people days^2).
    """
    people = sorted(groups)
    targets = {people[n] for n in rng.permutation(len(people))[:TARGETS]}
    members: dict[Group, list[str]] = defaultdict(list)
    for person in people:
        for group in groups[person]:
            members[group].append(person)
    ways = [*(name for name in parts if any(parts[name].known.values()))]
    ways += [DAYS] if any(days.values()) else []
    asked = [(ALL, 0), *((way, facts) for way in (*ways, ALL) for facts in (*KNOWN, None))]
    sums = {one: _Sum() for one in asked}
    for group in members:
        crowd: _Crowd | None = None
        for person in (one for one in members[group] if one in targets):
            crowd = crowd or _Crowd(members[group], parts, days)
            weight = groups[person][group]
            for way in (*ways, ALL):
                known = crowd.known(person, ways if way == ALL else [way])
                for facts, mean, most in known.risks(rng):
                    sums[way, facts].add(person, weight, mean, most)
            sums[ALL, 0].add(person, weight, 1 / len(members[group]), 1 / len(members[group]))
    return tuple(one.as_informed(*way, len(targets)) for way, one in sums.items())


class _Sum:
    def __init__(self) -> None:
        self.mean, self.most, self.alone = 0.0, 0.0, set[str]()

    def add(self, person: str, weight: float, mean: float, most: float) -> None:
        self.mean += weight * mean
        self.most += weight * most
        if most == 1.0:
            self.alone.add(person)

    def as_informed(self, part: str, facts: int | None, people: int) -> Informed:
        return Informed(part, facts, people, self.mean, self.most, len(self.alone))


class _Crowd:
    """The people of one group: sets of them are bits of a number."""

    def __init__(
        self, members: Sequence[str], parts: Mapping[str, Facts], days: Mapping[str, Days]
    ) -> None:
        self._parts, self._days = parts, days
        self.everyone = (1 << len(members)) - 1
        self._own_days = [_as_number(days.get(one, ())) for one in members]
        self._with = {
            name: _holders([own.shown.get(one, ()) for one in members], len(members))
            for name, own in parts.items()
        }
        self._with_gap = _holders([_gaps(days.get(one, ())) for one in members], len(members))

    def known(self, person: str, ways: Iterable[str]) -> _Known:
        """Return what may be known of a person of the group, of some parts."""
        masks = [
            self._with[name][fact]
            for name in ways
            if name != DAYS
            for fact in self._parts[name].known.get(person, ())
        ]
        return _Known(self, sorted(masks), self._days.get(person, ()) if DAYS in ways else ())

    def with_days(self, days: Sequence[int], among: int) -> int:
        """Return who has all of some days under one common shift; days are sorted."""
        gaps = [day - days[0] for day in days]
        for gap in gaps:
            among &= self._with_gap.get(gap, 0)
        if len(gaps) < 3 or among.bit_count() == 1:
            return among
        return sum(1 << n for n in _bits(among) if self._fits(n, gaps))

    def _fits(self, member: int, gaps: Sequence[int]) -> bool:
        firsts = own = self._own_days[member]
        for gap in gaps:
            firsts &= own >> gap
        return firsts > 0


@dataclass(frozen=True, eq=False)
class _Known(Brief):
    """Facts of one person, by who has each, and days: units that an adversary may know."""

    shows = ()

    crowd: _Crowd
    masks: Sequence[int]
    days: Days

    def __len__(self) -> int:
        return len(self.masks) + len(self.days)

    def risks(self, rng: np.random.Generator) -> Iterator[tuple[int | None, float, float]]:
        """Yield the mean and the largest match probability with so many units known."""
        least = self._left(range(len(self)))
        fewest = self.crowd.everyone.bit_count()
        for facts in KNOWN:
            fewest = fewest if fewest == least else self._narrowest._fewest(facts, least)
            yield facts, self._mean(facts, rng), 1 / fewest
        yield None, 1 / least, 1 / least

    def _left(self, known: Iterable[int]) -> int:
        """Count the candidates, given numbers of units in their order."""
        among, days = self.crowd.everyone, []
        for number in known:
            if number < len(self.masks):
                among &= self.masks[number]
            else:
                days.append(self.days[number - len(self.masks)])
        return (self.crowd.with_days(days, among) if days else among).bit_count()

    def _mean(self, facts: int, rng: np.random.Generator) -> float:
        size = min(facts, len(self))
        if comb(len(self), size) <= DRAWN:
            drawn: Iterable[Sequence[int]] = combinations(range(len(self)), size)
        else:
            drawn = _draw(len(self), size, rng).tolist()
        return float(np.mean([1 / self._left(known) for known in drawn]))

    def _fewest(self, facts: int, least: int) -> int:
        """Return the fewest candidates that so many units leave; or a lower bound, where too many
        combinations are to be tried: what all of them leave.
        """
        size = min(facts, len(self))
        if comb(len(self), size) > TRIED:
            return least
        found = self.crowd.everyone.bit_count()
        for known in combinations(range(len(self)), size):
            found = min(found, self._left(known))
            if found == least:
                break
        return found

    @cached_property
    def _narrowest(self) -> _Known:
        """Return the units without those that another one makes needless: the fewest are left by
        these, too.
        """
        kept: list[int] = []
        for mask in sorted(set(self.masks), key=int.bit_count):
            if not any(mask & one == one for one in kept):
                kept.append(mask)
        return _Known(self.crowd, kept, self.days)


def _joined(
    one: Mapping[str, frozenset[Fact]], other: Mapping[str, frozenset[Fact]]
) -> dict[str, frozenset[Fact]]:
    none = frozenset[Fact]()
    return {person: one.get(person, none) | other.get(person, none) for person in {*one, *other}}


def _holders(facts: Sequence[Iterable[Hashable]], people: int) -> dict[Hashable, int]:
    """Return who has each fact, as bits."""
    numbers: dict[Hashable, list[int]] = defaultdict(list)
    for number, own in enumerate(facts):
        for fact in own:
            numbers[fact].append(number)
    return {fact: _as_bits(own, people) for fact, own in numbers.items()}


def _as_bits(numbers: Sequence[int], people: int) -> int:
    bits = np.zeros(people, np.bool_)
    bits[numbers] = True
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def _as_number(days: Days) -> int:
    """Return days as bits of a number, the first of them as bit 0."""
    return sum(1 << (day - days[0]) for day in days)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _gaps(days: Days) -> set[int]:
    """Return the gaps between days, with 0 for the day itself."""
    return {later - day for n, day in enumerate(days) for later in days[n:]}


def _draw(units: int, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw combinations of some units, each sorted, (DRAWN, size)."""
    order = np.argpartition(rng.random((DRAWN, units)), size - 1, axis=1)[:, :size]
    return np.sort(order, axis=1)
