"""The counts of a classifier's decisions on tokens with known truth."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from math import isfinite
from operator import index

from voile.core.errors import RequestError


@dataclass(frozen=True, slots=True)
class TokenConfusion:
    """A classifier's tokens: called an identifier or harmless, and rightly so or not.

    Tokens that were removed before are in none of them.
    """

    tp: int  # identifiers that it finds
    fp: int  # harmless tokens that it takes for identifiers
    tn: int  # harmless tokens that it lets pass
    fn: int  # identifiers that it misses

    def __post_init__(self) -> None:
        for field in fields(self):
            # plain integers: NumPy's overflow inside a Fraction
            number = index(getattr(self, field.name))
            if number < 0:
                raise RequestError(f"the count {field.name} is {number}, and must be 0 or more")
            object.__setattr__(self, field.name, number)

    @property
    def n(self) -> int:
        """All tokens."""
        return self.tp + self.fp + self.tn + self.fn

    @property
    def identifiers(self) -> int:
        """The paper's alpha n."""
        return self.tp + self.fn

    @property
    def harmless(self) -> int:
        """The paper's (1 - alpha) n."""
        return self.fp + self.tn

    @property
    def alpha(self) -> Fraction:
        """The share of identifiers; 0 where there are no tokens."""
        return Fraction(self.identifiers, max(self.n, 1))

    @property
    def positives(self) -> int:
        """Tokens called identifiers."""
        return self.tp + self.fp

    @property
    def negatives(self) -> int:
        """Tokens called harmless."""
        return self.fn + self.tn


def exact(ratio: float | Fraction, name: str = "miss_cost") -> Fraction:
    """Return a cost ratio L/C as a fraction."""
    if not isfinite(ratio) or not ratio > 0:
        raise RequestError(f"{name} is {ratio}, and must be a number above 0")
    return ratio if isinstance(ratio, Fraction) else Fraction(float(ratio))
