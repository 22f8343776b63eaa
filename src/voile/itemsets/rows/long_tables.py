"""Long tables, in which a record has many rows, each with an item and the id of the record.

When such a table is read, the rows of a record become one row with a list of items. When it is
written, each item becomes a row again. The release gives each record a new number.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data import Source, open_writer
from voile.data.files.memory import MemoryPath
from voile.data.roles import Roles
from voile.data.source import identifier
from voile.data.writer import BatchWriter, TextDialect
from voile.engines.duck import connect
from voile.itemsets.rows.forms import ColumnForm, ItemsForm, LongItems

SORTED_ROWS = 2**18
RECORD = "record"
"""The setting of an item column that names the column of record ids."""


@dataclass(frozen=True)
class LongTable:
    """The names of the columns of a long table that contain record ids and items."""

    record: str
    item: str

    @classmethod
    def said_by(cls, roles: Roles) -> LongTable | None:
        """Return the long table that the roles declare, or None.

        Raises RequestError if the settings contradict each other, or if the ids would be released.
        """
        said = {name: roles.settings_of(name) for name in roles.of("items")}
        long = [name for name, settings in said.items() if RECORD in settings]
        if not long:
            return None
        item, record = long[0], said[long[0]][RECORD]
        where = f"roles, column {long[-1]}"
        if len(long) > 1:
            raise RequestError(
                f"{item} names a record as well", where=where, instead="let one column name it"
            )
        if len(said[item]) > 1:
            raise RequestError("has another setting than record", where=where)
        if not isinstance(record, str) or record not in roles.columns:
            raise RequestError(
                "its record is not a column", where=where, instead="name the column of ids"
            )
        if roles.columns[record].role != "identifier":
            raise RequestError(
                f"{record} identifies its records, and a release renumbers them",
                where=where,
                instead=f"give {record} the role identifier",
            )
        return cls(record, item)

    def mark_form(self, forms: tuple[ColumnForm, ...]) -> tuple[ColumnForm, ...]:
        """Return the forms, with the form of the items marked as that of a long table."""
        return tuple(
            LongItems(form.column, form.values, form.item, self.record)
            if isinstance(form, ItemsForm) and form.column == self.item
            else form
            for form in forms
        )


class RecordsSource(Source):
    """Present a long table as one row for each record, sorted by record id.

    The column `item` contains lists, in no particular order. A null is not an item. The other
    columns must agree in all rows of a record. Each reading sorts the table, on disk if it is
    large, in O(n log n) time. Memory depends on the batch and the longest record. With `numbered`,
    the ids are the numbers of a release: they are sorted as numbers, and are left out.
    """

    def __init__(self, source: Source, *, record: str, item: str, numbered: bool = False) -> None:
        source.schema([record, item])
        for name, does in ((record, "identify records"), (item, "name items")):
            type_ = source.columns[name]
            if not (pa.types.is_string(type_) or pa.types.is_integer(type_)):
                raise RequestError(
                    f"is {type_}, and cannot {does}",
                    where=f"{source.name}, column {name}",
                    instead="make it text or whole numbers",
                )
        self.dialect = source.dialect
        fields = [
            pa.field(name, pa.list_(type_) if name == item else type_)
            for name, type_ in source.columns.items()
            if not (numbered and name == record)
        ]
        super().__init__(source.name, source.kind, fields, source.notes)
        self._source, self._record, self._item = source, record, item
        self._key = identifier(record)
        if numbered:
            self._key = f"TRY_CAST({self._key} AS BIGINT)"  # text files contain them as text

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        for batch in _whole_records(self._sort_rows(columns)):
            number, key, *values = batch.columns
            self._check_ids(key, number)
            starts = _starts(key)
            arrays = []
            for name, value in zip(columns, values, strict=True):
                if name == self._item:
                    arrays.append(_lists(value, starts))
                else:
                    self._check_agreement(name, value, starts, number)
                    arrays.append(value.take(pa.array(starts)))
            yield from pa.table(arrays, names=columns).to_batches(max_chunksize=rows)

    def _check_ids(self, key: pa.Array, number: pa.Array) -> None:
        if key.null_count:
            raise RequestError(
                "a row is of no record",
                where=f"{self.name}, row {pc.min(number.filter(key.is_null())).as_py():,}, "
                f"column {self._record}",
                instead="leave such rows out",
            )

    def _check_agreement(
        self, name: str, value: pa.Array, starts: NDArray[np.intp], number: pa.Array
    ) -> None:
        """Raise RequestError if the rows of a record differ in a column other than the items."""
        if pa.types.is_nested(value.type):
            raise RequestError(
                f"is {value.type}, which the rows of a record cannot be compared by",
                where=f"{self.name}, column {name}",
                instead="drop it",
            )
        code = value.dictionary_encode(null_encoding="encode").indices.to_numpy()
        wrong = np.setdiff1d(np.flatnonzero(np.diff(code)) + 1, starts, assume_unique=True)
        if len(wrong):
            row = number[int(wrong[0])].as_py()
            raise RequestError(
                f"the rows of one {self._record} do not agree",
                where=f"{self.name}, row {row:,}, column {name}",
                instead="make them agree, or drop the column",
            )

    def _sort_rows(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Stream the columns sorted by record, with the ids and the row numbers in the source."""
        import duckdb

        asked = list(dict.fromkeys([self._record, *columns]))
        values = [f"{identifier(name)} AS value_{x}" for x, name in enumerate(columns)]
        numbered = ["row_number() OVER () AS number", f"{self._key} AS key"]
        with connect() as connection:
            connection.execute("SET preserve_insertion_order = true")
            try:
                rows = self._source.relation(connection, asked)
                rows = rows.project(", ".join([*numbered, *values])).order("key")
                yield from rows.to_arrow_reader(SORTED_ROWS)
            except duckdb.Error as error:
                raise self._source._stopped or error from None

    def fingerprint(self) -> str:
        return self._source.fingerprint()


class RecordWriter(BatchWriter):
    """Write lists of items as a long table, with one row for each item and records numbered from 1.

    A record without items is written as one row with a null item, so that its label is not lost.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | MemoryPath,
        schema: pa.Schema,
        *,
        record: str,
        item: str,
        force: bool = False,
        escape: bool = False,
        dialect: TextDialect | None = None,
    ) -> None:
        place = schema.get_field_index(item)
        flat = schema.set(place, pa.field(item, schema.field(item).type.value_type))
        self._schema = flat.insert(0, pa.field(record, pa.int64()))
        how = {"force": force, "escape": escape}
        self._file = open_writer(path, self._schema, **how, dialect=dialect)
        self.formulas = self._file.formulas
        self._item, self._written = item, 0

    def write(self, batch: pa.RecordBatch) -> None:
        lists = batch.column(self._item)
        sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        of = np.repeat(np.arange(len(batch)), np.maximum(sizes, 1))
        there = sizes[of] > 0
        place = pa.array(np.cumsum(there) - 1, mask=~there)
        arrays = [
            pc.list_flatten(lists).take(place) if name == self._item else column.take(pa.array(of))
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        numbers = pa.array(of + self._written + 1)
        self._file.write(pa.RecordBatch.from_arrays([numbers, *arrays], schema=self._schema))
        self._written += len(batch)

    def close(self) -> None:
        self._file.close()


def open_released(source: Source, policy: Sequence[Mapping[str, Any]]) -> Source:
    """Return a release with one row for each record, according to its policy."""
    long = _long_column(policy)
    return source if long is None else RecordsSource(source, **long, numbered=True)


def _long_column(policy: Sequence[Mapping[str, Any]]) -> dict[str, str] | None:
    for column in policy:
        if column["kind"] == LongItems.kind:
            return {"record": column["record"], "item": column["column"]}
    return None


def release_writer(
    path: str | os.PathLike[str] | MemoryPath,
    schema: pa.Schema,
    policy: Sequence[Mapping[str, Any]],
    *,
    force: bool = False,
    escape: bool = False,
    dialect: TextDialect | None = None,
) -> BatchWriter:
    """Open the writer of a release. It writes a long table if the policy contains one."""
    long = _long_column(policy)
    if long is None:
        return open_writer(path, schema, force=force, escape=escape, dialect=dialect)
    return RecordWriter(path, schema, **long, force=force, escape=escape, dialect=dialect)


def _lists(items: pa.Array, starts: NDArray[np.intp]) -> pa.Array:
    there = items.is_valid().to_numpy(zero_copy_only=False)
    before = np.concatenate([[0], np.cumsum(there)])
    offsets = pa.array(before[[*starts, len(items)]], pa.int32())
    return pa.ListArray.from_arrays(offsets, items.drop_null())


def _whole_records(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Regroup sorted batches so that each batch ends at the end of a record."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        last = int(_starts(batch.column("key"))[-1])
        if held and (last or batch.column("key")[0] != held[-1].column("key")[0]):
            yield pa.concat_batches([*held, batch.slice(0, last)])
            held = []
        elif last:
            yield batch.slice(0, last)
        held.append(batch.slice(last))
    if held:
        yield pa.concat_batches(held)


def _starts(ids: pa.Array) -> NDArray[np.intp]:
    if not len(ids):
        return np.zeros(0, dtype=np.intp)
    other = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1))
    return np.concatenate([[0], np.flatnonzero(other.to_numpy(zero_copy_only=False)) + 1])
