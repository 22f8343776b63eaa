"""Proposed roles, and the roles file that lists them with a reason for each column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from voile.data.column_words import ends_in, find_words, mentions
from voile.data.roles import Role
from voile.proposals.seen import FEW, ColumnLook, printable


@dataclass(frozen=True)
class ColumnProposal:
    """A column's proposed role, the reason, and settings of the roles file such as ``by``."""

    name: str
    role: Role
    why: str
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RolesProposal:
    source: str
    rows: int
    columns: tuple[ColumnProposal, ...]
    subject: str | None

    def by_role(self) -> dict[Role, list[str]]:
        found: dict[Role, list[str]] = {}
        for column in self.columns:
            found.setdefault(column.role, []).append(column.name)
        return found

    def to_toml(self) -> str:
        """Return the roles file, with a reason for each column."""
        subject = '# subject = "COLUMN" says who a row is about; without it, a row is a person'
        if self.subject is not None:
            subject = f"subject = {_text(self.subject)}  # rows with one value are one person's"
        entries = [f"{_key(c.name)} = {_value(c)}" for c in self.columns]
        width = min(max(map(len, entries), default=0), 44)
        lines = [
            f"# Proposed from the first {self.rows:,} rows of {printable(self.source)}.",
            "# Correct it: a role is quasi, sensitive, identifier, text, items, reading, private,",
            "# known, weight, label, keep or drop, and a kept column can undo the rest. fit stops "
            "at undecided.",
            "",
            subject,
            "",
            "[columns]",
        ]
        for entry, column in zip(entries, self.columns, strict=True):
            lines.append(f"{entry:<{width}}  # {column.why}")
        return "\n".join([*lines, ""])


def find_subject(seen: Iterable[ColumnLook]) -> str | None:
    """Choose an id column that repeats and has many values.

    Columns named after people come first.
    """
    candidates = [
        (mentions(column.name, "people"), column.distinct, column.name)
        for column in seen
        if names_a_subject(column)
        and column.kind in ("text", "whole")
        and 1 < column.distinct < column.present
        and (mentions(column.name, "people") or column.distinct >= FEW * column.present)
    ]
    return max(candidates)[2] if candidates else None


def names_a_subject(seen: ColumnLook) -> bool:
    """Return whether a column's name means an id: patient_id, or patient for a text column."""
    return mentions(seen.name, "number") or (seen.kind == "text" and ends_in(seen.name, "people"))


def identifying(seen: ColumnLook) -> str | None:
    """Return why a column is an identifier, by its name or its values, or None if it is not."""
    if seen.identifiers is not None:
        return f"its values are {seen.identifiers}"
    found = find_words(seen.name)
    if found and found[0].role == "identifier":
        return f'its name contains "{found[1]}": {found[0].about}'
    if found is None and seen.present and ends_in(seen.name, "people"):
        return "by its name it identifies a row's person"
    if seen.numbers_people and found is None:
        return f"a whole number of its own in each row; {seen.counts}"
    return None


def _key(name: str) -> str:
    import tomli_w

    return _escape_quoted(tomli_w.dumps({name: 0}).rpartition(" = ")[0])


def _text(value: str) -> str:
    import tomli_w

    return _escape_quoted(tomli_w.dumps({"x": value}).removeprefix("x = ").rstrip("\n"))


def _escape_quoted(quoted: str) -> str:
    """Escape characters that an editor hides or executes, such as marks that reverse text."""
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)


def _value(column: ColumnProposal) -> str:
    if not column.settings:
        return f'"{column.role}"'
    more = "".join(f", {key} = {_literal(value)}" for key, value in column.settings.items())
    return f'{{ role = "{column.role}"{more} }}'


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return _text(value) if isinstance(value, str) else str(value)
