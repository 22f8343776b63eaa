"""Prepare a release of any origin and its original: read the cells, and match the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError, nearest
from voile.data import Source
from voile.data.roles import AS_IT_IS, Role, Roles
from voile.report.wording import join_names
from voile.tables.attack.records import IntervalRecords, distinct_rows
from voile.tables.domains.domain import encode_cells
from voile.tables.domains.parser import EXAMPLES
from voile.tables.domains.settings import PATHS
from voile.tables.foreign.bounds import BOUNDS, join_bounds, released_as
from voile.tables.foreign.columns import ForeignCodebook, groups_of, read_column
from voile.tables.foreign.keys import RowSides
from voile.tables.foreign.matching import match_in_order, match_rows
from voile.tables.people.table_counts import TableCounts, count_source
from voile.tables.verbs.options import AssessOptions
from voile.tables.verbs.scene import TablesStage

NAMES: tuple[Role, ...] = ("identifier", "drop")
"""The roles of the original's columns that may identify its rows."""


@dataclass(frozen=True, eq=False)
class ForeignTablesStage(TablesStage):
    """The inputs of the attacks on a release of any origin.

    Attributes
    ----------
    truth : the original.
    released_source : the release.
    rng : the source of random choices among equal rows in matching.
    """

    truth: Source
    released_source: Source
    roles: Roles
    options: AssessOptions
    rng: np.random.Generator

    @cached_property
    def space(self) -> TableCounts:
        """Return the original's domains, and its people by combination."""
        return count_source(
            self.truth,
            None if self.options.population is None else [self.options.population],
            self.roles.of("quasi"),
            subject=self.roles.subject,
            people=self.options.people,
            population_gap=self.options.population_gap,
            settings=self.settings,
        )

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        return {name: self.roles.settings_of(name, PATHS) for name in self.roles.of("quasi")}

    @cached_property
    def cells(self) -> pa.Table:
        """Return the records with their cells as in the release."""
        rows = _as_text(self.released_source.read())
        name = self.options.counts
        return rows if name is None else _repeat_rows(rows, name, self.released_source.name)

    @cached_property
    def originals(self) -> pa.Table:
        """Return the original's rows."""
        return self.truth.read()

    @cached_property
    def _exact_codebook(self) -> tuple[ForeignCodebook, NDArray[np.int32]]:
        columns, codes, rows = [], [], self.cells.num_rows
        for domain in self.space.domains:
            name = domain.column
            nulls = int((domain.codes(self.originals.column(name)) == len(domain) - 1).sum())
            groups = groups_of(self.settings[name], name)
            own = [self.cells.column(one) for one in self.released_as[name]]
            given = own[0] if own else None
            if len(own) == len(BOUNDS):
                given, bounds = join_bounds(domain, *own)
                groups = groups | bounds
            column, numbers = read_column(domain, groups, given, rows, nulls * domain.nullable)
            columns.append(replace(column, is_bounded=len(own) == len(BOUNDS)))
            codes.append(numbers)
        stacked = np.column_stack(codes).astype(np.int32)
        return ForeignCodebook.of(columns, stacked), stacked

    @cached_property
    def released_as(self) -> dict[str, tuple[str, ...]]:
        """Return the released columns of each quasi-identifier."""
        names = self.cells.column_names
        return {name: released_as(name, names) for name in self.roles.of("quasi")}

    @property
    def generalised_columns(self) -> list[str]:
        """Return the released columns that represent quasi-identifiers."""
        return [name for own in self.released_as.values() for name in own]

    @cached_property
    def codebook(self) -> ForeignCodebook:
        """Return the possible values of each cell.

        The matched rows determine whether a range includes missing values.
        """
        book, codes = self._exact_codebook
        if self.options.synthetic or not any(one.may_lack.any() for one in book.columns):
            return book
        values = self.positions[self.rows]
        each = zip(book.columns, codes.T, values.T, strict=True)
        columns = tuple(column.match_missing(*own) for column, *own in each)
        return replace(book, columns=columns)

    @property
    def released_cells(self) -> NDArray[np.int32]:
        """Return the cell numbers of released rows, (rows, q)."""
        return self._exact_codebook[1]

    @cached_property
    def positions(self) -> NDArray[np.int32]:
        """Return the values of the original's rows, (rows, q)."""
        return self._exact_codebook[0].positions(self.originals, blank_is_unknown=False)

    @property
    def subject(self) -> str | None:
        """Return the original's column of subjects."""
        return self.roles.subject

    @cached_property
    def kept_columns(self) -> list[str]:
        """Return the columns in both tables that were not generalised, without identifiers."""
        return [name for name in self.roles.of(*AS_IT_IS) if name in self.cells.column_names]

    @property
    def sensitive(self) -> list[str]:
        """Return the sensitive columns of the release."""
        return [name for name in self.kept_columns if name in self.roles.of("sensitive")]

    @cached_property
    def changed_columns(self) -> list[str]:
        """Return the kept columns with values, or rows of a value, that the original lacks."""
        return [name for name in self.kept_columns if not self._is_as_it_was(name)]

    def _is_as_it_was(self, name: str) -> bool:
        ours, theirs = (_count_cells(table.column(name)) for table in (self.cells, self.originals))
        return all(count <= theirs.get(text, 0) for text, count in ours.items())

    @cached_property
    def strangers(self) -> NDArray[np.int64]:
        """Return the released rows with a value of a changed column that the original lacks."""
        foreign = np.zeros(self.cells.num_rows, dtype=np.bool_)
        for name in self.changed_columns:
            theirs = _count_cells(self.originals.column(name))
            cells, places = encode_cells(self.cells.column(name))
            foreign |= np.array([_text(cell) not in theirs for cell in cells], np.bool_)[places]
        return np.flatnonzero(foreign)

    @property
    def unknown_columns(self) -> list[str]:
        """Return the released columns that the original lacks, which nobody can know beforehand."""
        known = {*self.generalised_columns, *self.kept_columns}
        return [name for name in self.cells.column_names if name not in known]

    @cached_property
    def sides(self) -> RowSides:
        """Return the released and original rows to be paired."""
        columns = [name for name in self.kept_columns if name not in self.changed_columns]
        holds = [column.may_hold for column in self._exact_codebook[0].columns]
        pairs = [(self.cells.column(c), self.originals.column(c)) for c in columns]
        same = _alike(pairs, len(self.released_cells), len(self.positions))
        return RowSides(holds, self.released_cells, self.positions, same)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Return the original row of each released row.

        Raises
        ------
        RequestError : some released rows are not in the original.
        """
        if self.key is not None:
            return self._by_key(self.key)
        sides = self.sides
        ordered = match_in_order(sides.fit, len(sides.released), len(sides.original))
        if ordered is not None:
            return ordered
        rows = match_rows(sides.holds, sides.released, sides.original, sides.same, self.rng)
        if left := int((rows < 0).sum()):
            raise RequestError(
                f"{left:,} of {len(rows):,} released rows are not in the original: no row that is "
                f"left fits their cells (such as {name_rows(np.flatnonzero(rows < 0))})",
                where=self.released_source.name,
                instead="give its own original, and the hierarchy of its labels in the roles; "
                "assess drawn or perturbed rows with --synthetic",
            )
        return rows

    @cached_property
    def key(self) -> str | None:
        """Return the column for matching rows: the requested one, or a common identifier."""
        if self.options.key is not None:
            for source in (self.truth, self.released_source):
                source.schema([self.options.key])
            return self.options.key
        named = [*self.roles.of(*NAMES), *([self.subject] if self.subject else [])]
        for name in named:
            if name in self.cells.column_names and name in self.originals.column_names:
                theirs = _count_cells(self.originals.column(name))
                ours = _count_cells(self.cells.column(name))
                if max(theirs.values(), default=0) == 1 and ours.keys() <= theirs.keys():
                    return name
        return None

    def _by_key(self, key: str) -> NDArray[np.int64]:
        theirs, place = encode_cells(self.originals.column(key))
        where = {str(text): number for number, text in enumerate(theirs)}
        rows_of = np.full(len(theirs), -1, dtype=np.int64)
        rows_of[place] = np.arange(len(place))
        if len(theirs) < len(place):
            raise RequestError("two rows have one value", where=f"the original, column {key}")
        ours, own = encode_cells(self.cells.column(key))
        found = np.array([where.get(str(text), -1) for text in ours], dtype=np.int64)[own]
        if (found < 0).any():
            raise RequestError(
                f"{int((found < 0).sum()):,} released rows are not in the original, by {key} "
                f"({name_rows(np.flatnonzero(found < 0))})",
                where=self.released_source.name,
                instead="give the original that it was made from",
            )
        rows = rows_of[found]
        everyone = np.arange(len(rows))
        holds = [column.may_hold for column in self._exact_codebook[0].columns]
        fit = RowSides(
            holds, self.released_cells, self.positions, (rows, np.arange(len(place)))
        ).fit(everyone, rows)
        if not fit.all():
            raise RequestError(
                f"the cells of {int((~fit).sum()):,} released rows do not fit the values of the "
                f"original's row with the same {key}",
                where=self.released_source.name,
                instead="leave --key out, or assess rows that were perturbed with --synthetic",
            )
        return rows

    @cached_property
    def released_by_value(self) -> IntervalRecords:
        """Return the people of released rows, by their values in the original."""
        return IntervalRecords(self.positions[self.rows], self.who[self.rows])

    @cached_property
    def register_by_value(self) -> IntervalRecords:
        """Return the adversary's register by values, including values absent from the release."""
        people = self._numbers(self.register_rows.column(self.person))
        return IntervalRecords(
            self.codebook.positions(self.register_rows, blank_is_unknown=True), people
        )

    @cached_property
    def population_by_value(self) -> IntervalRecords:
        """Return the population by values, with at most two people of each combination.

        Two people suffice to show that a combination is not unique.
        """
        counts = self.space.counts
        people = np.minimum(np.ceil(counts.population), 2).astype(np.int64)
        repeated = np.repeat(counts.codes, people, axis=0)
        strangers = -2 - self.true_rows.num_rows - np.arange(len(repeated), dtype=np.int64)
        return IntervalRecords(repeated, strangers)

    @cached_property
    def held_out_by_value(self) -> IntervalRecords | None:
        """Return the control people by values, or None."""
        if self.held_out_rows.num_rows == 0:
            return None
        codes = self.codebook.positions(self.held_out_rows, blank_is_unknown=False)
        return IntervalRecords(codes, self.held_out_people)

    @cached_property
    def rows_held_out(self) -> NDArray[np.int64]:
        """Return the original rows that were held out: none."""
        return np.zeros(0, dtype=np.int64)

    @cached_property
    def table(self) -> pa.Table:
        """Return the released rows: cell numbers of generalised columns, and the kept columns."""
        self.check_known()
        cells = zip(self.quasi, self.released_cells.T, strict=True)
        numbers = {name: pa.array(own, pa.int32()) for name, own in cells}
        kept = {name: self.cells.column(name) for name in self.kept_columns}
        return pa.table({**numbers, **kept})


def name_rows(rows: NDArray[np.int64]) -> str:
    """Return the numbers of the first of some rows as text. The first row of data is 1.

    >>> name_rows(np.array([20])), name_rows(np.arange(5))
    ('row 21', 'rows 1, 2 and 3, and others')
    """
    first = [f"{row + 1:,}" for row in rows[:EXAMPLES]]
    said = f"row {first[0]}" if len(first) == 1 else f"rows {join_names(first)}"
    return said + (", and others" if len(rows) > EXAMPLES else "")


def _count_cells(column: pa.ChunkedArray) -> Mapping[str, int]:
    cells, places = encode_cells(column)
    counts = np.bincount(places, minlength=len(cells)).tolist()
    return Counter({_text(cell): count for cell, count in zip(cells, counts, strict=True)})


def _alike(
    pairs: Sequence[tuple[pa.ChunkedArray, pa.ChunkedArray]], ours: int, theirs: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the rows of two tables by the text of their columns: equal rows have equal numbers."""
    codes = np.zeros((ours + theirs, len(pairs)), dtype=np.int32)
    for place, columns in enumerate(pairs):
        numbers: dict[str, int] = {}
        parts = []
        for column in columns:
            cells, places = encode_cells(column)
            own = [numbers.setdefault(_text(cell), len(numbers)) for cell in cells]
            parts.append(np.array(own, dtype=np.int32)[places])
        codes[:, place] = np.concatenate(parts)
    _, number = distinct_rows(codes)
    return number[:ours].astype(np.int64), number[ours:].astype(np.int64)


def _as_text(rows: pa.Table) -> pa.Table:
    """Return the table with cells that are lists of values replaced by the text of a list."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_list(field.type) or pa.types.is_large_list(field.type):
            cells = rows.column(place).to_pylist()
            texts = [None if cell is None else f"{{{'|'.join(map(str, cell))}}}" for cell in cells]
            rows = rows.set_column(place, field.name, pa.array(texts, pa.string()))
    return rows


def _repeat_rows(rows: pa.Table, name: str, where: str) -> pa.Table:
    """Repeat each row the number of times given in the column of counts."""
    if name not in rows.column_names:
        raise RequestError(
            f"there is no column {name} that counts records",
            where=where,
            instead=nearest(name, rows.column_names),
        )
    try:
        times = rows.column(name).cast(pa.int64()).to_numpy()
    except (pa.ArrowInvalid, ValueError):
        times = np.array([-1])
    if (times < 1).any():
        raise RequestError("a count of records is not 1 or more", where=f"{where}, column {name}")
    every = np.repeat(np.arange(len(times)), times)
    return rows.drop_columns([name]).take(pa.array(every))


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)
