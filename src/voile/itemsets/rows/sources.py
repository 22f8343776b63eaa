"""Read rows of features, labels and subjects from a source, as a stream and never dense."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.data import Source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.itemsets.rows.forms import ColumnForm, FeatureCells
from voile.itemsets.rows.grid_learning import GridLearner
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.learning import learn
from voile.itemsets.rows.long_tables import RECORD, LongTable, RecordsSource, open_released
from voile.itemsets.rows.ranges import RangesForm
from voile.itemsets.rows.scales import NumberInterval

WithoutLabel = Literal["refuse", "drop", "keep"]

NO_BINS = "leave --target-bins out, or give a column of numbers the role label"
NOTHING = "nothing"
NOBODY = -1


@dataclass(frozen=True, eq=False)
class SourceRows(BriefRepr):
    """The rows read from a source: items, labels if any, and positions in the source."""

    incidence: Incidence
    labels: NDArray[np.object_] | None
    number: NDArray[np.int64]


@dataclass(frozen=True)
class RowReader(BriefRepr):
    """The rows and columns to read from a source, and the treatment of rows without a label.

    A numeric label is read as the intervals of `target`.
    """

    shows = ("without_label",)

    roles: Roles
    hold_out: HoldOut
    without_label: WithoutLabel = "refuse"
    target: ColumnForm | None = None

    @classmethod
    def all_of(cls, roles: Roles, target: ColumnForm | None = None) -> RowReader:
        """Return a reader of every row, with or without a label."""
        return cls(roles, HoldOut(0.0, b"", roles.subject), "keep", target)

    @property
    def items(self) -> list[str]:
        """The columns of items."""
        return self.roles.of("items")

    @cached_property
    def label(self) -> str | None:
        """The column of labels, or None."""
        labels = self.roles.of("label")
        return labels[0] if labels else None

    def check(self, source: Source) -> None:
        """Raise RequestError if the roles do not fit the source or this kind of data."""
        self.roles.check(source.columns, "items")
        if not self.items:
            raise RequestError(
                "no column has the role items", where="roles", instead="say which hold them"
            )
        if len(self.roles.of("label")) > 1:
            raise RequestError(
                "more than one column has the role label",
                where="roles",
                instead="give the others the role keep or drop",
            )
        if quasi := self.roles.of("quasi", "private", "weight"):
            raise RequestError(
                f"column {quasi[0]} has the role {self.roles.columns[quasi[0]].role}, "
                "which itemsets do not treat",
                where="roles",
                instead="make it items, with cuts or quantiles if it is a number, or drop it",
            )
        self.records(source)

    @cached_property
    def _long(self) -> LongTable | None:
        return LongTable.said_by(self.roles)

    def records(self, source: Source) -> Source:
        """Return the source with one row for each record. Only a long table changes."""
        if self._long is None or isinstance(source, RecordsSource):
            return source
        return RecordsSource(source, record=self._long.record, item=self._long.item)

    def learn(self, source: Source) -> tuple[ColumnForm, ...]:
        """Return the form of each column of items, in one pass over the source."""
        source = self.records(source)
        settings = {name: self.roles.settings_of(name) for name in self.items}
        for asked in settings.values():
            asked.pop(RECORD, None)
        batches = (batch for batch, _ in self._select_rows(source))
        forms = learn(batches, source.columns, settings)
        return forms if self._long is None else self._long.mark_form(forms)

    def with_target(self, source: Source, bins: int | None) -> RowReader:
        """Return a reader of a numeric label in at most `bins` intervals, in one pass.

        If `bins` is None, the reader itself is returned.
        """
        if bins is None:
            return self
        if self.label is None:
            raise RequestError("no column has the role label", where="roles", instead=NO_BINS)
        source = self.records(source)
        learner = GridLearner(self.label, source.columns[self.label], "number", most=bins - 1)
        for batch, _ in self._select_rows(source):
            learner.add(batch.column(self.label))
        grid = learner.form()
        if not grid.cuts:
            raise RequestError(
                "holds one number or none", where=f"column {self.label}", instead=NO_BINS
            )
        ends = (NumberInterval(*one) for one in pairwise([None, *grid.cuts, None]))
        return replace(self, target=RangesForm.of(self.label, grid.scale, ends))

    def read_rows(
        self, source: Source, forms: Sequence[ColumnForm], *, strict: bool = True
    ) -> SourceRows:
        """Read the rows as features, in one pass and O(rows + ones) memory.

        With `strict`, an unreadable cell raises RequestError. Otherwise, it counts as empty.
        """
        _check_names(forms)
        read = _RowPile()
        for batch, number in self._select_rows(self.records(source)):
            read.add(batch, number, forms, self.label, self.roles.subject, self.target)
        if strict:
            every = [*forms, *([self.target] if self.target else [])]
            read.refuse_lost(every, f"{source.name}, {self._row}")
        if not read.n_rows:
            lack = "no rows" if self.label is None else "no rows with a label"
            raise RequestError(f"there are {lack} to learn from", where=source.name)
        if not any(form.values for form in forms):
            raise RequestError("there is nothing in its columns of items", where=source.name)
        return read.rows(forms, labelled=self.label is not None)

    def read_released(
        self,
        source: Source,
        forms: Sequence[ColumnForm],
        label: str | None,
        people: NDArray[np.int64] | None,
    ) -> SourceRows:
        """Read a release, with its own columns.

        `people` are the numbers of the persons of the rows.
        """
        read, first = _RowPile(), 0
        source = open_released(source, [form.to_data() for form in forms])
        columns = [form.column for form in forms] + ([label] if label else [])
        for batch in source.batches(columns or list(source.columns)[:1]):
            read.add(batch, np.arange(first, first + len(batch)), forms, label, None)
            first += len(batch)
        if people is not None:
            read.persons.append(np.unique(people, return_inverse=True)[1].astype(np.int64))
        return read.rows(forms, labelled=label is not None)

    @property
    def _row(self) -> str:
        """The word for a row in messages.

        The rows of a long table are its records, sorted by id.
        """
        return "row" if self._long is None else "record"

    def _select_rows(self, source: Source) -> Iterator[tuple[pa.RecordBatch, NDArray[np.int64]]]:
        """Yield the rows to read of each batch, with their positions in the source."""
        first, without, where = 0, 0, 0
        named = [self.label, self.roles.subject]
        columns = list(dict.fromkeys([*self.items, *(name for name in named if name)]))
        for batch in source.batches(columns):
            number = np.arange(first, first + len(batch))
            kept = ~self.hold_out.find_held(batch, first)
            unlabelled_rows = find_unlabelled(batch, self.label) & kept
            if unlabelled_rows.any():
                where = where or int(number[unlabelled_rows][0]) + 1
                without += int(unlabelled_rows.sum())
            if self.without_label != "keep":
                kept &= ~unlabelled_rows
            yield batch.filter(pa.array(kept)), number[kept]
            first += len(batch)
        if without and self.without_label == "refuse":
            raise RequestError(
                f"{without:,} {'label is' if without == 1 else 'labels are'} missing",
                where=f"{source.name}, {self._row} {where:,}, column {self.label}",
                instead="leave such rows out with --drop-unlabelled",
            )


@dataclass
class _RowPile:
    row: list[NDArray[np.int32]] = field(default_factory=list)
    feature: list[NDArray[np.int32]] = field(default_factory=list)
    number: list[NDArray[np.int64]] = field(default_factory=list)
    labels: list[pa.Array] = field(default_factory=list)  # texts, each batch's
    persons: list[NDArray[np.int64]] = field(default_factory=list)
    people: dict[str, int] = field(default_factory=dict)
    lost: dict[str, tuple[int, int]] = field(default_factory=dict)
    n_rows: int = 0

    def add(
        self,
        batch: pa.RecordBatch,
        number: NDArray[np.int64],
        forms: Sequence[ColumnForm],
        label: str | None,
        subject: str | None,
        target: ColumnForm | None = None,
    ) -> None:
        before = 0
        for form in forms:
            cells = form.cells(batch.column(form.column))
            self.row.append((cells.row + self.n_rows).astype(np.int32))
            self.feature.append((cells.code + before).astype(np.int32))
            before += len(form.values)
            self._note_lost(form, cells, number)
        self.number.append(number)
        if target is not None:
            cells = target.cells(batch.column(target.column))
            self._note_lost(target, cells, number)
            self.labels.append(target.write_column(cells))
        elif label is not None:
            nothing = pa.array(find_unlabelled(batch, label))  # NaN among them
            self.labels.append(pc.if_else(nothing, None, batch.column(label).cast(pa.string())))
        if subject is not None:
            self.persons.append(self._numbers(batch.column(subject)))
        self.n_rows += len(batch)

    def _note_lost(self, form: ColumnForm, cells: FeatureCells, number: NDArray[np.int64]) -> None:
        if cells.lost.any():
            lost, first = self.lost.get(form.column, (0, int(number[cells.lost][0]) + 1))
            self.lost[form.column] = lost + int(cells.lost.sum()), first

    def _numbers(self, subjects: pa.Array) -> NDArray[np.int64]:
        """Number the subjects in order of appearance. A row without a subject belongs to nobody."""
        encoded = subjects.cast(pa.string()).dictionary_encode(null_encoding="encode")
        known = [
            NOBODY if name is None else self.people.setdefault(name, len(self.people))
            for name in encoded.dictionary.to_pylist()
        ]
        places: NDArray[np.int32] = encoded.indices.to_numpy(zero_copy_only=False)
        return np.array(known, dtype=np.int64)[places]

    def refuse_lost(self, forms: Sequence[ColumnForm], where: str) -> None:
        """Raise RequestError for unreadable cells, with their number and the first row."""
        for column, (lost, first) in self.lost.items():
            form = next(form for form in forms if form.column == column)
            raise RequestError(
                f"{lost:,} {'cell holds' if lost == 1 else 'cells hold'} {form.lacks}",
                where=f"{where} {first:,}, column {column}",
                instead=form.remedy,
            )

    def rows(self, forms: Sequence[ColumnForm], *, labelled: bool) -> SourceRows:
        """Return all rows in an order that does not depend on the source, and empty the pile."""
        features = [feature for form in forms for feature in form.features] or [NOTHING]
        matrix = self._matrix(len(features))
        persons = self._by_name(np.concatenate(self.persons)) if self.persons else None
        labels, ranks = _objects(self.labels) if labelled else (None, None)
        keys = [
            *([] if persons is None else [persons]),
            *([] if ranks is None else [ranks]),
            _sums(matrix.indptr, matrix.indices, len(features)),
        ]
        order = np.lexsort(keys)
        return SourceRows(
            Incidence.of(
                matrix[order], features, None if persons is None else _each(persons[order])
            ),
            None if labels is None else labels[order],
            np.concatenate(self.number)[order],
        )

    def _matrix(self, width: int) -> Any:
        """Return the ones as a SciPy array of shape (rows, width).

        Each part is freed once it is joined.
        """
        from scipy import sparse

        row = np.concatenate([np.zeros(0, dtype=np.int32), *self.row])
        self.row.clear()
        feature = np.concatenate([np.zeros(0, dtype=np.int32), *self.feature])
        self.feature.clear()
        ones = np.ones(len(row), dtype=np.int8)
        return sparse.coo_array((ones, (row, feature)), shape=(self.n_rows, width)).tocsr()

    def _by_name(self, persons: NDArray[np.int64]) -> NDArray[np.int64]:
        if not self.people:
            return persons
        place = np.full(len(self.people) + 1, NOBODY, dtype=np.int64)
        place[[self.people[name] for name in sorted(self.people)]] = np.arange(len(self.people))
        return place[persons]


def _each(persons: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(persons == NOBODY, persons.max() + 1 + np.arange(len(persons)), persons)


def _check_names(forms: Sequence[ColumnForm]) -> None:
    """Raise RequestError if two columns have a feature of the same name.

    For example, the column "a=b" and the value b of the column "a" have the same name.
    """
    owner: dict[str, str] = {}
    for form in forms:
        for name in form.features:
            if owner.setdefault(name, form.column) != form.column:
                raise RequestError(
                    f"columns {owner[name]} and {form.column} give a feature of one name",
                    where="roles",
                    instead="rename one of them",
                )


def _sums(
    starts: NDArray[np.integer], items: NDArray[np.integer], width: int
) -> NDArray[np.uint64]:
    """Return a number for each row that depends only on its features.

    Rows are sorted by this number, then by labels and names of subjects. Random draws among the
    rows therefore do not depend on their order in the source.
    """
    words = np.random.default_rng(0).integers(2**64, size=width, dtype=np.uint64)
    sums = np.concatenate([[np.uint64(0)], np.cumsum(words[items], dtype=np.uint64)])
    found: NDArray[np.uint64] = sums[starts[1:]] - sums[starts[:-1]]
    return found


def _objects(texts: Sequence[pa.Array]) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
    """Return the labels as shared objects, and the rank of each. None has the last rank."""
    encoded = pa.chunked_array(texts, pa.string()).dictionary_encode().combine_chunks()
    names = np.array([*encoded.dictionary.to_pylist(), None], dtype=np.object_)
    ranks = np.append(pc.rank(encoded.dictionary).to_numpy().astype(np.int64), len(names))
    codes = encoded.indices.fill_null(len(names) - 1).to_numpy()
    return names[codes], ranks[codes]


def find_unlabelled(batch: pa.RecordBatch, label: str | None) -> NDArray[np.bool_]:
    """Return a mask of the rows without a label. It is False everywhere without a label column."""
    if label is None:
        return np.zeros(len(batch), dtype=np.bool_)
    return np.asarray(batch.column(label).is_null(nan_is_null=True).to_numpy(zero_copy_only=False))
