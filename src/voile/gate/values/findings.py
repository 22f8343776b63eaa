"""The findings of the value search: people, the number expected by chance, and the forms."""

from __future__ import annotations

from dataclasses import dataclass

from voile.gate.finding import GateFinding

CONFIDENCE = 0.99
"""The confidence level of the bound on chance."""
SHOWN = 5
"""The largest number of columns and forms in a sentence."""


@dataclass(frozen=True, kw_only=True)
class FormCount:
    """The number of people with values of one column, in one form, in one released column.

    part, column : the part and the column of the unreleased value.
    in_part, in_column : the part and the column of the released bytes.
    people : the number of people with such a value.
    expected : the number expected by chance alone. Each pair of a person and a value counts, except
        for rare values of others, where people count.
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
    """A figure of the value search: the number of people found, and the number expected by chance.

    It contains no person's values.

    says : the predicate of the sentence about the people found.
    forms : the columns and forms of the found values.
    certain : the number of people found with a value that chance does not explain. The value is
        more than one word of a longer value, and no text of people without the value contains it.
        Judged by its digits and letters, fewer than one random token in a million equals it.
    not_searched : the number of values shorter than three letters, or than two digits for a number.
    """

    says: str
    certain: int = 0
    forms: tuple[FormCount, ...] = ()
    not_searched: int = 0

    @property
    def most_by_chance(self) -> float:
        """The number of people that chance alone exceeds in 1 of 100 releases, by Poisson's law.

        The expected number is an estimate. The bound uses its standard deviation if that gives
        more.
        """
        return bound_chance(self.expected or 0.0, self.deviation or 0.0)

    @property
    def exceeds_chance(self) -> bool:
        """Whether the search found more people than chance alone gives in 99 of 100 releases."""
        return self.value > self.most_by_chance

    @property
    def sentence(self) -> str:
        """The figure as a sentence, with the columns and forms of most people."""
        most = "; ".join(
            f"{one.part}.{one.column} ({one.form}) in {one.in_part}.{one.in_column}: {one.people:,}"
            for one in self.forms[:SHOWN]
        )
        return (
            f"{self.value:,.0f} of {self.n:,} {self.unit} {self.says}, {self.expected:.2g} of "
            f"them by chance{f': {most}' if most else ''}"
        )


def bound_chance(expected: float, deviation: float, *, tests: int = 1) -> float:
    """Return the number that chance alone exceeds in 1 of 100 releases, in any of `tests` tests.

    expected : the mean of a Poisson law, estimated with the standard deviation `deviation`.
    """
    from scipy.stats import norm, poisson

    confidence = 1 - (1 - CONFIDENCE) / tests
    drawn = float(poisson.ppf(confidence, expected))
    return max(drawn, expected + float(norm.ppf(confidence)) * deviation)
