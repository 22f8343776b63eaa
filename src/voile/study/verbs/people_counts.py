"""Count each person's rows in each part: read, released, rejected. The counts stay private."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from voile.core.brief import BriefRepr
from voile.data import open_source
from voile.keys.pseudonyms import pseudonyms_of, without_subject
from voile.keys.secret import Secret
from voile.release.manifest import ASIDE, ROW, source_rows

PEOPLE = "people.parquet"
NOBODY = "nobody"
"""The person of rows without a subject."""
_COUNTED = ("read", "released", "set_aside")
_SCHEMA = pa.schema([("person", pa.string()), *((name, pa.int64()) for name in _COUNTED)])


@dataclass(frozen=True)
class PeopleCounts(BriefRepr):
    """The rows of each person in one part, by pseudonym.

    A row rejected for two reasons counts once. `table` has the person, and the numbers of rows
    read, released and rejected. Memory: three numbers per person.
    """

    shows = ()

    table: pa.Table

    @classmethod
    def of(
        cls, secret: Secret, subjects: pa.Array, private: Path, table: pa.Array | None
    ) -> PeopleCounts:
        """Count the people of a part, using its private folder.

        subjects : the person of each row of the source. table : for a text column in place, the
            rows of the table that its numbers refer to.
        """
        nobody = without_subject(subjects)
        known = pc.if_else(nobody, NOBODY, subjects.cast(pa.string()))
        named = pc.if_else(nobody, NOBODY, pseudonyms_of(secret, known))
        if table is not None:
            named = named.take(table)
        people = named.dictionary_encode()
        aside = open_source(private / ASIDE).read([ROW]).column(0).unique()
        rows = (pa.array(range(len(named))), source_rows(private), aside)
        counts = (_count(people, one.cast(pa.int64())) for one in rows)
        found = pa.table([people.dictionary, *counts], schema=_SCHEMA)
        return cls(found.sort_by("person"))

    def to_data(self) -> dict[str, int]:
        """Return the number of people with a row of each kind."""
        known = self.table.filter(pc.field("person") != NOBODY)
        return {name: pc.sum(pc.greater(known[name], 0)).as_py() or 0 for name in _COUNTED}


def write_people(
    counted: Iterable[tuple[str, PeopleCounts]], private: Path
) -> dict[str, dict[str, int]]:
    """Write the counts of each person in each part, and return the people by part.

    Memory: one part.
    """
    schema, people = pa.schema([pa.field("part", pa.string()), *_SCHEMA]), {}
    with pq.ParquetWriter(private / PEOPLE, schema) as writer:
        for part, one in counted:
            name = pa.repeat(part, len(one.table))
            writer.write_table(one.table.add_column(0, "part", name))
            people[part] = one.to_data()
    return people


def _count(people: pa.DictionaryArray, rows: pa.Array) -> pa.Array:
    own = people.indices.take(rows)
    return pa.array(np.bincount(own.to_numpy(), minlength=len(people.dictionary)))
