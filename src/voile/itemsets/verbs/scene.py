"""The data of an attack: the released rows, the rows of the source, and their correspondence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.data import Source, open_source
from voile.data.roles import Roles
from voile.itemsets.rows.forms import ColumnForm, IntervalsForm
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.ranges import RangesForm
from voile.itemsets.rows.sources import RowReader, SourceRows
from voile.itemsets.rows.stored import form_of, released_form
from voile.itemsets.verbs.lookup import map_features
from voile.itemsets.verbs.options import AttackOptions
from voile.release.manifest import StoredRelease
from voile.release.scoring import people_released, private_manifest_of, rows_held_out, rows_released


class ItemsetsStage(ABC):
    """The data of an attack: released rows, the source's rows, and their correspondence."""

    options: AttackOptions

    @property
    @abstractmethod
    def _forms(self) -> tuple[ColumnForm, ...]:
        """The forms of the source."""

    @property
    @abstractmethod
    def true(self) -> SourceRows:
        """The rows of the source."""

    @property
    @abstractmethod
    def released_rows(self) -> SourceRows:
        """The released rows."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The released columns of items."""

    @property
    @abstractmethod
    def targets(self) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The positions of the released rows in `true`, and the released pattern of each."""

    @property
    @abstractmethod
    def control(self) -> tuple[Incidence, NDArray[np.intp], NDArray[np.object_] | None]:
        """People who are not in the release: their rows, the rows to use, and their labels."""

    @cached_property
    def _published_numbers(self) -> dict[int, NDArray[np.intp]]:
        shown, (others, *_) = self.released_rows.incidence, self.control
        return {id(rows): map_features(rows, shown) for rows in (self.true.incidence, others)}

    def select_published(self, known: NDArray[np.intp], rows: Incidence) -> NDArray[np.intp]:
        """Return a person's known items that are published, as feature numbers of the release."""
        found = self._published_numbers[id(rows)][known]
        return found[found >= 0]

    def mask(self, rows: Incidence) -> NDArray[np.bool_]:
        """Return a mask of the published features of the source, or of the control group."""
        return self._published_numbers[id(rows)] >= 0

    @cached_property
    def intervals(self) -> NDArray[np.bool_]:
        """A mask of the source's features that are intervals of numbers or dates."""
        kinds = [isinstance(form, RangesForm) for form in self._forms for _ in form.values]
        return np.array(kinds, dtype=np.bool_)

    @property
    def counts(self) -> list[int]:
        return sorted(set(self.options.items))

    def draw_targets(self, rng: np.random.Generator, among: int) -> NDArray[np.intp]:
        return rng.permutation(among)[: self.options.targets]

    @cached_property
    def labels_by_pattern(self) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
        """(patterns, labels) counts of released rows, and the labels."""
        labels, rows = self.released_rows.labels, self.released_rows.incidence
        assert labels is not None
        names, number = np.unique(labels.astype(str), return_inverse=True)
        table = np.zeros((len(rows.own), len(names)), dtype=np.int64)
        np.add.at(table, (rows.pattern, number), 1)
        return table, names.astype(object)


@dataclass(frozen=True, eq=False)
class ItemsetsScene(ItemsetsStage):
    """The attack data of a release that voile wrote."""

    release: StoredRelease
    truth: Source
    options: AttackOptions

    private: Mapping[str, Any]

    @classmethod
    def of(cls, release: StoredRelease, truth: Source, options: AttackOptions) -> ItemsetsScene:
        """Return the attack data of a release.

        Raises an error if the source does not fit the release.
        """
        scene = cls(release, truth, options, private_manifest_of(release))
        release.check_source(truth, scene.true.incidence.n_rows)
        return scene

    @cached_property
    def _reader(self) -> RowReader:
        target = self.private.get("target")  # early releases have none
        roles = Roles.model_validate(self.private["roles"])
        return RowReader.all_of(roles, target and form_of(target))

    @cached_property
    def _forms(self) -> tuple[ColumnForm, ...]:
        """The forms of the source, with its own values and the split points of the fit."""
        cuts = {
            form["column"]: tuple(form["cuts"]) for form in self.private["forms"] if "cuts" in form
        }
        ranges = {
            form["column"]: form_of(form)
            for form in self.private["forms"]
            if form["kind"] == RangesForm.kind
        }
        learnt = {form.column: form for form in self._reader.learn(self.truth)}
        fitted = {name: IntervalsForm.between(name, cuts[name]) for name in learnt if name in cuts}
        return tuple({**learnt, **fitted, **ranges}.values())

    @cached_property
    def true(self) -> SourceRows:
        """The rows of the source. A cell that cannot be read counts as empty."""
        return self._reader.read_rows(self.truth, self._forms, strict=False)

    @cached_property
    def released_rows(self) -> SourceRows:
        """The released rows."""
        source = self.release.rows()
        forms = [released_form(data) for data in self.release.public["policy"]]
        label = self._reader.label
        labelled = label if label in source.columns else None
        people = people_released(self.release)
        return self._reader.read_released(source, forms, labelled, people)

    @property
    def columns(self) -> tuple[str, ...]:
        """The released columns of items."""
        return tuple(column["column"] for column in self.release.public["policy"])

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        place = np.empty(self.true.incidence.n_rows, dtype=np.intp)
        place[self.true.number] = np.arange(len(place))
        return place

    @cached_property
    def targets(self) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The positions of the released rows in `true`, and the released pattern of each."""
        rows = rows_released(self.release)
        return self._place[rows[self.released_rows.number]], self.released_rows.incidence.pattern

    @cached_property
    def control(self) -> tuple[Incidence, NDArray[np.intp], NDArray[np.object_] | None]:
        """People who are not in the release: their rows, the rows to use, and their labels."""
        if self.options.control is not None:
            source = open_source(self.options.control)
            rows = self._reader.read_rows(source, self._forms, strict=False)
            return rows.incidence, np.arange(rows.incidence.n_rows), rows.labels
        return self.true.incidence, self._place[rows_held_out(self.release)], self.true.labels
