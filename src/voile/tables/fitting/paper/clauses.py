"""Draw random sublattices that do not overlap the pruned ones (Appendix, Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PolicySublattice:
    """All policies between two policies (Def. 3.6).

    Attributes
    ----------
    top, bottom : (n_bits,) bool, the most general and the most specific policy. The bottom has
        every split point of the top. Split points on which they differ are *free*, and the others
        are fixed.
    """

    top: Bits
    bottom: Bits


class PrunedSublattices:
    """A set of pruned sublattices, stored as clauses, that new sublattices must not overlap.

    A sublattice overlaps no pruned one if each of them differs from it in one split point. It then
    has a split point that the pruned one's bottom lacks, or lacks a split point that the pruned
    one's top has. Each pruned sublattice gives one clause of such *literals*: 0 .. n_bits - 1 to
    have a split point, and n_bits .. to lack it.
    """

    def __init__(self, n_bits: int) -> None:
        self.n_bits = n_bits
        self._count = 0
        self._clauses = np.zeros((16, 2 * n_bits), dtype=np.bool_)

    def __len__(self) -> int:
        return self._count

    def add(self, pruned: PolicySublattice) -> None:
        """Add a sublattice that later draws must not overlap."""
        if self._count == len(self._clauses):
            self._clauses = np.concatenate([self._clauses, np.zeros_like(self._clauses)])
        self._clauses[self._count] = np.concatenate([~pruned.bottom, pruned.top])
        self._count += 1

    def draw(self, rng: np.random.Generator, required: Bits) -> PolicySublattice | None:
        """Fix a few random split points so that no pruned sublattice is overlapped.

        The search is depth-first over the clauses in random order. It makes a random literal of
        the first unsatisfied clause true. If that fails, it makes the literal false and tries the
        next. Cost: exponential in n_bits in the worst case.

        Returns
        -------
        sublattice : the drawn sublattice, or None only if the pruned sublattices cover the lattice.
        """
        true = np.concatenate([required, np.zeros(self.n_bits, dtype=np.bool_)])
        unmet: Bits = np.asarray(~self._clauses[: self._count, true].any(axis=1))
        order = rng.permutation(self._count)
        # Open branches: literals made true, unsatisfied clauses, and literals of one clause.
        stack: list[tuple[Bits, Bits, NDArray[np.intp]]] = []
        while unmet.any():
            clause = self._clauses[order[unmet[order].argmax()]]
            stack.append((true, unmet, rng.permutation(np.flatnonzero(clause & ~self._not(true)))))
            while stack and not len(stack[-1][2]):
                stack.pop()
            if not stack:
                return None
            before, unmet_before, literals = stack.pop()
            true, unmet = self._make(before, unmet_before, literals[0])
            negation = (literals[0] + self.n_bits) % (2 * self.n_bits)
            stack.append((*self._make(before, unmet_before, negation), literals[1:]))
        return PolicySublattice(true[: self.n_bits], ~true[self.n_bits :])

    def _make(self, true: Bits, unmet: Bits, literal: np.intp) -> tuple[Bits, Bits]:
        """Make one more literal true, and return the true literals and the unsatisfied clauses."""
        true = true.copy()
        true[literal] = True
        return true, unmet & ~self._clauses[: self._count, literal]

    def _not(self, true: Bits) -> Bits:
        """Return the literals that are false because of the true ones."""
        return np.roll(true, self.n_bits)
