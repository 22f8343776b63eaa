"""What became of each person's rows in each part: read, released, set aside. It never leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from voile.core.brief import Brief
from voile.data import open_source
from voile.keys.pseudonyms import pseudonyms_of, without_subject
from voile.keys.secret import Secret
from voile.release.manifest import ASIDE, ROW, source_rows

PEOPLE = "people.parquet"
NOBODY = "nobody"
"""Whose the rows are that name no subject."""
_COUNTED = ("read", "released", "set_aside")
_SCHEMA = pa.schema([("part", pa.string()), ("person", pa.string()),
                     *((name, pa.int64()) for name in _COUNTED)])  # fmt: skip


@dataclass(frozen=True)
class PeopleCounts(Brief):
    """The rows of each person in one part, by pseudonym; a row set aside for two reasons is one.

    Memory: three numbers a person.
    """

    read: Counter[str] = field(repr=False)
    released: Counter[str] = field(repr=False)
    set_aside: Counter[str] = field(repr=False)

    @classmethod
    def of(
        cls, secret: Secret, subjects: pa.Array, private: Path, table: pa.Array | None
    ) -> PeopleCounts:
        """Count the people of a part by its private folder.

        subjects : whose each row of the source is. table : of a text column in place, the rows of
        the table that its numbers count.
        """
        nobody = without_subject(subjects)
        known = pc.if_else(nobody, NOBODY, subjects.cast(pa.string()))
        named = pc.if_else(nobody, NOBODY, pseudonyms_of(secret, known))
        numbers = {
            "released": source_rows(private),
            "set_aside": open_source(private / ASIDE).read([ROW]).column(0).unique(),
        }
        counted = {}
        for name, rows in numbers.items():
            rows = rows.cast(pa.int64())
            counted[name] = _count(named.take(rows if table is None else table.take(rows)))
        return cls(_count(named if table is None else named.take(table)), **counted)

    def to_data(self) -> dict[str, int]:
        """Return how many people have a row of each kind."""
        return {name: len(getattr(self, name).keys() - {NOBODY}) for name in _COUNTED}

    def rows(self, part: str) -> Iterator[dict[str, Any]]:
        for person in sorted(self.read):
            counts = {name: getattr(self, name)[person] for name in _COUNTED}
            yield {"part": part, "person": person, **counts}


def write_people(counted: Mapping[str, PeopleCounts], private: Path) -> None:
    """Write the counts of each person in each part."""
    rows = [row for part, one in counted.items() for row in one.rows(part)]
    pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), private / PEOPLE)


def _count(names: pa.Array) -> Counter[str]:
    return Counter({x["values"].as_py(): x["counts"].as_py() for x in pc.value_counts(names)})
