"""Propose a role for every column of a source, and say why: names, types and counts, no values.

A proposal is a start, not a judgement. Where a column gives no sign of what it is, what would tell
people apart is dropped, and the steward decides. For rows of items see `items`, for
readings `readings`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from voile.proposals.column_words import find_words, is_id, names_people
from voile.roles import Role

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.io import Source

ROWS = 100_000  # looked at
LEAST_ROWS = 50  # below these, every column looks unique
NEARLY_UNIQUE = 0.9  # distinct values among those that are there
FREE_TEXT = 30  # characters, on average
ISO_DAY = r"^\d{4}-\d{2}-\d{2}$"  # text of such cells alone is a date
FEW = 0.2  # of rows: an id with fewer distinct values names places rather than people


@dataclass(frozen=True)
class Seen:
    """What was counted of a column in the rows looked at.

    Parameters
    ----------
    kind : ``text``, ``whole``, ``decimal``, ``float``, ``date``, ``truth`` or ``other``.
    present, distinct : values that are not null, and how many different ones.
    length : characters of a text on average. spaced : whether texts hold two spaces on average.
    """

    name: str
    type: str
    kind: str
    rows: int
    present: int
    distinct: int
    length: float = 0.0
    spaced: bool = False

    @property
    def nearly_unique(self) -> bool:
        """Whether it tells almost every row apart."""
        return self.present >= LEAST_ROWS and self.distinct > NEARLY_UNIQUE * self.present

    @property
    def free_text(self) -> bool:
        """Whether it holds sentences."""
        return self.kind == "text" and self.length >= FREE_TEXT and self.spaced

    @property
    def counts(self) -> str:
        """Its type and how many values it has."""
        return f"{printable(self.type)}, {self.distinct:,} distinct in {self.present:,}"


@dataclass(frozen=True)
class ColumnProposal:
    """A column's proposed role, the reason, and settings of the roles file such as ``by``."""

    name: str
    role: Role
    why: str
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Proposal:
    """Proposed roles of a source's columns, and the column that says who a row is about."""

    source: str
    rows: int
    columns: tuple[ColumnProposal, ...]
    subject: str | None

    def by_role(self) -> dict[Role, list[str]]:
        """Return the columns of each role that was proposed."""
        found: dict[Role, list[str]] = {}
        for column in self.columns:
            found.setdefault(column.role, []).append(column.name)
        return found

    def to_toml(self) -> str:
        """Return the roles file, with the reason beside every column."""
        subject = '# subject = "COLUMN" says who a row is about; without it, a row is a person'
        if self.subject is not None:
            subject = f"subject = {_text(self.subject)}  # repeats: one person, many rows"
        entries = [f"{_key(c.name)} = {_value(c)}" for c in self.columns]
        width = min(max(map(len, entries), default=0), 44)
        lines = [
            f"# Proposed from the first {self.rows:,} rows of {printable(self.source)}.",
            "# Correct it: a role is quasi, sensitive, identifier, text, items, reading, private,",
            "# label, keep or drop, and a kept column can undo the rest.",
            "",
            subject,
            "",
            "[columns]",
        ]
        for entry, column in zip(entries, self.columns, strict=True):
            lines.append(f"{entry:<{width}}  # {column.why}")
        return "\n".join([*lines, ""])


def propose(source: Source) -> str:
    """Return the text of a proposed roles file; see `examine`."""
    return examine(source).to_toml()


def examine(source: Source) -> Proposal:
    """Propose a role for every column by its name, its type and the first 100,000 rows.

    Looks at no more than that many rows, which it holds in memory; reasons name types and counts,
    never values.
    """
    table = first_rows(source)
    seen = list(look(table))
    columns = tuple(_propose(column) for column in seen)
    return Proposal(source.name, len(table), columns, find_subject(seen))


def first_rows(source: Source) -> pa.Table:
    """Return the rows that a proposal looks at."""
    import pyarrow as pa

    batches, rows = [], 0
    for batch in source.batches():
        batches.append(batch.slice(0, ROWS - rows))
        rows += len(batches[-1])
        if rows >= ROWS:
            break
    return pa.Table.from_batches(batches, source.schema())


def look(table: pa.Table) -> Iterator[Seen]:
    """Count what the columns of a table hold."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        yield _seen(name, column)


def _seen(name: str, column: pa.ChunkedArray) -> Seen:
    import pyarrow.compute as pc

    kind = _kind(column.type)
    counted = kind != "other"
    seen = Seen(
        name,
        str(column.type),
        kind,
        rows=len(column),
        present=len(column) - column.null_count,
        distinct=pc.count_distinct(column).as_py() if counted else 0,
    )
    if kind != "text" or not seen.present:
        return seen
    if pc.all(pc.match_substring_regex(column, ISO_DAY)).as_py():
        return replace(seen, kind="date")
    length = pc.mean(pc.utf8_length(column)).as_py()
    spaces = pc.mean(pc.count_substring(column, " ")).as_py()
    return Seen(**{**vars(seen), "length": length, "spaced": spaces >= 2})


def _kind(type_: pa.DataType) -> str:
    import pyarrow as pa

    tests = {
        "text": pa.types.is_string,
        "whole": pa.types.is_integer,
        "float": pa.types.is_floating,
        "truth": pa.types.is_boolean,
        "date": lambda t: pa.types.is_date(t) or pa.types.is_timestamp(t),
        "decimal": pa.types.is_decimal,
    }
    return next((kind for kind, test in tests.items() if test(type_)), "other")


def _propose(seen: Seen) -> ColumnProposal:
    role, why = _by_name(seen) or _by_content(seen)
    settings = {"by": "year"} if role == "quasi" and seen.kind == "date" else {}
    return ColumnProposal(seen.name, role, why, settings)


def _by_name(seen: Seen) -> tuple[Role, str] | None:
    found = find_words(seen.name)
    if found is None:
        return None
    entry, word = found
    why = f'its name says "{word}": {entry.about}'
    return _as_quasi(seen, why) if entry.role == "quasi" else (entry.role, why)


def _as_quasi(seen: Seen, why: str) -> tuple[Role, str]:
    """Keep what cannot be a quasi-identifier as it is from being one."""
    if seen.kind == "float":
        return "drop", f"{why}, but in floats; as whole numbers or bins it could be quasi"
    if seen.kind == "other":
        return "drop", f"{why}, but of type {printable(seen.type)}"
    if seen.distinct < 2:
        return "drop", f"{why}, but with one value or none it says nothing"
    return "quasi", f"{why}; {seen.counts}"


def _by_content(seen: Seen) -> tuple[Role, str]:
    if not seen.present:
        return "drop", "empty"
    if seen.kind == "other":
        return "drop", f"of type {printable(seen.type)}, which cannot be generalised"
    if seen.free_text:
        return "text", f"free text, {seen.length:.0f} characters on average"
    if seen.kind == "date":
        return _as_quasi(seen, "a date, which others may know")
    if seen.nearly_unique:
        return "drop", f"tells almost every row apart: {seen.counts}"
    return "keep", f"no sign of a person in its name; {seen.counts}"


def find_subject(seen: Iterable[Seen]) -> str | None:
    """Choose an id that repeats and still has many values; one that names people goes first."""
    candidates = [
        (names_people(column.name), column.distinct, column.name)
        for column in seen
        if is_id(column.name)
        and column.kind in ("text", "whole")
        and 1 < column.distinct < column.present
        and (names_people(column.name) or column.distinct >= FEW * column.present)
    ]
    return max(candidates)[2] if candidates else None


def printable(text: str) -> str:
    """Return a text without what a terminal would act on."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _key(name: str) -> str:
    import tomli_w

    return tomli_w.dumps({name: 0}).rpartition(" = ")[0]


def _text(value: str) -> str:
    import tomli_w

    return tomli_w.dumps({"x": value}).removeprefix("x = ").rstrip("\n")


def _value(column: ColumnProposal) -> str:
    if not column.settings:
        return f'"{column.role}"'
    more = "".join(f", {key} = {_literal(value)}" for key, value in column.settings.items())
    return f'{{ role = "{column.role}"{more} }}'


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return _text(value) if isinstance(value, str) else str(value)
