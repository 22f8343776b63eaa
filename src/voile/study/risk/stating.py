"""Texts that state a category of their person: race, ethnicity, occupation, marital status."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from voile.core.brief import BriefRepr
from voile.core.rounding import round_number
from voile.data import Source
from voile.data.column_words import mentions as names_as
from voile.study.readers.categories import MOST_VALUES, CategoryReader, find_stated


@dataclass(frozen=True)
class StatedCategory(BriefRepr):
    """People with texts that state their value of a column, if an adversary learns from words.

    of : number of people with texts and a value. people : the people, by the key of their texts.
    """

    column: str
    of: int
    people: frozenset[str] = field(repr=False)

    @property
    def share(self) -> float:
        return len(self.people) / self.of if self.of else 0.0

    @property
    def says(self) -> str:
        """One sentence for a report."""
        if not self.people:
            return f"no word for a value of {self.column} was found in the texts that fits"
        share = round_number(self.share, "up")
        return f"the texts state {self.column} of {share:.0%} of the people: counted as known"

    def to_data(self) -> dict[str, Any]:
        return {"column": self.column, "share": round_number(self.share, "up")}


def category_columns(source: Source, columns: Iterable[str]) -> dict[str, CategoryReader]:
    """Return the readers of the text columns that have few distinct values.

    A sex column has its own reader. Cost: one pass over the columns.
    """
    found: dict[str, CategoryReader] = {}
    for name in columns:
        if names_as(name, "sex") or not pa.types.is_string(source.columns[name]):
            continue
        cells: set[str] = set()
        for batch in source.batches([name]):
            cells |= {one for one in batch.column(0).unique().to_pylist() if one}
        reader = CategoryReader(name, sorted(cells)) if len(cells) <= MOST_VALUES else None
        if reader:
            found[name] = reader
    return found


def measure_stated(
    texts: Iterable[tuple[str, str]],
    readers: Mapping[str, CategoryReader],
    truth: Mapping[str, Mapping[str, str]],
) -> tuple[StatedCategory, ...]:
    """Find the people with texts that state their value of each column.

    texts : people and their texts. truth : by column, each person's value.
    Cost: O(characters) for each column. Memory: the people, not their texts.
    """
    said: dict[str, dict[str, frozenset[str]]] = {one: defaultdict(frozenset) for one in readers}
    for person, text in texts:
        for column, reader in readers.items():
            said[column][person] |= reader.find_values(text)
    return tuple(
        StatedCategory(name, len(own.keys() & truth[name].keys()), find_stated(own, truth[name]))
        for name, own in said.items()
    )


def true_values(source: Source, subject: str, columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return, by column, each person's value. The last of several rows counts."""
    found: dict[str, dict[str, str]] = {name: {} for name in columns}
    for batch in source.batches([subject, *columns]) if columns else ():
        people, *cells = (x.to_pylist() for x in batch.columns)
        for name, own in zip(columns, cells, strict=True):
            found[name] |= {
                str(who): str(x) for who, x in zip(people, own, strict=True) if None not in (who, x)
            }
    return found
