"""Small tables of people, releases of them, and an adversary who does it the long way."""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import CellParser
from voile.tables.fitting.space import PolicySpace
from voile.tables.joint.figures import ShownRelease
from voile.tables.people.counts import CombinationCounts, Constraints, PopulationCounts
from voile.tables.policies.policy import Policy
from voile.tables.trees.policy import TreePolicy
from voile.tables.trees.tree import BoxTree

AGES, SEXES, TOWNS = range(5), ("f", "m"), ("ash", "elm", "oak")
Person = tuple[int, str, str]
PEOPLE = st.lists(
    st.tuples(st.sampled_from(AGES), st.sampled_from(SEXES), st.sampled_from(TOWNS)),
    min_size=6,
    max_size=40,
).filter(lambda people: all(len({p[i] for p in people}) > 1 for i in range(3)))


def space_of(
    sample: Sequence[Person], others: Sequence[Person] = (), *, towns: Sequence[str] | None = None
) -> PolicySpace:
    """Count a sample in a population of it and others."""
    everybody = [*sample, *others]
    age, sex, town = (sorted({p[i] for p in everybody}) for i in range(3))
    domains = (
        ValueDomain("age", tuple(age), CellParser("integer")),
        ValueDomain("sex", tuple(sex), CellParser("text")),
        ValueDomain("town", tuple(towns or town), CellParser("text")),
    )
    held, people = Counter(sample), Counter(everybody)
    place = [d.position for d in domains]
    each = sorted((tuple(at[x] for at, x in zip(place, p, strict=True)), p) for p in people)
    codes = np.array([code for code, _ in each], np.int32)
    counts = CombinationCounts(
        tuple(map(len, domains)),
        codes,
        np.array([float(held[p]) for _, p in each]),
        np.array([float(people[p]) for _, p in each]),
        np.zeros((len(each), 0)),
    )
    return PolicySpace(
        domains, counts, Constraints(), PopulationCounts(codes, counts.population, "all")
    )


def hash_of(*parts: str) -> str:
    return hmac.digest(b"key", repr(parts).encode(), "sha256").hex()[:16]


@st.composite
def shown(draw: Any, space: PolicySpace) -> ShownRelease:
    """Draw a release: cuts, or a tree of two levels; some suppress groups under a k."""
    if draw(st.booleans()):
        bits = draw(st.lists(st.booleans(), min_size=space.n_bits, max_size=space.n_bits))
        rules = Constraints(k=draw(st.integers(1, 3)), suppress=draw(st.sampled_from([0.0, 0.9])))
        return ShownRelease.of(Policy(space.domains, np.array(bits)), rules)
    return ShownRelease.of(
        tree_of(space, draw(st.integers(0, 2)), draw(st.integers(0, 2))), Constraints()
    )


def tree_of(space: PolicySpace, first: int, second: int) -> TreePolicy:
    """Cut the whole by one column, and its first part by another."""
    sizes = tuple(map(len, space.domains))
    column = np.array([first, second if second != first else (first + 1) % 3, -1, -1, -1], np.int32)
    part = np.array([1, 3, -1, -1, -1], np.int32)
    last = np.array([0, 0, -1, -1, -1], np.int32)
    free = tuple(d.free for d in space.domains)
    cut = np.array([1 if free[i] else 0 for i in column], np.int32) * (part > 0)
    tree = BoxTree(sizes, column, cut.astype(np.int32), part, last, free if any(free) else ())
    return TreePolicy(tuple(space.domains), tree, 0, 0)


def code_of(space: PolicySpace, person: Person) -> np.ndarray:
    return np.array([d.position[x] for d, x in zip(space.domains, person, strict=True)], np.int32)


class Naive:
    """What one release shows of each person, found one by one."""

    def __init__(self, space: PolicySpace, shown: ShownRelease, sample: Sequence[Person]) -> None:
        self._space, self._policy = space, shown.policy
        rules = shown.rules or Constraints()
        size = Counter(map(self.group, sample))
        self.suppressed = {g for g, n in size.items() if n < rules.k}

    def group(self, person: Person) -> bytes:
        codes = code_of(self._space, person)[None, :]
        return self._policy.numbers_of(codes).tobytes()

    def sees(self, person: Person) -> bytes | None:
        """What is shown of a person of the sample; None: nothing."""
        group = self.group(person)
        return None if group in self.suppressed else group


def joined(
    space: PolicySpace,
    releases: Sequence[ShownRelease],
    sample: Sequence[Person],
    others: Sequence[Person],
) -> tuple[float, float]:
    """Return expected matches and the least class, comparing every person with every other."""
    each = [Naive(space, one, sample) for one in releases]

    def seen(person: Person) -> tuple[bytes | None, ...]:
        return tuple(one.sees(person) for one in each)

    shown_rows = [seen(person) for person in sample]
    everybody = [seen(person) for person in [*sample, *others]]
    visible = [row for row in shown_rows if any(part is not None for part in row)]
    matches = sum(1 / everybody.count(row) for row in visible)
    return matches, min((visible.count(row) for row in visible), default=float("inf"))


def linked(
    space: PolicySpace,
    releases: Sequence[ShownRelease],
    sample: Sequence[Person],
    others: Sequence[Person],
    known: Sequence[int],
) -> float:
    """Return what an adversary expects who links rows by a kept column, where only one fits.

    `known` has each sampled row's kept value. A row of the first release that only one row of
    another can be is known by both groups; its people are those whom both groups may hold.
    """
    first, *rest = (Naive(space, one, sample) for one in releases)
    everybody = [*sample, *others]
    found = 0.0
    for me, person in enumerate(sample):
        if first.sees(person) is None:
            continue
        fits = [p for p in everybody if first.group(p) == first.group(person)]
        for other in rest:
            rows = [
                i for i, p in enumerate(sample)
                if known[i] == known[me] and other.sees(p) is not None
                and any(other.group(q) == other.group(p) for q in fits)
            ]  # fmt: skip
            if rows == [me]:
                fits = [p for p in fits if other.group(p) == other.group(person)]
        found += 1 / len(fits)
    return found
