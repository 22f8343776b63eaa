"""Find policies that no single attribute can improve, for more and more weights of risk."""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from voile.tables.fitting.searches import steepest
from voile.tables.fitting.searches.interval import SearchAim, attributes_of, penalties, settle
from voile.tables.fitting.searches.run import TablesSearchRun
from voile.tables.fitting.searches.slopes import slopes

if TYPE_CHECKING:
    from voile.tables.fitting.scoring.evaluator import Policies

ROUND = 16
SMALL = 8
FLIPPED = 4
APART = 200


class LadderSearch:
    """A search that improves policies for the hull's slopes, each weight helped by its neighbours.

    For a weight, the search starts from the best policy found for it, and from the results for the
    neighbouring weights. From each start, `settle` improves one attribute after another. After the
    first round, every fourth weight also starts with one bit of a small attribute flipped.
    Otherwise the partition of the other attributes may keep that split point in place. From the
    best result, the steepest chain continues upwards while it finds improvements. Each penalty on
    suppression has its own ladder.
    """

    def __init__(self, run: TablesSearchRun) -> None:
        self._run = run
        self._attributes = attributes_of(run)
        small = np.zeros(run.n_bits, dtype=np.bool_)
        for attribute in self._attributes:
            small[attribute.bits] = attribute.bits.stop - attribute.bits.start <= SMALL
        self._small = np.flatnonzero(small & ~run.required)
        self._rungs = {penalty: _LadderRungs() for penalty in penalties(run)}
        self._known: set[tuple[float, int, bytes]] = set()
        self._slopes = slopes(run, run.taken_up + 1)
        self._weights = 0

    def round(self, most: float = math.inf) -> bool:
        """Improve policies for 16 more weights, and return False if all their starts were known.

        The round ends earlier if the run has made `most` evaluations.
        """
        fresh = False
        for weight in islice(self._slopes, ROUND):
            flip = self._weights >= ROUND and self._weights % FLIPPED == 0
            self._weights += 1
            if self._run.evaluations >= most:
                break
            for penalty, rungs in self._rungs.items():
                fresh |= self._settle(SearchAim(weight, penalty), rungs, flip)
        return fresh

    def _settle(self, aim: SearchAim, rungs: _LadderRungs, flip: bool) -> bool:
        run = self._run
        best = run.best_for(aim.weight)
        starts = [best, *rungs.beside(aim.weight)]
        if flip:
            starts += list(best ^ np.eye(run.n_bits, dtype=np.bool_)[self._small])
        found = [
            settle(run, self._attributes, start, aim, near=True)
            for start in starts
            if self._is_new(aim, start)
        ]
        if not found:
            return False
        _, policy = min(found, key=lambda one: one[0])
        rungs.insert_policy(aim.weight, policy)
        steepest.descend(run, policy, rescue=run.evaluator.rules.active, while_it_gains=True)
        return True

    def _is_new(self, aim: SearchAim, start: Policies) -> bool:
        key = aim.penalty, round(APART * np.log(aim.weight)), np.packbits(start).tobytes()
        known = key in self._known
        self._known.add(key)
        return not known


class _LadderRungs:
    def __init__(self) -> None:
        self._weights: list[float] = []
        self._policies: list[Policies] = []

    def insert_policy(self, weight: float, policy: Policies) -> None:
        at = bisect_left(self._weights, weight)
        self._weights.insert(at, weight)
        self._policies.insert(at, policy)

    def beside(self, weight: float) -> list[Policies]:
        """Return the policies of the next lower weight and of the next weight that is not lower."""
        at = bisect_left(self._weights, weight)
        return self._policies[max(at - 1, 0) : at + 1]
