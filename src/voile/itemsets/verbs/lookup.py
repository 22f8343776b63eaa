"""An adversary who knows j items of a person, and looks up the rows that have them all.

The items are drawn at random, or are the ones that fewest people have, among the published ones
of a release. The person is found when one is left. Knowing absences, the adversary knows j items
that the person lacks: drawn at random, or those most people have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Note, Value
from voile.itemsets.rows.incidence import Incidence

ONE_LEFT, ONE_LEFT_BEFORE = "one person left", "one person left before"

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ItemKnowledge:
    """The adversary knows up to `count` items that a person has or, if `absent`, lacks.

    They are random ones, or the most `identifying` ones. The adversary also knows the features of
    the person that are `always` known.
    """

    count: int
    identifying: bool
    absent: bool
    always: Mask | None = None

    @property
    def kind(self) -> str:
        return "most identifying" if self.identifying else "random"

    @property
    def note(self) -> Note:
        """The condition of a finding: how many of which items are known."""
        thing = f"{'absence' if self.absent else 'item'}{'' if self.count == 1 else 's'}"
        values: dict[str, Value] = {"count": self.count, "kind": self.kind, "thing": thing}
        beside = "" if self.always is None else "all numbers and "
        return Note(f"{beside}{{count}} {{kind}} {{thing}}", values)

    def of(
        self, rows: Incidence, row: int, rng: np.random.Generator, among: Mask | None = None
    ) -> Indices:
        """Return the items known of the person with this row; identifying ones are `among` some."""
        pattern = rows.pattern[row]
        has = rows.items[slice(*rows.starts[pattern : pattern + 2])].astype(np.intp)
        if self.always is not None:
            known = self.always[has]
            return np.concatenate([has[known], self._some(rows, has[~known], rng, among)])
        return self._some(rows, has, rng, among)

    def _some(
        self, rows: Incidence, has: Indices, rng: np.random.Generator, among: Mask | None
    ) -> Indices:
        if self.absent:
            lacks = rows.supports > 0
            lacks[has] = False
            has = np.flatnonzero(lacks)
        if not self.identifying:
            return rng.choice(has, min(self.count, len(has)), replace=False, shuffle=False)
        has = has if among is None else has[among[has]]
        support = rows.supports[has]
        return has[np.argsort(-support if self.absent else support, kind="stable")][: self.count]


def fitting(rows: Incidence, known: Indices, *, absent: bool) -> Indices:
    """Return the patterns that have all the items known, or none of them."""
    counted = np.zeros(len(rows.own), dtype=np.int64)
    for item in known:
        counted[rows.holders[slice(*rows.column_starts[item : item + 2])]] += 1
    return np.flatnonzero(counted == (0 if absent else len(known)))


def people(rows: Incidence, patterns: Indices) -> int:
    """Count the subjects who have one of these patterns."""
    alone = int(rows.own[patterns].sum())
    if not rows.n_shared:
        return alone
    starts = rows.shared_starts[patterns]
    counts = rows.shared_starts[patterns + 1] - starts
    places = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    return alone + len(np.unique(rows.shared[places]))


def map_features(truth: Incidence, shown: Incidence) -> Indices:
    """Return for each feature of the source its number in the release, -1 where it is not there."""
    place = {name: x for x, name in enumerate(shown.features)}
    return np.array([place.get(name, -1) for name in truth.features], dtype=np.intp)


@dataclass(frozen=True)
class LookUp:
    """One look-up: how many people fit, whether the person is one, and which patterns fit."""

    left: int
    is_among: bool
    patterns: Indices


def look_up(rows: Incidence, known: Indices, *, absent: bool, own: int | None = None) -> LookUp:
    """Look up the matching people; `own` is the person's pattern, None for an absent person."""
    patterns = fitting(rows, known, absent=absent)
    is_among = own is not None and bool((patterns == own).any())
    return LookUp(people(rows, patterns), is_among, patterns)
