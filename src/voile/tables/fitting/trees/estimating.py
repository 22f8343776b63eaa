"""Matches estimated in the boxes of a tree, where people are counted by some of the columns."""

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
    """Subjects and people by the columns that a population counts; -1 stands in the others.

    subjects, people : (rows, columns) codes and (rows,) counts, each.
    """

    subjects: tuple[Codes, Floats]
    people: tuple[Codes, Floats]

    @classmethod
    def of(
        cls, counts: CombinationCounts, columns: Sequence[str], boxes: CountedBoxes
    ) -> CountedPeople:
        """Take them from the counts of these columns, and of the boxes' own."""
        own = [columns.index(column) for column in boxes.columns]
        people, subjects = (
            np.full((len(codes), len(columns)), UNKNOWN, dtype=np.int32)
            for codes in (boxes.codes, counts.codes)
        )
        people[:, own], subjects[:, own] = boxes.codes, counts.codes[:, own]
        return cls((subjects, counts.sample), (people, boxes.people))

    def matches(self, n: Floats, tree: BoxTree) -> Floats:
        """Estimate the matches among the subjects n of each box of a tree, (boxes,) in (0, 1].

        A part never has fewer matches than its whole: the p of a whole lies between those of its
        parts. Also, n E[1 / F | n] falls in n and rises in p.
        """
        return estimate_each(n, tree.add_up(*self.subjects), tree.add_up(*self.people))
