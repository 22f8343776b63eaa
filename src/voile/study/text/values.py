"""What the value search reads of a study: the unreleased values of its people, and all its bytes.

Columns to keep are released as they are, or with dates moved. Of texts and items a part is
released. Every other column of a source is unreleased: identifiers, dropped and generalised
columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from voile.core.errors import InfeasibleError
from voile.core.rounding import rounded
from voile.data import Source
from voile.data.opening import open_released
from voile.data.roles import AS_IT_IS
from voile.gate.values.findings import ValueFinding
from voile.gate.values.search import (
    TEXT_COLUMNS,
    VALUE_COLUMNS,
    Column,
    SearchInputs,
    search_values,
)
from voile.release.manifest import Release, source_rows
from voile.study.plan.plan import Plan


@dataclass(frozen=True)
class SearchedPart:
    """One part of rows or texts as it was written, next to its source. subject : its column."""

    name: str
    release: Release
    source: Source
    subject: str

    @property
    def unreleased(self) -> list[str]:
        """The columns of the source that are not released as they are."""
        given = (self.release.private or {})["roles"]["columns"]
        return [
            one
            for one in self.source.columns
            if given.get(one, {}).get("role") not in (*AS_IT_IS, "text", "items")
        ]

    @property
    def generalised(self) -> list[Column]:
        """The columns that are released as labels."""
        released = self.release.public["columns"]
        return [(self.name, one["column"]) for one in released if one["role"] == "quasi"]

    def labels(self) -> set[str]:
        """Return the distinct labels of the release."""
        columns = [column for _, column in self.generalised]
        found: set[str] = set()
        for batch in open_released(self.release.local).batches(columns) if columns else ():
            found |= {one for x in batch.columns for one in _as_text(x).unique().to_pylist() if one}
        return found

    def values(self) -> Iterator[pa.RecordBatch]:
        """Yield the unreleased values of every person of the source."""
        columns = self.unreleased
        for batch in self.source.batches(list(dict.fromkeys([self.subject, *columns]))):
            people = batch.column(self.subject)
            for column in columns:
                yield _cells(people, self.name, column, batch.column(column), VALUE_COLUMNS)

    def texts(self) -> Iterator[pa.RecordBatch]:
        """Yield the released cells of every column, with the person of each row."""
        people = self.source.read([self.subject]).column(0).combine_chunks()
        numbers, first = source_rows(self.release.folder), 0
        released = open_released(self.release.local)
        for batch in released.batches(list(released.columns)):
            whose = people.take(numbers.slice(first, len(batch)))
            first += len(batch)
            for column in batch.schema.names:
                yield _cells(whose, self.name, column, batch.column(column), TEXT_COLUMNS)


def search_release(
    plan: Plan, part_of: Callable[[str], Release], directory: Path | None = None
) -> tuple[ValueFinding, ...]:
    """Search the released bytes of a plan's parts. directory : where keys spill, in the clear."""
    own = [name for name, part in plan.parts.items() if part.of is None]
    parts = [SearchedPart(one, part_of(one), plan.opened(one), plan.study.subject) for one in own]
    return search_values(inputs_of(parts), directory=directory)


def inputs_of(parts: Sequence[SearchedPart]) -> SearchInputs:
    """Return what the search reads of some parts."""
    return SearchInputs(
        values=lambda: (batch for part in parts for batch in part.values()),
        texts=lambda: (batch for part in parts for batch in part.texts()),
        generalised=[column for part in parts for column in part.generalised],
        labels={label for part in parts for label in part.labels()},
    )


def private_value(found: ValueFinding) -> dict[str, Any]:
    """Return the forms of a finding, and its sentence, which the private manifest has too."""
    forms = [asdict(one) for one in found.forms]
    detail = {"name": found.name, "sentence": found.sentence, "forms": forms}
    return {**detail, "not_searched": found.not_searched}


def public_value(found: ValueFinding) -> dict[str, Any]:
    """Return a finding as shares, two digits rounded up, and the columns without counts."""
    n = found.n or 1
    return {
        "name": found.name,
        "says": f"people who {found.says}",
        "knowledge": f"The adversary {found.knows}.",
        "found": rounded(found.value / n, "up"),
        "expected": rounded((found.expected or 0.0) / n, "up"),
        "columns": sorted({f"{one.part}.{one.column}" for one in found.forms}),
    }


def is_allowed(plan: Plan, found: ValueFinding) -> bool:
    """Say whether the promise allows so many people, two deviations of chance aside."""
    limit = plan.promise.values_in_text * (found.n or 0)
    chance = (found.expected or 0.0) + 2 * (found.deviation or 0.0)
    return found.value - chance <= limit


def check_values(plan: Plan, found: ValueFinding) -> None:
    """Refuse a release with values of more people than the promise allows, chance aside.

    Raises InfeasibleError: the sentence has columns and counts, and no value.
    """
    if is_allowed(plan, found):
        return
    raise InfeasibleError(
        f"{found.sentence}; [promise] allows {plan.promise.values_in_text:.3g} of them",
        where=str(plan.path),
        instead="add these columns to known in the init of the notes and fit again, or accept the "
        f"risk: values_in_text = {rounded(found.value / (found.n or 1), 'up'):g} in [promise]",
    )


def _cells(people: Any, part: str, column: str, cells: Any, names: tuple[str, ...]) -> Any:
    where = (pa.array([one]).take(pa.repeat(0, len(cells))) for one in (part, column))
    return pa.record_batch([_as_text(people), *where, _as_text(cells)], names=list(names))


def _as_text(cells: Any) -> Any:
    """Return cells as text; a list or a structure as Python writes it."""
    if pa.types.is_nested(cells.type):
        return pa.array([None if x is None else str(x) for x in cells.to_pylist()], pa.string())
    return pc.cast(cells, pa.large_string())
