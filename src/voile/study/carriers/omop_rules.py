"""The rules of the OMOP tables, read from `omop_tables.toml`: the treatment of each column.

Source: OMOP Common Data Model 5.4. All columns of each released table are written in the model's
order. The tables can therefore be loaded in place of the model's own tables.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import pyarrow as pa

ID, PERSON, HOME, REF, DOMAIN = "id", "person", "home", "->", "domain"
KEEP, NEEDED, SHIFT, FIRST_DAY = "keep", "needed keep", "shift", "needed shift"
TEXT, SHOWN, READ, SPANNED, DROP = "text", "shown", "read", "spanned", "drop"
NO_RULE = "no rule: not a table of the model 5.4"
UNKNOWN = "unknown"
"""The reason for columns that the model does not have."""
_TYPES = {
    "integer": pa.int64(),
    "float": pa.float64(),
    "text": pa.string(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
}
_MADE = frozenset((DROP, SPANNED))
"""Rules with cells that do not come from the source."""


@dataclass(frozen=True)
class ColumnRule:
    """The treatment of a column: its Arrow type, the rule, and the rule's table or reason."""

    type: pa.DataType
    rule: str
    of: str = ""

    @classmethod
    def parse(cls, text: str) -> ColumnRule:
        """Parse `TYPE RULE`, such as `integer -> visit_occurrence` or `text drop source`."""
        kind, _, rule = text.partition(" ")
        first, _, of = rule.partition(" ")
        return cls(_TYPES[kind], first, of) if first in (REF, DROP) else cls(_TYPES[kind], rule)


@dataclass(frozen=True)
class TableRules:
    """The treatment of a table: its columns in order, and the kind of fact of its rows."""

    columns: Mapping[str, ColumnRule]
    fact: str | None = None

    @property
    def source_columns(self) -> Mapping[str, ColumnRule]:
        """The columns that come from the source."""
        return {name: one for name, one in self.columns.items() if one.rule not in _MADE}

    @property
    def days(self) -> list[str]:
        """The columns of days that move."""
        return [n for n, one in self.columns.items() if one.rule in (SHIFT, FIRST_DAY)]

    @property
    def kept_columns(self) -> list[str]:
        """The columns with cells that are released unchanged."""
        return [n for n, one in self.columns.items() if one.rule in (KEEP, NEEDED)]

    @property
    def person(self) -> str | None:
        """The column of the person."""
        return next((n for n, one in self.columns.items() if one.rule == PERSON), None)

    @property
    def id(self) -> str | None:
        """The column of the row's own id."""
        return next((n for n, one in self.columns.items() if one.rule == ID), None)

    def reason(self, column: str) -> str | None:
        """Return the reason for not releasing a source column, or None if it is released."""
        one = self.columns.get(column)
        if one is None:
            return str(_rules()["reasons"][UNKNOWN])
        return str(_rules()["reasons"][one.of]) if one.rule == DROP else None


@cache
def _rules() -> Mapping[str, Any]:
    text = files("voile.study.carriers").joinpath("omop_tables.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def table_rules() -> Mapping[str, TableRules]:
    """Return the rules of each released table, with the tables that others refer to first."""
    return {
        name: TableRules(
            {
                column: ColumnRule.parse(rest)
                for column, _, rest in (
                    line.partition(" ") for line in table["columns"].strip().splitlines()
                )
            },
            table.get("fact"),
        )
        for name, table in _rules().items()
        if "columns" in table
    }


def domain_tables() -> Mapping[str, str]:
    """Return the table of each domain of `cost`."""
    return dict(_rules()["domains"])


def why_unreleased(table: str) -> str:
    """Return the reason for not releasing a whole table."""
    return str(_rules()["unreleased"].get(table, NO_RULE))


def schema_of(table: str) -> pa.schema:
    columns = table_rules()[table].columns
    return pa.schema([(name, one.type) for name, one in columns.items()])


def event_of(table: str, row: Mapping[str, Any]) -> tuple[str, tuple[Any, ...] | None]:
    """Return the kind of a row, and the kept cells that an acquaintance may know.

    A concept of 0 is unknown. A row of a table without facts only has its days.
    """
    rules = table_rules()[table]
    if rules.fact is None:
        return table, None
    cells = ((name, row.get(name)) for name in rules.kept_columns)
    known = tuple((n, x) for n, x in cells if x is not None and (x or not n.endswith("_id")))
    died = (("died", True),) if table == "death" else ()
    return rules.fact, (*died, *known) or None
