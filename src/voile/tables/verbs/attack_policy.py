"""List the attacks on the policy of a release, with their inputs.

The adversary of these attacks reads the codebook and the constraints in the manifest, and knows the
algorithm. Nothing is read from a kit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.evidence import Evidence
from voile.tables.attack.absences import absences, outside
from voile.tables.attack.downcoding import downcoding
from voile.tables.attack.exact import ExactRows
from voile.tables.attack.faces import faces
from voile.tables.attack.minimality import PromisedRules, SensitivePeople, minimality
from voile.tables.attack.records import distinct_rows
from voile.tables.domains.domain import encode_cells
from voile.tables.people.counts import value_order
from voile.tables.recoding.boxes import BoxCodebook
from voile.tables.verbs.attack_places import groups_of, numbers_of, places, spans_of
from voile.tables.verbs.promises import least_people
from voile.tables.verbs.scene import TablesScene


@dataclass(frozen=True, eq=False)
class PolicyAttacks:
    """The attacks on a policy that apply to a release, given the adversary's data."""

    scene: TablesScene

    @cached_property
    def constraints(self) -> dict[str, Any]:
        """Return the constraints in the manifest."""
        return dict(self.scene.release.public["constraints"])

    @property
    def is_tree(self) -> bool:
        return isinstance(self.scene.codebook, BoxCodebook)

    @cached_property
    def least(self) -> int:
        """Return the least number of people of any group, by k and by the largest risk."""
        return least_people(int(self.constraints["k"]), float(self.constraints["max_risk"]))

    @cached_property
    def diverse(self) -> list[str]:
        """Return the sensitive columns for which the manifest states rules."""
        types = self.scene.table.schema
        counted = [c for c in self.scene.sensitive if not pa.types.is_floating(types.field(c).type)]
        return counted if self._rules().are_diverse else []

    def _rules(self, *, ordered: bool = False) -> PromisedRules:
        """Return the promised rules for every group. `ordered` means that values are numbers."""
        names = ("l_diversity", "entropy_l", "t_closeness")
        distinct, entropy, t = (float(self.constraints.get(name, 1)) for name in names)
        return PromisedRules(self.least, distinct, entropy, t, ordered)

    @cached_property
    def one_row_each(self) -> bool:
        """Return whether no person has several rows. Otherwise k does not count rows."""
        who = self.scene.released_records.subject
        return len(np.unique(who)) == len(who)

    @property
    def reads_missing_cuts(self) -> bool:
        """Return whether a missing split is informative: no group was suppressed instead."""
        return self.one_row_each and not (self.constraints["suppress"] and not self.is_tree)

    @cached_property
    def tasks(self) -> list[tuple[str, Callable[[np.random.Generator], Evidence | None]]]:
        """Return each attack that applies, with its name in the progress display."""
        found: list[tuple[str, Callable[[np.random.Generator], Evidence | None]]] = []
        options = self.scene.options
        if self.scene.is_per_person:  # the other attacks need disjoint leaves
            return [("reading box ends", self.faces)]
        if options.register_ is not None or options.population is not None:
            found.append(("looking for absences", lambda _: self.absences()))
            if self.is_tree and self.reads_missing_cuts and not self.diverse and self.least > 1:
                found.append(("naming values of uncut boxes", self.downcoding))
        if self.is_tree:
            found.append(("reading box ends", self.faces))
        if self.reads_missing_cuts:
            for column in self.diverse:
                task = f"inferring {column} from missing cuts"
                found.append((task, partial(self.minimality, column)))
        return found

    def absences(self) -> Evidence:
        """Find people of the register, or of the population, who are not in the source."""
        scene, codebook = self.scene, self.scene.codebook
        table, weights, who = self._everybody
        codes = scene.counted_codes if who is None else scene.register_quasi.codes
        claimed = outside(codes, scene.released_records.codes)
        sourced = np.delete(np.arange(len(scene.who)), scene.rows_held_out)
        if who is not None:
            present = np.isin(who, scene.who[sourced]).astype(np.int64)
        else:
            present = self._present(table, weights, scene.true_rows.take(pa.array(sourced)))
        apart = np.zeros(len(codes), dtype=np.bool_)
        for column in codebook.columns:
            if column.column in table.column_names:
                held, place = column.membership(
                    table.column(column.column), blank_is_unknown=who is not None
                )
                apart |= np.asarray(~held.any(axis=0))[place]
        return absences(claimed, apart, weights, present, columns=scene.quasi)

    def _present(
        self, table: pa.Table, people: NDArray[np.int64], source: pa.Table
    ) -> NDArray[np.int64]:
        """Return how many people of each row of a population are in the source.

        The number is at most the people of the row. Among rows of one combination, only the first
        has any.
        """
        inside, own = self._places(source, table)
        combinations, place = distinct_rows(np.concatenate([inside, own]))
        counted = np.bincount(place[: len(inside)], minlength=len(combinations))
        first = np.unique(place[len(inside) :], return_index=True)[1]
        found = np.zeros(len(own), dtype=np.int64)
        found[first] = np.minimum(counted[place[len(inside) :][first]], people[first])
        return found

    @cached_property
    def _everybody(self) -> tuple[pa.Table, NDArray[np.int64], NDArray[np.int64] | None]:
        """Return rows of the population, the people of each, and their identities or None."""
        if self.scene.options.register_ is not None:
            table = self.scene.register_rows
            people = np.ones(table.num_rows, dtype=np.int64)
            return table, people, self.scene.register_quasi.subject
        table, people = self.scene.counted_population
        return table, people, None

    def downcoding(self, rng: np.random.Generator) -> Evidence | None:
        """Name exact values in leaves that k alone would have split."""
        table, weights, _ = self._everybody
        if not set(self.scene.quasi) <= set(table.column_names):
            return None
        people, register = self._exact(self._released_cells, table)
        if not people.places.shape[1]:
            return None
        return downcoding(
            people, register, weights, least=self.least, columns=self.scene.quasi, rng=rng
        )

    def faces(self, rng: np.random.Generator) -> Evidence | None:
        """Read the boundaries of leaves."""
        codebook = self.scene.codebook
        assert isinstance(codebook, BoxCodebook)
        boxes = np.array(codebook.boxes, dtype=np.int32).reshape(-1, len(codebook.columns))
        numbers, spans, inner, names = [], [], [], []
        for column, own in zip(codebook.columns, boxes.T, strict=True):
            read = spans_of(column)
            if read is not None:
                numbers.append(numbers_of(column, self._released_cells.column(column.column)))
                spans.append(read[0][own])
                inner.append(read[1][own])
                names.append(column.column)
        if not names or not len(boxes):
            return None
        _, place = distinct_rows(np.concatenate([boxes, self.scene.released_records.codes]))
        box = np.empty(place.max() + 1, dtype=np.int64)
        box[place[: len(boxes)]] = np.arange(len(boxes))
        return faces(
            box[place[len(boxes) :]],
            np.column_stack(numbers),
            np.stack(spans, axis=1),
            np.stack(inner, axis=1),
            columns=names,
            rng=rng,
        )

    def minimality(self, column: str, rng: np.random.Generator) -> Evidence | None:
        """Infer a sensitive column from missing splits."""
        scene = self.scene
        control = scene.held_out_rows
        released, others = self._exact(self._released_cells, control)
        if not released.places.shape[1]:
            return None
        coded = [self._sensitive(name, control) for name in self.diverse]
        which = self.diverse.index(column)
        return minimality(
            released,
            [one for one, _ in coded],
            which,
            known=scene.quasi,
            sensitive=column,
            is_tree=self.is_tree,
            rng=rng,
            held_out=(others, coded[which][1]) if control.num_rows else None,
        )

    @cached_property
    def _released_cells(self) -> pa.Table:
        """Return the source's cells of the released rows."""
        return self.scene.true_rows.take(pa.array(self.scene.rows))

    def _exact(self, *tables: pa.Table) -> list[ExactRows]:
        """Return the exact values of rows, for the columns with a public order."""
        released, ids = distinct_rows(self.scene.released_records.codes)
        others = (groups_of(self.scene.codebook.recode(t), released) for t in tables[1:])
        groups = [ids.astype(np.int64), *others]
        return [ExactRows(p, g) for p, g in zip(self._places(*tables), groups, strict=True)]

    def _places(self, *tables: pa.Table) -> list[NDArray[np.int32]]:
        """Return the positions of values, for the columns with a public order."""
        placed = (
            places(column, [table.column(column.column) for table in tables])
            for column in self.scene.codebook.columns
        )
        own = [one for one in placed if one is not None]
        if not own:
            return [np.zeros((table.num_rows, 0), dtype=np.int32) for table in tables]
        return [np.column_stack(one) for one in zip(*own, strict=True)]

    def _sensitive(self, name: str, control: pa.Table) -> tuple[SensitivePeople, NDArray[np.int64]]:
        """Number a sensitive column's values in release and control, in order if numeric."""
        columns = [self.scene.table.column(name), control.column(name)]
        cells = [encode_cells(column) for column in columns]
        texts = [[None if c is None else str(c) for c in own] for own, _ in cells]
        every = list(dict.fromkeys([*texts[0], *texts[1]]))
        order, ordered = value_order(every)
        rank = {every[at]: n for n, at in enumerate(order.tolist())}
        values, others = (
            np.array([rank[t] for t in own], dtype=np.int64)[place]
            for own, (_, place) in zip(texts, cells, strict=True)
        )
        return SensitivePeople(values, self._rules(ordered=ordered)), others
