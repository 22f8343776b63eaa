"""Counts of a classifier's decisions on tokens with known truth."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from math import isfinite
from operator import index

from voile.core.errors import RequestError


@dataclass(frozen=True, slots=True)
class TokenConfusion:
    """The confusion matrix of a classifier's decisions on tokens.

    Tokens that earlier passes removed are not counted.
    """

    tp: int  # identifiers that the classifier finds
    fp: int  # harmless tokens that the classifier marks
    tn: int  # harmless tokens that the classifier does not mark
    fn: int  # identifiers that the classifier misses

    def __post_init__(self) -> None:
        for field in fields(self):
            # convert to plain integers, since NumPy integers overflow inside a Fraction
            number = index(getattr(self, field.name))
            if number < 0:
                raise RequestError(f"the count {field.name} is {number}, and must be 0 or more")
            object.__setattr__(self, field.name, number)

    @property
    def n(self) -> int:
        """The number of all tokens."""
        return self.tp + self.fp + self.tn + self.fn

    @property
    def identifiers(self) -> int:
        """The number of identifiers, alpha n in the paper."""
        return self.tp + self.fn

    @property
    def harmless(self) -> int:
        """The number of harmless tokens, (1 - alpha) n in the paper."""
        return self.fp + self.tn

    @property
    def alpha(self) -> Fraction:
        """The share of identifiers; 0 if there are no tokens."""
        return Fraction(self.identifiers, max(self.n, 1))

    @property
    def positives(self) -> int:
        """The number of tokens that the classifier marks as identifiers."""
        return self.tp + self.fp

    @property
    def negatives(self) -> int:
        """The number of tokens that the classifier does not mark."""
        return self.fn + self.tn


def exact(ratio: float | Fraction, name: str = "miss_cost") -> Fraction:
    """Return a cost ratio L/C as a fraction."""
    if not isfinite(ratio) or not ratio > 0:
        raise RequestError(f"{name} is {ratio}, and must be a number above 0")
    return ratio if isinstance(ratio, Fraction) else Fraction(float(ratio))
