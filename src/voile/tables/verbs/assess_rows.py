"""Read the rows of a release of any origin for the gate: cells as text, and their people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.data.roles import AS_IT_IS
from voile.data.source import TableSource
from voile.gate.finding import GateFinding
from voile.gate.groups import PeopleOf, TableColumns, open_groups
from voile.gate.table import measure_table
from voile.tables.domains.domain import encode_cells
from voile.tables.foreign.bounds import released_as
from voile.tables.foreign.notation import SUPPRESSED
from voile.tables.verbs.assess_stage import ForeignTablesStage

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ForeignRows(BriefRepr):
    """A release's rows, with one label as text for each released quasi-identifier.

    Attributes
    ----------
    table : the labels, and the other columns.
    labels : the names of the label columns.
    columns : the use of the columns.
    empty : by label, the texts that mean no value.
    everyone : the person of each row of the original.
    rows : the original row of each released row.
    """

    shows = ("labels",)

    table: pa.Table
    labels: Sequence[str]
    columns: TableColumns
    empty: Mapping[str, frozenset[str]]
    everyone: Numbers
    rows: Numbers

    @classmethod
    def of(cls, stage: ForeignTablesStage) -> ForeignRows:
        """Read the labels of a release, and the people of the matched original rows.

        Raises
        ------
        AssertionError : a row was matched with a row of other values in a kept column.
        """
        cells, roles = stage.cells, stage.roles
        released = {name: released_as(name, cells.column_names) for name in roles.of("quasi")}
        labels = {
            domain.column: _label(
                [cells.column(name) for name in released[domain.column]],
                int((domain.codes(stage.originals.column(domain.column)) == len(domain) - 1).sum())
                * domain.nullable,
            )
            for domain in stage.space.domains
            if released[domain.column]
        }
        table = cells.drop_columns([name for own in released.values() for name in own])
        kept = [name for name in roles.of(*AS_IT_IS) if name in table.column_names]
        _check_matched(stage, [name for name in kept if name not in stage.changed_columns])
        columns = TableColumns(
            sensitive=[
                name
                for name in kept
                if name in roles.of("sensitive")
                and not pa.types.is_floating(table.schema.field(name).type)
            ],
            known=[*labels, *kept],
            others=table.column_names,
        )
        for name, texts in labels.items():
            table = table.append_column(name, texts)
        return cls(
            table,
            [*labels],
            columns,
            {name: _empty_texts(table.column(name)) for name in labels},
            _number_people(stage),
            stage.rows,
        )

    @property
    def who(self) -> Numbers:
        """Return the person of each row, (rows,)."""
        return self.everyone[self.rows]

    @property
    def is_suppressed(self) -> NDArray[np.bool_]:
        """Return whether every label of a row is suppressed, (rows,) bool."""
        found = np.ones(self.table.num_rows, dtype=np.bool_)
        for name, empty in self.empty.items():
            texts, places = encode_cells(self.table.column(name))
            found &= np.array([text in empty for text in texts], dtype=np.bool_)[places]
        return found

    def measure(self, people_of: PeopleOf, *, has_people: bool) -> tuple[GateFinding, ...]:
        """Return the gate's findings."""
        shown = len(np.unique(self.who[~self.is_suppressed]))
        truth = pa.table({"person": self.who, "row": self.rows})
        people = TableSource(truth, "people", "memory")
        with open_groups(
            TableSource(self.table, "release", "memory"),
            self.labels,
            columns=self.columns,
            people=people if has_people else None,
            suppressed=self.empty,
        ) as groups:
            return measure_table(
                groups,
                people_of=people_of,
                suppressed=float(len(np.unique(self.everyone)) - shown),
            )

    def first_rows(self, groups: pa.Table) -> Numbers:
        """Return one row of each group of labels."""
        first = {row: number for number, row in enumerate(_tuples(self.table, self.labels))}
        return np.array([first[group] for group in _tuples(groups, self.labels)], dtype=np.int64)


def _label(columns: Sequence[pa.ChunkedArray], nulls: int) -> pa.Array:
    """Return one label for the released columns of a quasi-identifier.

    Null is a value if at most `nulls` rows have it, the number in the original. Otherwise it is
    suppressed.
    """
    texts = [_texts(column) for column in columns]
    rows = texts[0] if len(texts) == 1 else [_bounds(*pair) for pair in zip(*texts, strict=True)]
    missing = None if 0 < rows.count(None) <= nulls else ""
    return pa.array([missing if text is None else text for text in rows], pa.string())


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    cells, places = encode_cells(column)
    texts = [None if cell is None else str(cell) for cell in cells]
    return [texts[place] for place in places.tolist()]


def _bounds(low: str | None, high: str | None) -> str | None:
    return None if low is None and high is None else f"{low} to {high}"


def _empty_texts(column: pa.ChunkedArray) -> frozenset[str]:
    texts = column.unique().drop_null().to_pylist()
    return frozenset(text for text in texts if text.strip() in SUPPRESSED)


def _tuples(table: pa.Table, columns: Sequence[str]) -> list[tuple[str | None, ...]]:
    return list(zip(*(table.column(name).to_pylist() for name in columns), strict=True))


def _check_matched(stage: ForeignTablesStage, kept: Sequence[str]) -> None:
    """Check each released row against the original row with which it was matched."""
    rows = pa.array(stage.rows)
    for name in kept:
        if _texts(stage.originals.column(name).take(rows)) != _texts(stage.cells.column(name)):
            raise AssertionError(f"rows are matched with others in column {name}")


def _number_people(stage: ForeignTablesStage) -> Numbers:
    """Number the person of each original row. A row without a subject is a separate person."""
    if stage.person is None:
        return np.arange(stage.originals.num_rows)
    names, places = encode_cells(stage.originals.column(stage.person))
    nobody = np.array([name is None for name in names], dtype=np.bool_)[places]
    return np.where(nobody, -1 - np.arange(len(places)), places)
