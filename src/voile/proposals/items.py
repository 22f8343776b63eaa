"""Propose roles for rows of items: the feature columns, their form, and their records.

Each column is a feature, except ids, names, labels, and columns that differ in almost every row.
The data holder removes unsuitable features. In a source with lists of items or texts, a column that
may be a class or a feature is undecided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from voile.data.column_words import ColumnWords, find_words, mentions
from voile.data.roles import Role
from voile.proposals.people import warn_of_people
from voile.proposals.proposal import ColumnProposal, RolesProposal, find_subject, identifying
from voile.proposals.seen import ColumnLook, count_present, first_rows, look, printable

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.data import Source

CLASSES = 50  # most values of a label
ALIKE = 3  # so many columns with the same values are features, so a label differs from them
MANY = 16  # distinct numbers above which they are cut into intervals
BITS = ("0", "1", "true", "false", "0.0", "1.0")

Said = tuple[Role, str, dict[str, Any]]


def examine_items(source: Source) -> RolesProposal:
    """Propose a role for every column, from its name, its type and the first 100,000 rows.

    A source is a long table, with many rows per record, if an id repeats and one column differs
    within the rows of an id. The reasons contain types and counts, but no values.
    """
    rows = first_rows(source)
    table = _ItemsTable(rows, {seen.name: seen for seen in look(rows, written=True)})
    columns = tuple(ColumnProposal(name, *table.propose_role(name)) for name in table.seen)
    warn_of_people(source.name, rows, table.subject)
    return RolesProposal(source.name, len(rows), columns, table.subject)


def holds_lists(source: Source) -> bool:
    """Return whether a source has a column of lists of items, with a list that is not empty."""
    may = [name for name, type_ in source.columns.items() if _of_items(type_)]
    first = next(source.batches(may), None) if may else None
    return first is not None and any(map(count_present, first.columns))


@dataclass(frozen=True, eq=False)
class _ItemsTable:
    """The examined rows, and the counts of each column."""

    rows: pa.Table
    seen: Mapping[str, ColumnLook]

    def propose_role(self, name: str) -> Said:
        seen, (record, item) = self.seen[name], self._long
        if name == record:
            return "identifier", "identifies a record; a release renumbers them", {}
        if name == item:
            return "items", f"one a row, of a record; {seen.counts}", {"record": record}
        if name == self.subject:
            return "identifier", "says who a row is about", {}
        if name == self._label:
            return "label", _why_label(seen), {}
        if name in self._differing:
            return "drop", "differs within a record", {}
        if why := identifying(seen):
            return "identifier", why, {}
        if _numbers_records(seen):
            return "identifier", f"by its name it identifies a record; {seen.counts}", {}
        if name in self._in_step:
            return "undecided", "lists in step, as tokens and their tags are: items or drop", {}
        if self._label is None and name in self._classes:
            return "undecided", f"a class or a feature: label, items or drop; {seen.counts}", {}
        return _feature(seen, self.rows.column(name))

    @cached_property
    def subject(self) -> str | None:
        """The subject column, if there is one."""
        record, _ = self._long
        if record is None:
            return find_subject(self.seen.values())
        same = self.seen.keys() - self._differing - {record}
        return next((name for name in self.seen if name in same and mentions(name, "people")), None)

    @cached_property
    def _long(self) -> tuple[str | None, str | None]:
        """The finest id that repeats, and the one column of items that differs within it."""
        if any(map(_of_items, self.rows.schema.types)):
            return None, None
        ids = [
            seen
            for seen in self.seen.values()
            if mentions(seen.name, "records", "number")
            and seen.kind in ("text", "whole")
            and 1 < seen.distinct < seen.present == seen.rows
        ]
        for one in sorted(ids, key=lambda seen: -seen.distinct):
            item = self._item(self._varying(one.name))
            if item is not None:
                return one.name, item
        return None, None

    @cached_property
    def _differing(self) -> set[str]:
        """The columns of a long table with different values in the rows of one record."""
        record, _ = self._long
        return set() if record is None else self._varying(record)

    @cached_property
    def _label(self) -> str | None:
        may = self._few_valued
        named = [name for name, found in may.items() if found and found[0].role == "label"]
        if named:
            return named[0]
        two = [name for name in self._unnamed_columns if self.seen[name].distinct == 2]
        for alone in (two, self._classes, self._unlike):
            if len(alone) == 1:
                return alone[0]
        return None

    @cached_property
    def _few_valued(self) -> Mapping[str, tuple[ColumnWords, str] | None]:
        """The columns that could be a label, with the meaning of their names."""
        return {
            name: find_words(name)
            for name, seen in self.seen.items()
            if name not in self._differing | {self._long[0], self.subject}
            and seen.kind in ("text", "whole", "truth")
            and 2 <= seen.distinct <= CLASSES
            and seen.distinct < seen.present
            and seen.identifiers is None
        }

    @cached_property
    def _unnamed_columns(self) -> list[str]:
        """The columns of `_few_valued` with a name that suggests no (quasi-)identifier."""
        return [
            name
            for name, found in self._few_valued.items()
            if not (found and found[0].role in ("quasi", "identifier"))
        ]

    @cached_property
    def _classes(self) -> list[str]:
        """The columns that may be the class of a list, a text or a long record in the same row."""
        wide = self._long[0] is None and not any(
            _of_items(self.rows.column(name).type) or seen.free_text
            for name, seen in self.seen.items()
        )
        return [] if wide else self._unnamed_columns

    @property
    def _unlike(self) -> list[str]:
        """The columns with values outside the set that the features share, such as yes and no."""
        import pyarrow.compute as pc

        values = {
            name: frozenset(pc.unique(self.rows.column(name)).drop_null().to_pylist())
            for name in self._unnamed_columns
        }
        (shared, times), *_ = Counter(values.values()).most_common(1) or [(frozenset(), 0)]
        return [name for name, own in values.items() if not own <= shared] if times >= ALIKE else []

    @cached_property
    def _in_step(self) -> set[str]:
        """The columns of lists with the same varying lengths as another column in every row."""
        import pyarrow.compute as pc

        lengths = {
            name: pc.list_value_length(self.rows.column(name)).to_pylist()
            for name in self.rows.column_names
            if _is_list(self.rows.column(name).type)
        }
        return {
            name
            for name, own in lengths.items()
            if len(set(own)) > 1 and list(lengths.values()).count(own) > 1
        }

    def _item(self, varying: set[str]) -> str | None:
        """Return the one column that names items, by its name or as the only candidate."""
        may = [
            seen
            for seen in self.seen.values()
            if seen.name in varying
            and seen.kind in ("text", "whole")
            and seen.distinct > 2
            and not seen.free_text
            and not seen.nearly_unique
        ]
        named = [seen.name for seen in may if mentions(seen.name, "items")]
        text = [seen.name for seen in may if seen.kind == "text"]
        for found in (named, text, [seen.name for seen in may]):
            if len(found) == 1:
                return found[0]
        return None

    def _varying(self, record: str) -> set[str]:
        """Return the columns that differ among rows of one record."""
        import numpy as np

        of = _codes(self.rows.column(record))
        order = np.argsort(of, kind="stable")
        same = np.diff(of[order]) == 0
        return {
            name
            for name, seen in self.seen.items()
            if seen.kind != "other"
            and (np.diff(_codes(self.rows.column(name))[order])[same] != 0).any()
        }


def _why_label(seen: ColumnLook) -> str:
    without = seen.rows - seen.present
    more = f"; {without:,} rows have none: fit with --drop-unlabelled" if without else ""
    return f"probably the class to predict; {seen.counts}{more}"


def _numbers_records(seen: ColumnLook) -> bool:
    """Return whether a column's name suggests ids, and it has more values than a class."""
    return mentions(seen.name, "records", "number") and seen.distinct > CLASSES


def _feature(seen: ColumnLook, column: pa.ChunkedArray) -> Said:
    """Return the form in which a column is a feature, or the reason why it is not."""
    if _is_list(column.type) and not seen.present:
        return "drop", "empty", {}
    if _of_items(column.type):
        return "items", f"{printable(seen.type)}, an item each", {}
    if seen.kind in ("nested", "other"):
        return "undecided", "lists, objects or bytes are not features as they are: drop it", {}
    if seen.distinct < 2:
        return "drop", "one value or none says nothing", {}
    if seen.kind == "date":
        return _dates(seen)
    if seen.free_text:
        return "items", f"text, {seen.length:.0f} characters on average", {"as": "words"}
    if _all_match(column, BITS):
        return _bits(seen)
    if seen.number and (seen.distinct > MANY or seen.kind == "float" or seen.written):
        return _numbers(seen)
    if seen.nearly_unique:
        return "drop", f"tells almost every row apart: {seen.counts}", {}
    settings = {} if seen.kind == "text" else {"as": "categories"}
    return "items", f"a feature for each value; {seen.counts}", settings


def _bits(seen: ColumnLook) -> Said:
    """Propose zeros and ones as they are. If some values are missing, propose another form."""
    if seen.present == seen.rows:
        return "items", f"0 and 1; {seen.counts}", {}
    settings = {"cuts": [1]} if seen.kind == "float" else {"as": "categories"}
    return "items", f"0 and 1, some missing; {seen.counts}", settings


def _numbers(seen: ColumnLook) -> Said:
    """Propose numbers, with their form in text, and the texts that mean a missing value."""
    form = {"form": seen.written[0][1]} if seen.written else {}
    missing = {"missing": list(seen.missing.texts)} if seen.missing.texts else {}
    several = "; more than one form fits" * (len(seen.written) > 1)
    return (
        "items",
        f"numbers, cut where k people are on either side; {seen.counts}{several}",
        {"as": "numbers", **form, **missing},
    )


def _dates(seen: ColumnLook) -> Said:
    if not seen.forms:
        return "drop", f"dates in several forms: name them all to cut them; {seen.counts}", {}
    form = {"form": seen.forms[0]} if seen.forms[0] else {}
    missing = {"missing": list(seen.missing.texts)} if seen.missing.texts else {}
    several = "; day and month may stand in either order" * (len(seen.forms) > 1)
    why = f"dates, cut at months where k people are on either side; {seen.counts}{several}"
    return "items", why, {"as": "dates", **form, **missing}


def _is_list(type_: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(type_))


def _of_items(type_: pa.DataType) -> bool:
    import pyarrow as pa

    if not _is_list(type_):
        return False
    of = type_.value_type
    return bool(pa.types.is_string(of) or pa.types.is_integer(of))


def _codes(column: pa.ChunkedArray) -> Any:
    """Number the distinct values of a column. Null counts as a value."""
    if not len(column):
        return column.to_numpy()
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy(zero_copy_only=False)


def _all_match(column: pa.ChunkedArray, spelt: tuple[str, ...]) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_lower(pc.utf8_trim_whitespace(column.drop_null().cast(pa.string())))
    return bool(pc.all(pc.is_in(text, pa.array(spelt))).as_py())
