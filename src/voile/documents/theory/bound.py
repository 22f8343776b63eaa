"""A lemma or a theorem, applied to the numbers of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from operator import eq, ge, le
from typing import Literal, TypeAlias

Relation: TypeAlias = Literal["<=", ">=", "="]

_HOLDS = {"<=": le, ">=": ge, "=": eq}


@dataclass(frozen=True, slots=True)
class TheoryBound:
    """A statement about one number of a run: `observed` `relation` `value`."""

    name: str  # "Theorem 3"
    statement: str  # the claim, in the symbols of the paper
    relation: Relation  # the relation of the observed number to the bound
    value: Fraction | None = None  # the bound; None if it does not apply, or needs no number
    observed: Fraction | None = None  # the number of the run; None if there is none
    applies: bool = True  # whether all conditions hold
    vacuous: bool = False  # whether the bound adds nothing to known facts
    # the reason if it does not apply, is vacuous or needs no numbers; symbols are in brackets
    reason: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the number of the run satisfies the bound; None if the bound does not apply."""
        if not self.applies:
            return None
        if self.value is None or self.observed is None:
            return True
        return bool(_HOLDS[self.relation](self.observed, self.value))

    @property
    def verdict(self) -> str:
        """The result for the run, without its name and statement."""
        if not self.applies:
            return f"does not apply: {self.reason}"
        numbers = ""
        if self.value is not None and self.observed is not None:
            relation = self.relation if self.holds else f"not {self.relation}"
            numbers = f"{float(self.observed):.6g} {relation} {float(self.value):.6g}"
        if not self.vacuous:
            return numbers or self.reason
        return f"vacuous: {self.reason}" + (f" ({numbers})" if numbers else "")

    def __str__(self) -> str:
        return f"{self.name}: {self.statement}: {self.verdict}"


def first_failure(conditions: Iterable[tuple[bool, str]]) -> str | None:
    """Return the reason of the first condition that does not hold."""
    return next((reason for holds, reason in conditions if not holds), None)
