"""Search every unreleased value of every person in the released bytes, within bounded memory.

Values have *keys* (see `keys`). A text keeps only the keys that may be in a filter of the values'
keys. DuckDB joins both on the keys themselves, so each match is exact. The filter only saves
memory.

The *share* of a key measures chance. It is the share of the people without the key as a value who
have it in their own text. A key counts if its share is at most 1% and few people have it as a
value. `expected` adds the chances of these people, from the shares of their keys. By chance, some
keys are below the limit and others above. The sum is unbiased because it includes keys with one
occurrence above the limit. Robbins: if X follows Bin(n, p), then
E[X; X <= t + 1] / n = p P(Bin(n - 1, p) <= t).

If dates were moved, a moved date of a person may equal another date of the same person. For
instance, a baby's moved vaccination may equal its date of birth. The share of a date then refers to
the days at the possible offsets from it. It is the share of these days that the person's text
contains.

One match of a common key, such as an age, is not evidence. Common keys count only in running text,
for all values of a column in one released column together. They count if more people have their own
value there than the 99% bound on chance. Here the chance of a person grows with the bytes of the
person's cells in that column. People with many visits have more values, and more dates to match.
If a share p of strangers has the key, and a person has r times their mean bytes, the chance is
1 - (1 - p)^r.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from voile.core.errors import RequestError
from voile.engines.duck import connect
from voile.gate.values import queries
from voile.gate.values.findings import FormCount, ValueFinding, bound_chance
from voile.gate.values.keys import (
    CellKeys,
    KeyFilter,
    QuotedLabels,
    digest_strings,
    find_text_keys,
    find_value_keys,
)

if TYPE_CHECKING:
    import duckdb

Stream = Callable[[], Iterable[pa.RecordBatch]]
"""A function that yields the batches of a source from the beginning at each call."""
Column = tuple[str, str]
"""A part and one of its columns."""

VALUE_COLUMNS = ("person", "part", "column", "value")
TEXT_COLUMNS = ("person", "part", "column", "text")
MEMORY = 300_000_000
PIECE = 2_000_000
"""The largest number of bytes of cells in one batch. A larger cell has a batch of its own."""
BUCKETS, KEY_BYTES = 256, 400
"""The number of buckets of keys, and the bytes of memory for one key of the range being
evaluated.
"""
NEAR_DAYS = 32
"""The largest number of days that the search tries for each date, if dates were moved."""
OWN, ELSEWHERE = "people_with_values", "people_with_rare_values_elsewhere"


@dataclass(frozen=True)
class SearchLimits:
    """The limits within which a key in a person's text counts as the person's value.

    chance : for a single key, the largest share of people who have it in their text but not as a
        value.
    holders : the largest number of people with the value, or `holders_share` of all people if that
        is more.
    rare : the largest number of people with a rare value.
    has_common : whether keys above these limits count together by column, above the bound on
        chance.
    """

    chance: float = 0.01
    holders: int = 5
    holders_share: float = 0.05
    rare: int = 5
    has_common: bool = True


@dataclass(frozen=True)
class SearchInputs:
    """The values to search, and the texts in which to search them.

    values : batches of person, part, column, value: all values that are not released unchanged.
    texts : batches of person, part, column, text: all released cells of each person.
    generalised : the columns released as labels. Their own labels do not count as findings.
    labels : the labels. Interval boundaries within a quoted label do not count as values.
    offsets : the days by which a person's dates in the texts may have been moved; empty if none
        were. A moved date may equal an unreleased date of its person by chance.
    """

    values: Stream
    texts: Stream
    generalised: Collection[Column] = ()
    labels: Iterable[str] = ()
    offsets: Sequence[int] = ()


def search_values(
    inputs: SearchInputs,
    limits: SearchLimits = SearchLimits(),
    *,
    memory: int = MEMORY,
    threads: int | None = None,
    directory: Path | None = None,
) -> tuple[ValueFinding, ValueFinding]:
    """Find people with their own unreleased value in their text, and rare values elsewhere.

    Parameters
    ----------
    memory : the memory budget in bytes, > 0. Keys that do not fit spill to `directory`. No key is
        dropped.
    threads, directory : as for `voile.engines.duck.connect`.

    Returns
    -------
    tuple of ValueFinding : two findings, on values in their own people's text, and on rare values
        in other people's text.

    Raises
    ------
    RequestError : a batch lacks a column, or the work does not fit in `memory`.

    Guarantees: each match compares the folded values themselves. The search finds the token
    sequence of every value of 1 to 6 tokens. Measured: its false alarms, compared with the number
    that it expects. It does not find misspellings, nicknames, paraphrases or days in words.

    Cost: two passes over the values and one over the texts, O(bytes). Memory does not grow.
    """
    with connect(memory=memory, threads=threads, directory=directory) as engine:
        return _KeySearch(inputs, limits, engine, memory).run()


class _KeySearch:
    """One search: the columns read so far, and the tables of keys in DuckDB."""

    def __init__(
        self,
        inputs: SearchInputs,
        limits: SearchLimits,
        engine: duckdb.DuckDBPyConnection,
        memory: int,
    ) -> None:
        self.inputs, self.limits, self.engine, self.memory = inputs, limits, engine, memory
        self.places: dict[Column, int] = {}
        self.short = self.keys = 0
        given = inputs.offsets
        chosen = np.linspace(0, len(given) - 1, min(len(given), NEAR_DAYS)).round().astype(int)
        self.offsets = [given[n] for n in chosen.tolist()]

    def run(self) -> tuple[ValueFinding, ValueFinding]:
        for one in queries.CREATE_TABLES:
            self.engine.execute(one)
        values = KeyFilter()
        for cells in _pieces(self.inputs.values, VALUE_COLUMNS):
            found = find_value_keys(cells.column(3), self.offsets)
            self.short += found.short
            self._append("holders", pa.table({"person": cells.column(0).unique()}))
            values.add(found.keys.keys)
            values.add(found.decoys.keys)
            values.add(found.near.keys)
        texts = self._read_texts(values)
        for cells in _pieces(self.inputs.values, VALUE_COLUMNS):
            found = find_value_keys(cells.column(3), self.offsets)
            for table, keys in (
                ("held", found.keys),
                ("decoy", found.decoys),
                ("near", found.near),
            ):
                self._insert(f"{table}_keys", cells, keys.where(texts.test(keys.keys)))
        return self._judge()

    def _read_texts(self, values: KeyFilter) -> KeyFilter:
        """Store the keys of texts that may be values, and return a filter of these keys."""
        texts, labels = KeyFilter(), QuotedLabels.of(self.inputs.labels)
        for cells in _pieces(self.inputs.texts, TEXT_COLUMNS):
            self._add_sizes(cells)
            keys = find_text_keys(cells.column(3), values, labels)
            texts.add(keys.keys)
            self._insert("seen_keys", cells, keys)
        return texts

    def _add_sizes(self, cells: pa.RecordBatch) -> None:
        """Store the people of some cells, and the bytes of the cells by person and place."""
        place, size = self._number_places(cells), pc.binary_length(cells.column(3))
        own = pa.table({"person": cells.column(0), "place": place, "size": size})
        self._append("cells", own.group_by(["person", "place"]).aggregate([("size", "sum")]))

    def _append(self, table: str, rows: pa.Table) -> None:
        self.engine.register("batch", rows)
        self.engine.execute(f"INSERT INTO {table} FROM batch")
        self.engine.unregister("batch")

    def _insert(self, table: str, cells: pa.RecordBatch, keys: CellKeys) -> None:
        if not len(keys.rows):
            return
        rows = pa.array(keys.rows)
        self.keys += len(keys.rows)
        batch = pa.table(
            {
                "bucket": pa.array((digest_strings(keys.keys) % BUCKETS).astype(np.uint8)),
                "key": keys.keys,
                "person": cells.column(0).take(rows),
                "place": self._number_places(cells).take(rows),
                "form": pa.array(keys.forms.astype(np.int8)),
                "tokens": pa.array(keys.tokens.astype(np.int8)),
                "encoding": pa.array(keys.encodings),
                "mark": pa.array(keys.marks),
            }
        )
        self._append(table, batch)

    def _number_places(self, cells: pa.RecordBatch) -> pa.Array:
        """Return the number of each row's part and column."""
        coded = [cells.column(n).dictionary_encode() for n in (1, 2)]
        parts, columns = (x.dictionary.to_pylist() for x in coded)
        wide = len(columns)
        both = pc.add(
            pc.multiply(coded[0].indices.cast(pa.int64()), wide), coded[1].indices.cast(pa.int64())
        ).dictionary_encode()
        numbers = [
            self._place(parts[n // wide], columns[n % wide]) for n in both.dictionary.to_pylist()
        ]
        return pa.array(numbers, pa.int32()).take(both.indices)

    def _place(self, part: str, column: str) -> int:
        return self.places.setdefault((part, column), len(self.places))

    def _judge(self) -> tuple[ValueFinding, ValueFinding]:
        own = [self._place(*column) for column in self.inputs.generalised]
        if own:
            self.engine.executemany("INSERT INTO generalised VALUES (?)", [[one] for one in own])
        for one in queries.NUMBER_PEOPLE:
            self.engine.execute(one)
        people, readers, holders = self._row(queries.COUNT_PEOPLE)
        for low, high in self._list_ranges():
            self._judge_range(low, high, people, readers)
        if self.limits.has_common:
            self._take_common()
        return self._own_finding(readers), self._elsewhere(holders)

    def _list_ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the first and the last bucket of each range of keys that fits in memory."""
        ranges = min(BUCKETS, max(1, ceil(self.keys * KEY_BYTES / self.memory)))
        ends = [BUCKETS * n // ranges for n in range(ranges + 1)]
        return ((low, high - 1) for low, high in pairwise(ends))

    def _judge_range(self, low: int, high: int, people: int, readers: int) -> None:
        """Evaluate a range of keys, and add its hits and chances to the totals."""
        limits = self.limits
        most = max(limits.holders, int(limits.holders_share * people))
        given = {"most": most, "chance": limits.chance, "readers": readers, "rare": limits.rare}
        given |= {"low": low, "high": high, "near": len(self.offsets)}
        labels = queries.LEAVE_LABELS if self.inputs.generalised else ()
        common = queries.ADD_UP_COMMON if limits.has_common else ()
        every = (*queries.NUMBER_KEYS, *labels, *queries.JUDGE_KEYS, *queries.ADD_UP_KEYS, *common)
        for one in every:
            self.engine.execute(one, {name: x for name, x in given.items() if f"${name}" in one})

    def _take_common(self) -> None:
        """Add the hits of common keys in columns with more people than the bound on chance."""
        pairs = self.engine.execute(queries.COMMON_PAIRS).fetchall()
        for place, seen, people, expected, variance in pairs:
            if people > bound_chance(expected, sqrt(variance), tests=len(pairs)):
                self.engine.execute("INSERT INTO excess VALUES (?, ?)", [place, seen])
        self.engine.execute(queries.TAKE_COMMON)

    def _own_finding(self, readers: int) -> ValueFinding:
        expected, variance = self._row(queries.EXPECTED, near=len(self.offsets))
        return ValueFinding(
            name=OWN,
            unit="people",
            says="have an own unreleased value in the released bytes",
            knows="knows a person's values that the release leaves out, and searches the released "
            "text of each person for them",
            origin="release and source",
            value=float(self._row("SELECT count(DISTINCT who) FROM hits")[0]),
            n=readers,
            expected=expected,
            deviation=sqrt(variance),
            certain=self._row("SELECT count(DISTINCT who) FROM hits WHERE is_certain")[0],
            forms=tuple(self._forms(queries.FORMS)),
            not_searched=self.short,
        )

    def _elsewhere(self, holders: int) -> ValueFinding:
        expected = float(self._row("SELECT count(DISTINCT who) FROM decoy_hits")[0])
        return ValueFinding(
            name=ELSEWHERE,
            unit="people",
            says="have a rare unreleased value in the released bytes of somebody else",
            knows="knows a number, a code or several words that few people have, and searches the "
            "released text of everybody else for it",
            origin="release and source",
            value=float(self._row("SELECT count(DISTINCT who) FROM elsewhere")[0]),
            n=holders,
            expected=expected,
            deviation=sqrt(2 * expected),  # both counts vary
            forms=tuple(self._forms(queries.FORMS_ELSEWHERE)),
            not_searched=self.short,
        )

    def _row(self, query: str, **given: int) -> tuple[Any, ...]:
        return tuple(x or 0 for x in self.engine.execute(query, given).fetchone() or ())

    def _forms(self, query: str) -> Iterator[FormCount]:
        names = list(self.places)
        for place, seen, form, count, expected in self.engine.execute(query).fetchall():
            (part, column), (in_part, in_column) = names[place], names[seen]
            yield FormCount(
                part=part,
                column=column,
                form=form,
                in_part=in_part,
                in_column=in_column,
                people=count,
                expected=expected or 0.0,
            )


def _pieces(stream: Stream, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """Yield the non-null cells of a source as large strings, a few megabytes at a time."""
    for batch in stream():
        if missing := [name for name in columns if name not in batch.schema.names]:
            raise RequestError(
                f"a batch lacks the column {missing[0]}",
                where="the value search",
                instead=f"give the columns {', '.join(columns)}",
            )
        given = [pc.cast(batch.column(name), pa.large_string()) for name in columns]
        given[0] = pc.fill_null(given[0], NOBODY)
        table = pa.record_batch(given, names=list(columns)).filter(pc.is_valid(given[3]))
        ends = np.cumsum(pc.binary_length(table.column(3)).to_numpy(zero_copy_only=False))
        start = 0
        while start < len(table):
            before = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + PIECE, side="right")))
            yield table.slice(start, stop - start)
            start = stop


NOBODY = "\x00 nobody"
"""The person of a cell that belongs to no person."""
