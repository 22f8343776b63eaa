"""An adversary who knows some items of a person, and looks up the rows with all of them.

The items are random, or the published items that the fewest people have. The person is found if
only one person matches. Alternatively, the adversary knows items that the person lacks. They are
random, or those that most people have.
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
    """An adversary who knows up to `count` items that a person has or, if `absent`, lacks.

    The items are random or, if `identifying`, the most identifying ones. The adversary also knows
    the person's features that `always` marks.
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
        """The condition of a finding: the number and kind of the known items."""
        thing = f"{'absence' if self.absent else 'item'}{'' if self.count == 1 else 's'}"
        values: dict[str, Value] = {"count": self.count, "kind": self.kind, "thing": thing}
        beside = "" if self.always is None else "all numbers and "
        return Note(f"{beside}{{count}} {{kind}} {{thing}}", values)

    def of(
        self, rows: Incidence, row: int, rng: np.random.Generator, among: Mask | None = None
    ) -> Indices:
        """Return the known items of the person of a row.

        Identifying items are selected from those that `among` marks.
        """
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
    """Return the patterns that have all the known items, or none of them if `absent`."""
    counted = np.zeros(len(rows.own), dtype=np.int64)
    for item in known:
        counted[rows.holders[slice(*rows.column_starts[item : item + 2])]] += 1
    return np.flatnonzero(counted == (0 if absent else len(known)))


def people(rows: Incidence, patterns: Indices) -> int:
    """Count the subjects who have at least one of these patterns."""
    alone = int(rows.own[patterns].sum())
    if not rows.n_shared:
        return alone
    starts = rows.shared_starts[patterns]
    counts = rows.shared_starts[patterns + 1] - starts
    places = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    return alone + len(np.unique(rows.shared[places]))


def map_features(truth: Incidence, shown: Incidence) -> Indices:
    """Return the number of each feature of the source in the release, or -1 if it is not there."""
    place = {name: x for x, name in enumerate(shown.features)}
    return np.array([place.get(name, -1) for name in truth.features], dtype=np.intp)


@dataclass(frozen=True)
class LookUp:
    """The result of a look-up: how many people match, whether the person does, and the patterns."""

    left: int
    is_among: bool
    patterns: Indices


def look_up(rows: Incidence, known: Indices, *, absent: bool, own: int | None = None) -> LookUp:
    """Look up the matching people. `own` is the person's pattern, or None for an absent person."""
    patterns = fitting(rows, known, absent=absent)
    is_among = own is not None and bool((patterns == own).any())
    return LookUp(people(rows, patterns), is_among, patterns)
