"""An adversary who knows some of what a person has, or has not, and looks who fits.

She knows j items of a person: drawn at random among all that the person has, or the ones that
fewest people have, of a release among those that are published. She looks up every row that has
them all, as far as they are published; she has found the person when only one is left. Knowing
absences, she knows j items that the person has not: drawn at random, or those most people have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Note
from voile.itemsets.rows.incidence import Incidence

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Knowledge:
    """Say what she knows of a person.

    Parameters
    ----------
    count : how many items, at most; all where the person has fewer.
    telling : the most telling ones; else random ones.
    absent : items that the person has not.
    """

    count: int
    telling: bool
    absent: bool

    @property
    def note(self) -> Note:
        """The condition of a finding: how many of which items are known."""
        kind = "most telling" if self.telling else "random"
        thing = f"{'absence' if self.absent else 'item'}{'' if self.count == 1 else 's'}"
        return Note("{count} {kind} {thing}", {"count": self.count, "kind": kind, "thing": thing})

    def of(
        self, rows: Incidence, row: int, rng: np.random.Generator, among: Mask | None = None
    ) -> Indices:
        """Return the numbers of the items she knows of the person with this row.

        With `among`, the telling ones are those of these features: she learnt what matters.
        """
        pattern = rows.pattern[row]
        has = rows.items[slice(*rows.starts[pattern : pattern + 2])].astype(np.intp)
        if self.absent:
            lacks = rows.supports > 0
            lacks[has] = False
            has = np.flatnonzero(lacks)
        if not self.telling:
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
    """Count the subjects who have one of these patterns.

    >>> rows = Incidence.of(np.array([[1, 0], [0, 1], [1, 1]]), subjects=["a", "a", "b"])
    >>> people(rows, np.array([0, 1]))
    1
    """
    alone = int(rows.own[patterns].sum())
    if not rows.n_shared:
        return alone
    starts = rows.shared_starts[patterns]
    counts = rows.shared_starts[patterns + 1] - starts
    places = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    return alone + len(np.unique(rows.shared[places]))


def published(truth: Incidence, shown: Incidence) -> Indices:
    """Return for each feature of the truth its number in the release, -1 where it is not there."""
    place = {name: x for x, name in enumerate(shown.features)}
    return np.array([place.get(name, -1) for name in truth.features], dtype=np.intp)


@dataclass(frozen=True)
class Sight:
    """What one look-up found.

    Parameters
    ----------
    left : people who fit. hers : whether the person looked for is one of them.
    patterns : the patterns that fit.
    """

    left: int
    hers: bool
    patterns: Indices


def look(rows: Incidence, known: Indices, *, absent: bool, own: int | None = None) -> Sight:
    """Look up who fits; `own` is the person's pattern, None for somebody who is not there."""
    patterns = fitting(rows, known, absent=absent)
    hers = own is not None and bool((patterns == own).any())
    return Sight(people(rows, patterns), hers, patterns)
