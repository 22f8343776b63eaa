"""What the value search found: people, what chance alone would find, and the forms."""

from __future__ import annotations

from dataclasses import dataclass

from voile.gate.finding import GateFinding

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
    not_searched : values of fewer than three letters and digits.
    """

    says: str
    forms: tuple[FormCount, ...] = ()
    not_searched: int = 0

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
