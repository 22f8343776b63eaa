"""An acquaintance: an adversary who knows facts of a person, and that the person is released.

The acquaintance knows the person's released labels (the interval of each quasi-identifier, kept
columns, items), how many rows show them, and the gaps between the person's days. Candidates are
the released people with the same facts. Success: one of them, drawn at random, is the person.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

from voile.gate.finding import GateFinding
from voile.gate.people import ALONE, FEWEST, MATCHES, ReleasedPart, count_people

ALL = "all parts"
NUMBERS = "the number of rows in each part"
GAPS = "all parts, and gaps between days"
FEW_FACTS = (1, 2, 3)


def reaches(parts: Mapping[str, ReleasedPart], *, are_months: bool) -> tuple[GateFinding, ...]:
    """Count people by each part, by numbers of rows, by all parts, and by the worst few facts.

    are_months : whether days are written as the first of their month.
    """
    undated = {name: replace(part, dates=()) for name, part in parts.items()}
    numbers = {name: replace(part, facts=()) for name, part in undated.items()}
    ways = {**{name: {name: part} for name, part in undated.items()}, NUMBERS: numbers}
    found = [count_people(own, of=knows) for knows, own in (*ways.items(), (ALL, undated))]
    dated = count_people(parts, of=GAPS, known=FEW_FACTS, are_months=are_months)
    return (*chain(*found), *dated)


def by_knowledge(findings: Iterable[GateFinding]) -> dict[str, dict[str, GateFinding]]:
    """Return the counts of candidates by the adversary's knowledge, then by name."""
    found: dict[str, dict[str, GateFinding]] = {}
    for one in findings:
        if one.name in (ALONE, FEWEST, MATCHES):
            found.setdefault(one.of, {})[one.name] = one
    return found
