"""Estimate matches in the leaves of a tree if people are counted by only some of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.tables.people.counted_boxes import CountedBoxes, estimate_each
from voile.tables.people.counts import CombinationCounts
from voile.tables.trees.tree import BoxTree

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class CountedPeople(BriefRepr):
    """Subjects and people by the columns that a population counts. Other columns contain -1.

    Attributes
    ----------
    subjects, people : (rows, columns) codes and (rows,) counts, each.
    """

    subjects: tuple[Codes, Floats]
    people: tuple[Codes, Floats]

    @classmethod
    def of(
        cls, counts: CombinationCounts, columns: Sequence[str], boxes: CountedBoxes
    ) -> CountedPeople:
        """Build the counts from those of the source and of the population's boxes."""
        own = [columns.index(column) for column in boxes.columns]
        people, subjects = (
            np.full((len(codes), len(columns)), UNKNOWN, dtype=np.int32)
            for codes in (boxes.codes, counts.codes)
        )
        people[:, own], subjects[:, own] = boxes.codes, counts.codes[:, own]
        return cls((subjects, counts.sample), (people, boxes.people))

    def matches(self, n: Floats, tree: BoxTree) -> Floats:
        """Estimate the matches among the subjects n of each node of a tree, (boxes,) in (0, 1].

        Two children never have fewer matches than their parent. The p of the parent is between
        those of its children, and n E[1 / F | n] decreases in n and increases in p.
        """
        return estimate_each(n, tree.add_up(*self.subjects), tree.add_up(*self.people))
