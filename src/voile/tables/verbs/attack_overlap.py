"""Attack a release per person, in which leaves of rows overlap, by exact values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.evidence import Evidence
from voile.tables.attack.records import IntervalRecords
from voile.tables.attack.singling_out import singling_out
from voile.tables.foreign.overlap import count_fitting, link_by_fit
from voile.tables.recoding.codebook import UNKNOWN, CodedColumn
from voile.tables.verbs.attack_tasks import BY_REGISTER, THRESHOLDS, Task, attacks_on, infer_values
from voile.tables.verbs.scene import TablesScene


def attacks_by_fit(scene: TablesScene, draws: Sequence[np.random.Generator]) -> Iterator[Task]:
    """Yield the attacks that the adversary's data allows.

    A person gets one claim, from the row that the fewest entries of the register fit.

    Raises
    ------
    RequestError : the adversary knows kept columns, which these attacks do not support.
    """
    if scene.options.knows:
        raise RequestError(
            "the labels of a release per person overlap, and a register is then compared by "
            "quasi-identifiers",
            instead="leave --knows out; people unique on all released columns are counted",
        )
    values = CellValues(scene)

    def link(_: object, rng: np.random.Generator) -> Evidence:
        return link_by_fit(
            values.holds,
            scene.released_records,
            values.register,
            columns=scene.quasi,
            rng=rng,
            thresholds=sorted({*THRESHOLDS, scene.options.threshold}),
        )

    def single_out(_: object, rng: np.random.Generator) -> Evidence:
        by_register = scene.options.population is None
        found = singling_out(
            scene.released_records,
            values.register if by_register else values.population,
            columns=scene.quasi,
            rng=rng,
            kept=scene.kept_codes,
            held_out=values.held_out,
            people=values.released_records,
            count=count_fitting(values.holds),
            joined=scene.is_joined,
        )
        return replace(found, notes=(*found.notes, BY_REGISTER)) if by_register else found

    yield from attacks_on(scene, draws, (link, single_out, infer_values))


@dataclass(frozen=True, eq=False)
class CellValues:
    """The raw cells of the adversary's tables and of the source, with common numbers by column."""

    scene: TablesScene

    @cached_property
    def _tables(self) -> dict[str, pa.Table]:
        scene = self.scene
        tables = {"released": scene.true_rows.take(pa.array(scene.rows))}
        if scene.options.register_ is not None:
            tables["register"] = scene.register_rows
        if scene.options.population is not None:
            tables["population"] = scene.counted_population[0]
        return tables | {"held_out": scene.held_out_rows}

    @cached_property
    def _label_values(self) -> tuple[tuple[NDArray[np.bool_], ...], dict[str, NDArray[np.int32]]]:
        """Return the values of each label, and each table's rows by the number of a value."""
        holds, columns = [], []
        for column in self.scene.codebook.columns:
            held, numbers = self._read_column(column)
            holds.append(held)
            columns.append(numbers)
        return tuple(holds), {
            name: np.column_stack([one[name] for one in columns]) for name in self._tables
        }

    def _read_column(
        self, column: CodedColumn
    ) -> tuple[NDArray[np.bool_], dict[str, NDArray[np.int32]]]:
        name, parts = column.column, {}
        shown = {n: t.column(name) for n, t in self._tables.items() if name in t.column_names}
        texts = pa.chunked_array(
            [c for cells in shown.values() for c in cells.cast(pa.string()).chunks], pa.string()
        )
        held, places = column.membership(texts, blank_is_unknown=False)
        start = 0
        for part, table in self._tables.items():
            numbers = np.full(table.num_rows, UNKNOWN, dtype=np.int32)
            if part in shown:
                numbers = places[start : start + table.num_rows].astype(np.int32)
                start += table.num_rows
                if part == "register":
                    lacks = column.register_codes(shown[part]) == UNKNOWN
                    numbers = np.where(lacks, UNKNOWN, numbers).astype(np.int32)
            parts[part] = numbers
        return held, parts

    @property
    def holds(self) -> tuple[NDArray[np.bool_], ...]:
        """Return the values that a label represents, by column (labels, values) bool."""
        return self._label_values[0]

    @property
    def released_records(self) -> IntervalRecords:
        """Return the people of released rows, by their values in the source."""
        return IntervalRecords(
            self._label_values[1]["released"], self.scene.released_records.subject
        )

    @property
    def register(self) -> IntervalRecords:
        """Return the adversary's register, with -1 for absent values."""
        return IntervalRecords(self._label_values[1]["register"], self.scene.register_quasi.subject)

    @property
    def population(self) -> IntervalRecords:
        """Return the population, with at most two people of each combination.

        Two people suffice to show that a combination is not unique.
        """
        codes, people = (
            self._label_values[1]["population"],
            np.minimum(self.scene.counted_population[1], 2),
        )
        repeated = np.repeat(codes, people, axis=0)
        return IntervalRecords(
            repeated, -2 - self.scene.true_rows.num_rows - np.arange(len(repeated))
        )

    @property
    def held_out(self) -> IntervalRecords | None:
        """Return people who are not in the release, or None."""
        codes = self._label_values[1]["held_out"]
        return IntervalRecords(codes, self.scene.held_out_people) if len(codes) else None
