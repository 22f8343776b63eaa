"""An acquaintance: an adversary who knows facts of a person, and that the person is released.

The acquaintance knows the person's released labels (the interval of each quasi-identifier, kept
columns, items), how many rows show them, and the gaps between the person's days. Candidates are
the released people with the same facts. Success: one of them, drawn at random, is the person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from voile.core.brief import Brief
from voile.gate.people import PeopleCount, ReleasedPart, count_people

ALL = "all parts"
NUMBERS = "the number of rows in each part"
GAPS = "all parts, and gaps between days"
FEW_FACTS = (1, 2, 3)


@dataclass(frozen=True)
class Reach(Brief):
    """What an adversary reaches with some knowledge: people, expected matches, people alone.

    smallest : the fewest candidates of a person.
    """

    knows: str
    people: int
    matches: float
    alone: int
    smallest: int

    @classmethod
    def of(cls, knows: str, candidates: Sequence[int]) -> Reach:
        """Count it from the candidates that are left for each person."""
        left = np.array(candidates, np.float64)
        alone = int((left == 1).sum())
        return cls(
            knows, len(left), float((1 / left).sum()), alone, int(min(candidates, default=0))
        )


def reaches(parts: Mapping[str, ReleasedPart], *, are_months: bool) -> list[Reach]:
    """Count people by each part, by numbers of rows, by all parts, and by the worst few facts.

    are_months : whether days are written as the first of their month.
    """
    undated = {name: replace(part, dates=()) for name, part in parts.items()}
    numbers = {name: replace(part, facts=()) for name, part in undated.items()}
    ways = {**{name: {name: part} for name, part in undated.items()}, NUMBERS: numbers}
    found = [(knows, count_people(own)) for knows, own in (*ways.items(), (ALL, undated))]
    dated = count_people(parts, known=FEW_FACTS, are_months=are_months)
    return [
        *(reach for knows, counts in found for reach in _reach(knows, counts)),
        *(
            reach
            for one in dated
            for reach in _reach(
                GAPS if one.facts is None else f"the worst {one.facts} of these facts", [one]
            )
        ),
    ]


def _reach(knows: str, counts: Sequence[PeopleCount]) -> Iterator[Reach]:
    for one in counts:
        yield Reach(knows, one.people, one.matches, one.alone, one.smallest)
