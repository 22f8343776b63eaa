"""Assess a release of sparse rows from any tool, by comparison with the original data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.progress import ProgressHook
from voile.data import Source, open_source
from voile.data.roles import Roles
from voile.itemsets.measures.containment import exposure
from voile.itemsets.rows.forms import ColumnForm
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.sources import RowReader, SourceRows
from voile.itemsets.verbs.attack import attack_scene
from voile.itemsets.verbs.options import AssessOptions
from voile.itemsets.verbs.scene import ItemsetsStage
from voile.keys.random import streams
from voile.release.assessment import ReleaseAssessment


@dataclass(frozen=True, eq=False)
class ForeignItemsStage(ItemsetsStage):
    """The attack data of a release of any origin. Rows are matched by the remaining features."""

    truth: Source
    options: AssessOptions
    released: Source
    roles: Roles
    rng: np.random.Generator

    @property
    def columns(self) -> tuple[str, ...]:
        """The released columns of items."""
        return tuple(self._released_reader.items)

    @cached_property
    def _reader(self) -> RowReader:
        return RowReader.all_of(self.roles)

    @cached_property
    def _forms(self) -> tuple[ColumnForm, ...]:
        return self._reader.learn(self.truth)

    @cached_property
    def true(self) -> SourceRows:
        """The rows of the original."""
        return self._reader.read_rows(self.truth, self._forms, strict=False)

    @cached_property
    def _released_reader(self) -> RowReader:
        """A reader of the columns that the release still has."""
        columns = {n: c for n, c in self.roles.columns.items() if n in self.released.columns}
        subject = self.roles.subject if self.roles.subject in columns else None
        return RowReader.all_of(Roles.model_validate({"subject": subject, "columns": columns}))

    @cached_property
    def released_rows(self) -> SourceRows:
        """The released rows, with the features that occur in the release."""
        reader = self._released_reader
        if not reader.items:
            raise RequestError(
                "the release has none of the columns of items",
                where=self.released.name,
                instead="give its columns the names that the original has",
            )
        return reader.read_rows(self.released, reader.learn(self.released), strict=False)

    @cached_property
    def targets(self) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The original row and the released pattern of each released row."""
        shown = self.released_rows.incidence
        unknown = set(shown.features) - set(self.true.incidence.features)
        if unknown:
            raise RequestError(
                f"{len(unknown):,} of its features are not in the original",
                where=self.released.name,
                instead="give the original that it was made from",
            )
        return self._match_rows(shown), shown.pattern

    def _match_rows(self, shown: Incidence) -> NDArray[np.intp]:
        """Match released rows at random to original rows with the same remaining features."""
        left = self.true.incidence.project(list(shown.features))
        number = {name: place for place, name in enumerate(left.features)}
        place: dict[frozenset[int], list[int]] = {}
        for row in self.rng.permutation(left.n_rows):
            place.setdefault(_features_of(left, int(row), number), []).append(int(row))
        rows_of = (_features_of(shown, row, number) for row in range(shown.n_rows))
        found = [place.get(features, []) for features in rows_of]
        rows = np.array([own.pop() if own else -1 for own in found], dtype=np.intp)
        if lost := int((rows < 0).sum()):
            raise RequestError(
                f"{lost:,} of {len(rows):,} released rows are not in the original: no row that is "
                "left has the same of the features that remain",
                where=self.released.name,
                instead="give the original that it was made from",
            )
        return rows

    @cached_property
    def control(self) -> tuple[Incidence, NDArray[np.intp], NDArray[np.object_] | None]:
        """People who are not in the release: their rows, the rows to use, and their labels."""
        if self.options.control is not None:
            rows = self._reader.read_rows(
                open_source(self.options.control), self._forms, strict=False
            )
            return rows.incidence, np.arange(rows.incidence.n_rows), rows.labels
        return self.true.incidence, np.zeros(0, dtype=np.intp), self.true.labels


def _features_of(rows: Incidence, row: int, number: Mapping[str, int]) -> frozenset[int]:
    """Return the features of a row, with the same numbers in original and release."""
    pattern = rows.pattern[row]
    items = rows.items[rows.starts[pattern] : rows.starts[pattern + 1]]
    return frozenset(number[rows.features[item]] for item in items)


def assess(
    original: Source,
    released: Source,
    roles: Roles,
    options: AssessOptions,
    *,
    seed: int | None,
    progress: ProgressHook,
) -> ReleaseAssessment:
    """Measure k by containment and unique rows in the remaining columns, and run the attacks.

    Raises
    ------
    RequestError : the release has rows or features that are not in the original.
    """
    roles.check(original.columns, "items")
    (matching,) = streams(seed, "matching")
    scene = ForeignItemsStage(original, options, released, roles, matching)
    progress("matching rows", 0)
    true, shown = scene.true.incidence, scene.released_rows.incidence
    scene.targets  # noqa: B018 - detects rows of another original early
    before, after = exposure(true), exposure(shown)
    evidence = attack_scene(scene, seed=seed, progress=progress)
    figures = {
        "rows": float(after.rows),
        "subjects": float(after.subjects),
        "features": float(after.features),
        "anonymity": float(after.anonymity),
        "exact_anonymity": float(after.exact_anonymity),
        "unique_rows": float(after.unique_rows),
        "unique_share": after.unique_rows / after.rows,
        "features_lost": 1 - after.features / max(before.features, 1),
    }
    facts = {
        "rows": after.rows,
        "original_rows": before.rows,
        "before": {
            "anonymity": before.anonymity,
            "unique_rows": before.unique_rows,
            "features": before.features,
        },
        "beyond": [name for name in released.columns if name not in roles.columns],
        "most_items": max(options.items),
    }
    return ReleaseAssessment("itemsets", released.name, figures, evidence, facts)
