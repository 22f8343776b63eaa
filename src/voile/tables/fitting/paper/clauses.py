"""Draw random sublattices that do not overlap the pruned ones (Appendix, Algorithm 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PolicySublattice:
    """All policies between two (Def. 3.6).

    top, bottom : (n_bits,) bool, the most general and the most detailed; bottom keeps every cut
        that top keeps. Cuts on which they differ are *free*, the others fixed.
    """

    top: Bits
    bottom: Bits


class PrunedSublattices:
    """Keep pruned sublattices as clauses, and draw a sublattice that overlaps none of them.

    A sublattice overlaps no pruned one if each of them differs from it in one cut. It keeps a cut
    that the pruned one's bottom lacks, or lacks a cut that the pruned one's top keeps. Each pruned
    sublattice gives one clause, with such cuts as *literals*: 0 .. n_bits - 1 to keep, and n_bits
    .. to lack.
    """

    def __init__(self, n_bits: int) -> None:
        self.n_bits = n_bits
        self._count = 0
        self._clauses = np.zeros((16, 2 * n_bits), dtype=np.bool_)

    def __len__(self) -> int:
        return self._count

    def add(self, pruned: PolicySublattice) -> None:
        """Add a sublattice to overlap no more."""
        if self._count == len(self._clauses):
            self._clauses = np.concatenate([self._clauses, np.zeros_like(self._clauses)])
        self._clauses[self._count] = np.concatenate([~pruned.bottom, pruned.top])
        self._count += 1

    def draw(self, rng: np.random.Generator, required: Bits) -> PolicySublattice | None:
        """Fix a few random cuts to overlap no pruned sublattice; return None if none is left.

        The search goes depth-first over the clauses in a random order. It makes a random literal of
        the first unsatisfied clause true. If that fails, it makes the literal false and tries the
        next. It returns None only when the pruned sublattices cover the lattice. Cost: exponential
        in n_bits at worst.
        """
        true = np.concatenate([required, np.zeros(self.n_bits, dtype=np.bool_)])
        unmet: Bits = np.asarray(~self._clauses[: self._count, true].any(axis=1))
        order = rng.permutation(self._count)
        # What can still be tried: literals made true, clauses unmet, and literals of one clause.
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
        """Make one more literal true; return the literals made true and the clauses unmet."""
        true = true.copy()
        true[literal] = True
        return true, unmet & ~self._clauses[: self._count, literal]

    def _not(self, true: Bits) -> Bits:
        """Return the literals that those made true make false."""
        return np.roll(true, self.n_bits)
