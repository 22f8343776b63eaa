"""What the value search found: people, what chance alone would find, and the forms."""

from __future__ import annotations

from dataclasses import dataclass

from voile.gate.finding import GateFinding

CONFIDENCE = 0.99
"""Of the bound on chance."""
SHOWN = 5
"""Columns and forms that a sentence lists."""


@dataclass(frozen=True, kw_only=True)
class FormCount:
    """The people of one column whose values stand in one form in one released column.

    part, column : of the unreleased value. in_part, in_column : of the released bytes. people :
    with such a value. expected : of these by chance, in people and values together.
    """

    part: str
    column: str
    form: str
    in_part: str
    in_column: str
    people: int
    expected: float


@dataclass(frozen=True, kw_only=True)
class ValueFinding(GateFinding):
    """A figure of the value search: people, and chance. It has no value of anybody.

    says : what the people found have. forms : where the found values stand.
    certain : of these people, the ones of whom a whole value stands there by no chance: nobody
        else's text has it, and fewer than one token in a million by its digits and letters.
    not_searched : values of fewer than three letters and two digits.
    """

    says: str
    certain: int = 0
    forms: tuple[FormCount, ...] = ()
    not_searched: int = 0

    @property
    def most_by_chance(self) -> float:
        """The people that chance alone exceeds in one of 100 releases, by Poisson's law.

        The expected number is estimated; its own deviation counts where that is more.
        """
        return bound_chance(self.expected or 0.0, self.deviation or 0.0)

    @property
    def exceeds_chance(self) -> bool:
        """Whether there are more people than chance alone gives in 99 of 100 releases."""
        return self.value > self.most_by_chance

    @property
    def sentence(self) -> str:
        """The figure in words, with the columns and forms of most people."""
        most = "; ".join(
            f"{one.part}.{one.column} ({one.form}) in {one.in_part}.{one.in_column}: {one.people:,}"
            for one in self.forms[:SHOWN]
        )
        return (
            f"{self.value:,.0f} of {self.n:,} {self.unit} {self.says}, {self.expected:.2g} of "
            f"them by chance{f': {most}' if most else ''}"
        )


def bound_chance(expected: float, deviation: float, *, tests: int = 1) -> float:
    """Return what chance alone exceeds in one of 100 releases, in any of some tests.

    expected : the mean of a Poisson law, estimated with a `deviation`.
    """
    from scipy.stats import norm, poisson

    confidence = 1 - (1 - CONFIDENCE) / tests
    drawn = float(poisson.ppf(confidence, expected))
    return max(drawn, expected + float(norm.ppf(confidence)) * deviation)
