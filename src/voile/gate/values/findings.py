"""What the value search found: people, what chance alone would find, and the forms."""

from __future__ import annotations

from dataclasses import dataclass

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
class ValueFinding:
    """One figure of the value search. It has no value of anybody.

    name : of the figure. unit : what is counted. says : what the people found have.
    knowledge : the adversary's, in one sentence.
    value : people found. n : people searched. expected : people that chance alone would give.
    deviation : the standard deviation of chance. forms : where the found values stand.
    not_searched : values of fewer than three letters and digits.
    """

    name: str
    unit: str
    says: str
    knowledge: str
    value: int
    n: int
    expected: float
    deviation: float
    forms: tuple[FormCount, ...] = ()
    not_searched: int = 0

    @property
    def beyond_chance(self) -> float:
        """The people found less those expected by chance, at least 0."""
        return max(0.0, self.value - self.expected)

    @property
    def sentence(self) -> str:
        """The figure in words, with the columns and forms of most people."""
        most = "; ".join(
            f"{one.part}.{one.column} ({one.form}) in {one.in_part}.{one.in_column}: {one.people:,}"
            for one in self.forms[:SHOWN]
        )
        return (
            f"{self.value:,} of {self.n:,} {self.unit} {self.says}, {self.expected:.2g} of them "
            f"by chance{f': {most}' if most else ''}"
        )

    @property
    def exceeds_chance(self) -> bool:
        """Whether more people are found than chance gives, by more than two deviations."""
        return self.value > self.expected + 2 * self.deviation
