"""An acquaintance: an adversary who knows facts of a person, and that the person is released.

The acquaintance knows the person's released labels: the interval of each quasi-identifier, kept
columns, items. The acquaintance also knows how many rows show them, the stays, and the gaps between
the person's days.
Candidates are the released people with the same facts. Success: one of them, drawn at random, is
the person. The worst case for the person is an adversary who knows the table's quasi-identifiers
and a few facts of another part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from voile.gate.finding import GateFinding
from voile.gate.people import ALONE, FEWEST, MATCHES, ReleasedPart, count_people, name_few

ALL = "all parts"
NUMBERS = "the number of rows in each part"
GAPS = "all parts, and gaps between days"
GROUP = "the table's columns"
"""The least knowledge of an acquaintance, next to facts of a part."""
DAYS = "days"
"""The days of all parts, as a part of their own."""
ONE_ROW = "one row of"
"""The knowledge of a part whose rows nothing joins, before the part's name."""
FEW_FACTS = (1, 2, 3)


def reaches(
    parts: Mapping[str, ReleasedPart],
    *,
    are_months: bool,
    group: ReleasedPart | None = None,
    days: ReleasedPart | None = None,
) -> tuple[GateFinding, ...]:
    """Count people by each part, by numbers of rows, by all parts, and by few facts.

    are_months : whether days are written as the first of their month.
    group : the rows of the table with its quasi-identifiers alone. The adversary of these also
    knows 1, 2, 3 or all facts of each part.
    days : the days of all parts, a row each.
    """
    undated = {name: replace(part, dates=()) for name, part in parts.items()}
    numbers = {name: replace(part, facts=()) for name, part in undated.items()}
    ways = {**{name: {name: part} for name, part in undated.items()}, NUMBERS: numbers}
    found = [one for knows, own in (*ways.items(), (ALL, undated))
             for one in count_people(own, of=knows)]  # fmt: skip
    found += count_people(parts, of=GAPS, are_months=are_months)
    if group is None:
        return tuple(found)
    found += count_people({GROUP: group}, of=GROUP)
    some = {name: {name: part} for name, part in parts.items()}
    some |= {} if days is None else {DAYS: {DAYS: days}}
    for name, own in {**some, ALL: {**parts}}.items():
        found += count_people(
            {GROUP: group, **own},
            of=name_with(name),
            known=FEW_FACTS,
            given=[GROUP],
            are_months=are_months,
        )
    return tuple(found)


def name_with(part: str) -> str:
    """Name the knowledge of the table's columns and a part."""
    return f"{GROUP}, and {part}"


def describe_knowledge(knows: str) -> str:
    """Describe the knowledge of a finding of `reaches` in a phrase.

    >>> describe_knowledge("the most revealing 2 facts of the table's columns, and visits")
    "the table's columns and the most revealing 2 facts of visits"
    """
    more = name_with("")
    for facts in FEW_FACTS:
        few = name_few(facts, "")
        if knows.startswith(few + more):
            return f"{GROUP} and {few}{knows.removeprefix(few + more)}"
    return f"{GROUP} and all facts of {knows.removeprefix(more)}" if more in knows else knows


@dataclass(frozen=True)
class KnownFacts:
    """The gate's counts for an adversary who knows the table's columns and some facts of a part.

    facts : how many, the worst ones of each person; None for all, 0 for none.
    people : the attacked people. alone : those of them that these facts single out.
    matches : the expected ones.
    """

    part: str
    facts: int | None
    people: int
    alone: float
    matches: float

    @property
    def mean(self) -> float:
        return self.matches / self.people if self.people else 0.0

    def to_data(self) -> dict[str, Any]:
        return vars(self)


def known_facts(findings: Iterable[GateFinding]) -> Iterator[KnownFacts]:
    """Yield the counts of each part, by number of facts; first with the table's columns alone."""
    found = by_knowledge(findings)
    if GROUP in found:
        yield _read_known(ALL, 0, found[GROUP])
    parts = [of.removeprefix(name_with("")) for of in found if of.startswith(name_with(""))]
    for part in parts:
        for facts in FEW_FACTS:
            yield _read_known(part, facts, found[name_few(facts, name_with(part))])
        yield _read_known(part, None, found[name_with(part)])


def _read_known(part: str, facts: int | None, own: Mapping[str, GateFinding]) -> KnownFacts:
    matches = own[MATCHES]
    return KnownFacts(part, facts, matches.n or 0, own[ALONE].value, matches.value)


def by_knowledge(findings: Iterable[GateFinding]) -> dict[str, dict[str, GateFinding]]:
    """Return the counts of candidates by the adversary's knowledge, then by name."""
    found: dict[str, dict[str, GateFinding]] = {}
    for one in findings:
        if one.name in (ALONE, FEWEST, MATCHES):
            found.setdefault(one.of, {})[one.name] = one
    return found
