"""Find values of columns next to the notes in the notes, in all their forms."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, pairwise
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from voile.core.errors import DamagedError, RequestError, nearest
from voile.core.warn import warn
from voile.data.source import Source
from voile.documents.model.start.known.cells import SCHEMA, read_values, subject_of
from voile.documents.model.start.known.columns import KINDS, column_kinds
from voile.documents.model.start.known.guard import WordGuard
from voile.documents.model.start.known.index import ValueIndex
from voile.documents.model.start.known.owned import EVERYONE, NOBODY, Longs
from voile.documents.model.start.known.search import ValueSearch
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.spans import settle_spans
from voile.documents.text.document import Document
from voile.documents.words.tokens import tokenise

_ORDINARY, _COMMON = "ordinary word", "common word"
"""The kinds of table rows that contain a word of the guard instead of a value."""


class KnownValuesWarning(UserWarning):
    """Some lookup columns occur in no note. Check `--by`, and the kind of the column."""


class KnownValues:
    """A finder of values of the columns next to the notes, for the people of each note.

    A note is searched for the values of its own subject, and of the people known to all notes. It
    is never searched for another patient's values. Names are found whole, in any order, with
    initials, and as a first or last name alone. Numbers are found in any grouping, and days in any
    form. Words are also found with one typo.

    A removal is *sure* unless the match may have another meaning. A name that the notes use as a
    word (May, Rose) may occur alone, and a typo may be another name. The reason is then
    ``possible`` instead of ``known``. Both reasons contain the columns.

    Parameters
    ----------
    values : a table with the columns of `SCHEMA`, which `read` creates.
    guard : the ordinary words; None learns them from the first notes that are searched.

    Examples
    --------
    >>> table = pa.table({"pid": [7], "name": ["Rose Quinn"], "phone": ["(212) 555-0147"]})
    >>> from voile.data import open_source
    >>> known = KnownValues.read(open_source(table), by="pid")
    >>> note = Document("QUINN, Rose came early; call 212.555.0147.", subject="7")
    >>> for one in known.propose([note])[0]:
    ...     print(one.start, one.end, one.label, *map(str, one.by), known.sure(one))
    0 11 NAME known name True
    29 41 PHONE known phone True
    """

    def __init__(self, values: pa.Table, guard: WordGuard | None = None) -> None:
        self._values = values.sort_by([("subject", "ascending")])
        self._guard = guard
        self._rows = _rows_by_subject(self._values.column("subject"))
        self._met = Counter[str]()
        # notes searched so far, and those with a subject in the table
        self._notes = self.linked = 0

    @classmethod
    def read(
        cls,
        patients: Source | Sequence[Source] | None,
        by: str | None = None,
        *,
        people: Source | Sequence[Source] | None = None,
        kinds: Mapping[str, str] | None = None,
    ) -> KnownValues:
        """Read the values of tables of patients, and of tables of people known to all notes.

        Parameters
        ----------
        by : the column of `patients` with the subject of the notes.
        kinds : the kinds of columns with misleading names and values. A kind is name, date, phone,
            email, id, address, place, organisation, or none.

        Raises
        ------
        RequestError : a column or kind does not exist, or no column contains a known value.
        """
        whose, everyone = _several(patients), _several(people)
        if whose and by is None:
            raise RequestError(
                "no column gives the subject of each row",
                where=whose[0].name,
                instead="name it with --by",
            )
        links = [*((one, by) for one in whose), *((one, None) for one in everyone)]
        said = kinds or {}
        columns = list(dict.fromkeys(name for source, _ in links for name in source.columns))
        for name in sorted(said.keys() - set(columns)):
            raise RequestError(f"there is no column {name}", instead=nearest(name, columns))
        batches: list[pa.RecordBatch] = []
        numbers, taken = count(), set[str]()
        for source, link in links:
            found = column_kinds(source, link, said)
            called = {name: f"{source.name}: {name}" for name in found if name in taken}
            batches += read_values(source, found, link, numbers=numbers, called=called)
            taken |= source.columns.keys()
        return cls(pa.Table.from_batches(batches, SCHEMA))

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kind of each column."""
        pairs = self._values.group_by(["column", "kind"]).aggregate([])
        return dict(zip(pairs["column"].to_pylist(), pairs["kind"].to_pylist(), strict=True))

    @property
    def hits(self) -> Mapping[str, int]:
        """The number of notes searched so far that contain a value of each column."""
        return MappingProxyType({column: self._met[column] for column in sorted(self.kinds)})

    @staticmethod
    def sure(removal: TextRemoval) -> bool:
        """Return whether a removal is a known value without another possible meaning."""
        return any(reason.kind == "known" for reason in removal.by)

    def propose(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Find the known values of each document, ordered and disjoint.

        Cost: O(tokens + values of the documents' subjects). Adds to `hits`.
        """
        with _no_cycles():
            return self._propose(documents)

    def propose_sure(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Find the known values of each document without another possible meaning.

        A name that the notes also use as a word (May, Summer) is left to the committee, which
        decides by the context.
        """
        return [[one for one in found if self.sure(one)] for found in self.propose(documents)]

    def _propose(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        texts = [one.text for one in documents]
        tokens = tokenise(texts)
        index, whose = self._index(documents)
        if self._guard is None:
            self._guard = ValueSearch(index, texts, tokens, whose).learn()
        search = ValueSearch(index, texts, tokens, whose, self._guard)
        found: list[list[list[TextRemoval]]] = [[] for _ in documents]
        for matches in search.find():
            for document, removals in matches.items():
                found[document].append(removals)
        proposed = [settle_spans(text, *ranked) for text, ranked in zip(texts, found, strict=True)]
        self._count(proposed, int(np.count_nonzero(whose != NOBODY)))
        return proposed

    def check(self, link: str | None = None) -> None:
        """Refuse columns if none of them occurs in a note, and warn of single columns.

        Parameters
        ----------
        link : the column with the subject of each row, which may be absent from notes without a
            warning.

        Raises
        ------
        RequestError : no column occurs in a note.
        """
        hits = self.hits
        unmet = [column for column, n in hits.items() if not n and column != link]
        if not self._notes or (any(hits.values()) and not unmet):
            return
        counted = ", ".join(f"{column} {n:,}" for column, n in hits.items())
        linked = f"{self.linked:,} of {self._notes:,} notes have a subject in the table"
        if not any(hits.values()):
            raise RequestError(
                f"the known columns meet no note ({counted}); {linked}",
                instead="check --by, --subject or --subject-pattern, and --known-kind",
            )
        met = ", ".join(f"{column} {n:,}" for column, n in hits.items() if n)
        warn(
            f"known columns that meet no note: {', '.join(unmet)}; notes that the others meet: "
            f"{met}; {linked}",
            KnownValuesWarning,
        )

    def join_values(self, more: KnownValues) -> KnownValues:
        """Return these values together with others, with the ordinary words of these."""
        own = self._values
        first = (pc.max(own.column("number")).as_py() or 0) + 1
        person = pc.add(more._values.column("number"), first)
        place = own.schema.get_field_index("number")
        moved = more._values.set_column(place, own.schema.field("number"), person)
        return KnownValues(pa.concat_tables([own, moved]), self._guard)

    def to_table(self) -> pa.Table:
        """Return all data needed to search other notes, as one table of strings and numbers."""
        guard = self._guard or WordGuard()
        rows: list[dict[str, str | int]] = [
            {"kind": _ORDINARY, "value": word} for word in sorted(guard.ordinary)
        ]
        rows += [
            {"kind": _COMMON, "value": word, "number": n}
            for word, n in sorted(guard.common.items())
        ]
        return pa.concat_tables([self._values, pa.Table.from_pylist(rows, SCHEMA)])

    @classmethod
    def from_table(cls, table: pa.Table) -> KnownValues:
        """Create the object from a table of `to_table`.

        Raises
        ------
        DamagedError : the table is not of this form.
        """
        damaged = DamagedError("the known values are not whole")
        if table.schema.names != SCHEMA.names or table.schema.types != SCHEMA.types:
            raise damaged
        parts = {
            kind: table.filter(pc.equal(table["kind"], kind))
            for kind in (*KINDS, _ORDINARY, _COMMON)
        }
        ordinary, common = parts.pop(_ORDINARY), parts.pop(_COMMON)
        values = pa.concat_tables(parts.values())
        days = pc.match_substring_regex(parts["date"]["value"], r"^\d{8}$")
        filled = [*(values[name] for name in ("number", "column", "value")), common["number"]]
        whole = len(values) + len(ordinary) + len(common) == len(table)
        if (
            not whole
            or any(one.null_count for one in filled)
            or not pc.all(days, min_count=0).as_py()
        ):
            raise damaged
        texts = zip(common["value"].to_pylist(), common["number"].to_pylist(), strict=True)
        guard = WordGuard(frozenset(ordinary["value"].to_pylist()), dict(texts))
        return cls(values, guard if len(values) < len(table) else None)

    def __repr__(self) -> str:
        return f"KnownValues({len(self._values):,} values in {len(self.kinds):,} columns)"

    def _index(self, documents: Sequence[Document]) -> tuple[ValueIndex, Longs]:
        """Return the values to look for in these documents, and each document's owner."""
        subjects = [subject_of(one.subject) for one in documents]
        wanted = sorted({one for one in subjects if one is not None and one in self._rows})
        owners = {one: number for number, one in enumerate(wanted, EVERYONE + 1)}
        rows = [self._rows.get(subject, (0, 0)) for subject in (None, *wanted)]
        of = [
            owner for owner, (first, last) in enumerate(rows, EVERYONE) for _ in range(first, last)
        ]
        places = pa.array([row for span in rows for row in range(*span)], pa.int64())
        index = ValueIndex()
        index.add(of, self._values.take(places))
        whose = [NOBODY if one is None else owners.get(one, NOBODY) for one in subjects]
        return index, np.array(whose, dtype=np.int64)

    def _count(self, proposed: Sequence[Sequence[TextRemoval]], linked: int) -> None:
        self._notes += len(proposed)
        self.linked += linked
        for removals in proposed:
            self._met.update({reason.name for one in removals for reason in one.by})


@contextmanager
def _no_cycles() -> Iterator[None]:
    """Disable the cyclic garbage collector, which would scan all objects without benefit."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _several(sources: Source | Sequence[Source] | None) -> Sequence[Source]:
    return (sources,) if isinstance(sources, Source) else sources or ()


def _rows_by_subject(subjects: pa.ChunkedArray) -> dict[str | None, tuple[int, int]]:
    """Return the first and last row of each subject in a sorted column."""
    runs = pc.run_end_encode(subjects.combine_chunks())
    ends = [0, *runs.run_ends.to_pylist()]
    return dict(zip(runs.values.to_pylist(), pairwise(ends), strict=True))
