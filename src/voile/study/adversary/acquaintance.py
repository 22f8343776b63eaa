"""An acquaintance: an adversary who knows facts of a person, and that the person is released.

The acquaintance knows what a part shows of a person: the person's interval of each
quasi-identifier, kept columns, items. Candidates are the released people of whom the release shows
all that, among rows that it links. Success: one of them, drawn at random, is the person.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.study.adversary.people import Fact, PartFacts

Numbers = NDArray[np.intp]
ALL = "all parts"


@dataclass(frozen=True)
class Reach(Brief):
    """What an adversary reaches with some knowledge: people, expected matches, people alone."""

    knows: str
    people: int
    matches: float
    alone: int

    @classmethod
    def of(cls, knows: str, candidates: Sequence[int]) -> Reach:
        """Count it from the candidates that are left for each person."""
        left = np.array(candidates, np.float64)
        return cls(knows, len(left), float((1 / left).sum()), int((left == 1).sum()))


class Index:
    """Which people have a fact. Memory: the facts of people."""

    def __init__(self, facts: Mapping[str, Iterable[Fact]], people: Sequence[str]) -> None:
        numbers: dict[Fact, list[int]] = {}
        self._of = [frozenset(facts.get(person, ())) for person in people]
        for number, own in enumerate(self._of):
            for fact in own:
                numbers.setdefault(fact, []).append(number)
        self._holders = {fact: np.array(found, np.intp) for fact, found in numbers.items()}
        self._everyone = np.arange(len(people))

    def shown(self, person: int) -> frozenset[Fact]:
        return self._of[person]

    def candidates(self, person: int) -> Numbers:
        """Return the people of whom everything is shown that is shown of a person."""
        found = self._everyone
        for held in sorted((self._holders[fact] for fact in self._of[person]), key=len):
            found = np.intersect1d(found, held, assume_unique=True)
        return found


def reaches(parts: Mapping[str, PartFacts]) -> list[Reach]:
    """Return what an acquaintance reaches by each part, by counts of rows, and by all of them."""
    people = sorted({person for part in parts.values() for person in part.rows})
    by_part = {name: Index(part.facts, people) for name, part in parts.items() if any_facts(part)}
    counts = {p: {(n, x.rows.get(p, 0)) for n, x in parts.items()} for p in people}
    ways: dict[str, list[Index]] = {name: [one] for name, one in by_part.items()}
    ways[ALL] = list(by_part.values())
    rows = [Index(counts, people)]
    ways["the number of rows in each part"] = rows
    ways["all parts and numbers of rows"] = ways[ALL] + rows
    return [
        Reach.of(name, list(_candidates_of_each(indices, len(people))))
        for name, indices in ways.items()
        if people
    ]


def any_facts(part: PartFacts) -> bool:
    return any(part.facts.values())


def _candidates_of_each(indices: Sequence[Index], people: int) -> Iterator[int]:
    """Count each person's candidates; people of the same facts have the same, counted once."""
    counted: dict[tuple[frozenset[Fact], ...], int] = {}
    for person in range(people):
        shown = tuple(index.shown(person) for index in indices)
        if shown not in counted:
            counted[shown] = len(_common(indices, person))
        yield counted[shown]


def _common(indices: Sequence[Index], person: int) -> Numbers:
    found = [index.candidates(person) for index in indices]
    left = found[0] if found else np.array([person])
    for one in found[1:]:
        left = np.intersect1d(left, one, assume_unique=True)
    return left
