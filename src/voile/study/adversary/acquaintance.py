"""An acquaintance: an adversary who knows that a person is in the release, and some of its facts.

The acquaintance knows the person's released labels: the interval of each quasi-identifier, kept
columns and items. The acquaintance also knows the number of rows with these labels, the stays, and
the gaps between the person's days.

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
"""The minimum knowledge of an acquaintance, to which facts of a part are added."""
DAYS = "days"
"""The days of all parts, as a separate part."""
ONE_ROW = "one row of"
"""The prefix of a part's name for the knowledge of one row without pseudonym."""
FEW_FACTS = (1, 2, 3)


def reaches(
    parts: Mapping[str, ReleasedPart],
    *,
    are_months: bool,
    group: ReleasedPart | None = None,
    days: ReleasedPart | None = None,
) -> tuple[GateFinding, ...]:
    """Count people by each part, by numbers of rows, by all parts, and by few facts.

    Parameters
    ----------
    parts : the released parts, by name.
    are_months : whether days are written as the first day of their month.
    group : the rows of the table with only its quasi-identifiers. The adversary who knows these
        also knows 1, 2, 3 or all facts of each part.
    days : the days of all parts, one per row.
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
    """Return the name of the knowledge of the table's columns and a part."""
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
    """The counts for an adversary who knows the table's columns and some facts of a part.

    facts : number of known facts, the most revealing ones of each person; None for all, 0 for none.
    people : number of attacked people. alone : number of them that these facts single out.
    matches : number of expected matches.
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
    """Yield the counts of each part by number of facts. The first has only the table's columns."""
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
