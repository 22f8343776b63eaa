"""Design a sample that is read in turns, after each of which the rest of a release may be accepted.

The rest has `units` tokens. An unknown number K of them still identify a person. Tokens are drawn
one by one, without replacement, and each is shown in its line. Identifiers that readers find are
removed. The rest is accepted as soon as K minus the found identifiers is proved to be at most
`allowed`. This happens after `turns[a]` tokens if a identifiers were found in them. The rest is
never accepted if more than len(turns) - 1 are found.

**Proposition.** Take any K and any positions of the identifiers. The probability that the rest is
accepted with more than `allowed` identifiers left in it is at most `size(...)`, exactly.

Proof. A reader sees each drawn identifier with the probability `recall`, independently of the
others. Decide at random, before the sample is drawn, which identifiers would be seen. Their number
is D ~ Binomial(K, recall). Given D, the number found in the first n drawn is hypergeometric. From
one turn to the next it is a Markov chain. `stops` computes the probability C(D, a) that this chain
first stops at turn a. Acceptance at turn a has found exactly a. With fewer at that turn, there were
also fewer at the turn before, which would have accepted. The acceptance is false if and only if K -
a > allowed. So the probability is sum_D P(D | K) sum_{a < K - allowed} C(D, a). For K > allowed +
len(turns) the inner sum has all terms. More identifiers only make acceptance at any turn rarer,
since one more in the population lowers no count. So the largest probability over K is at some K in
allowed + 1 .. allowed + len(turns). ∎

The same is true if only a lower limit of the recall is known. Each probability falls as the recall
rises, since D rises with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

import numpy as np

from voile.documents.acceptance import limits

TURNS = 12
FITTED, CAREFUL = 4, 0.995
"""The number of fits of a turn's nominal level to the total level, and their precision."""
FALLING = 0.7
"""The ratio of successive turns' levels. Most samples of a good rest find few identifiers."""
NOMINAL = 0.75
"""The approximate share of a level that the first turn has."""
_HARDLY = 1e-12


@dataclass(frozen=True)
class SampleDesign:
    """The rule that decides when the rest is accepted.

    Parameters
    ----------
    units : the tokens of the rest.
    allowed : the identifiers that may be left in it.
    recall : the reader's recall, or its lower limit, in (0, 1].
    turns : increasing numbers of tokens, after which 0, 1, 2, ... found identifiers are accepted.
    """

    units: int
    allowed: int
    recall: float
    turns: tuple[int, ...]

    def decide(self, read: int, found: int) -> bool | None:
        """Return whether the rest is accepted after `read` tokens; None to read on."""
        if found >= len(self.turns):
            return False
        return True if read >= self.turns[found] else None

    def size(self) -> float:
        """Return the largest probability of false acceptance, over all K: see the proposition."""
        chances = [0.0]
        most = min(self.allowed + len(self.turns), self.units)
        seen = np.arange(_unlikely(self.allowed + 1, self.recall), most + 1)
        stopped = stops(self.units, self.turns, seen)
        for there in range(self.allowed + 1, most + 1):
            here = seen <= there
            false = stopped[here, : there - self.allowed].sum(axis=1)
            chances.append(float(limits.binomial(seen[here], there, self.recall) @ false) + _HARDLY)
        return max(chances)


def _unlikely(there: int, recall: float) -> int:
    """Return a count that the seen of `there` rarely fall below.

    The probability of fewer is at most `_HARDLY`.
    """
    return max(int(there * recall - sqrt(there * log(1 / _HARDLY) / 2)), 0)  # Hoeffding 1963


def stops(units: int, turns: tuple[int, ...], seen: limits.Ints) -> limits.Floats:
    """Return the probabilities C(D, a) of the first stop at each turn, (D, turns).

    The values of D are `seen`.

    Cost: O(D turns^3).
    """
    there = seen[:, None]
    looks = len(turns)
    counts = np.arange(looks)  # larger counts are never accepted, so they are not tracked
    chances = limits.hypergeometric(counts, np.asarray(units), there, turns[0])
    stopped = np.zeros((len(seen), looks))
    for turn, read in enumerate(turns):
        if turn:
            more = counts[None, :] - counts[:, None]  # (before, after)
            left = np.maximum(there[:, :, None] - counts[None, :, None], 0)
            step = limits.hypergeometric(
                more[None], np.asarray(units - turns[turn - 1]), left, read - turns[turn - 1]
            )
            chances = np.einsum("db,dba->da", chances, step)
        stopped[:, turn] = chances[:, turn]
        chances = np.where(counts <= turn, 0.0, chances)
    return stopped


@lru_cache(maxsize=4096)
def design(
    units: int, allowed: int, recall: float, level: float, looks: int
) -> SampleDesign | None:
    """Return the design with `looks` turns and false acceptances of at most `level`.

    The first turn's nominal level is approximately the largest for which the probability of the
    proposition is at most `level`. The result is None if no amount of reading proves it.

    >>> design(10_000, 9, 1.0, .05, 1)
    SampleDesign(units=10000, allowed=9, recall=1.0, turns=(2588,))
    >>> design(10_000, 9, 1.0, .05, 3).turns
    (2691, 3995, 4939)
    """
    if allowed < 0 or allowed >= units:
        return None if allowed < 0 else SampleDesign(units, allowed, recall, (0,))
    if looks == 1:
        return turns_at(units, allowed, recall, level, 1)
    nominal, best = level * NOMINAL, None
    for _ in range(FITTED):
        tried = turns_at(units, allowed, recall, nominal, looks)
        size = tried.size() if tried is not None else 1.0
        if size <= level:
            best = tried
        nominal *= min(CAREFUL * level / size, 1 / NOMINAL) if size else 1.0
    return best


def turns_at(
    units: int, allowed: int, recall: float, level: float, looks: int
) -> SampleDesign | None:
    """Return a sample's design: the numbers of tokens after which a reading is accepted.

    After `turns[i]` tokens with i identifiers found, one identifier too many is refuted at the
    level `level` * `FALLING`^i. Returns None if even reading all tokens without a find refutes
    nothing.
    """
    turns: list[int] = []
    for found in range(looks):
        there, own = allowed + found + 1, level * FALLING**found

        def refutes(read: int, found: int = found, there: int = there, own: float = own) -> bool:
            return limits.seen_at_most(found, read, units, there, recall) <= own

        if there <= units and not refutes(units):
            return None if not turns else SampleDesign(units, allowed, recall, tuple(turns))
        turns.append(limits.smallest(turns[-1] if turns else 0, units, refutes))
    return SampleDesign(units, allowed, recall, tuple(turns))
