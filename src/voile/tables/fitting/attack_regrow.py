"""Fit a release's policy again for each value of sampled people, with its original options.

Nothing is read from the kit. The adversary knows the options of `fit`, `choose` and `apply`, which
the private manifest records, and every cell of the source except one.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from voile.core.errors import RequestError
from voile.core.evidence import Evidence
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.release.found_values import VALUES_FOUND
from voile.release.options import OPTIONS
from voile.tables.attack.regrowing import RemainingValues, regrowing
from voile.tables.fitting.fit import fit
from voile.tables.verbs.apply import prepare
from voile.tables.verbs.choose import choose
from voile.tables.verbs.options import ApplyOptions, FitOptions
from voile.tables.verbs.scene import TablesScene

POLICY, MARGINALS = ("policy", "figures"), ("marginals",)
APART = ("population", "start_from", "seconds", "lower_bound_seconds", "hold_out", "outcomes")
"""Options of `fit` with which a release cannot be made again from its source alone."""
OTHERS = ("releases", "recount", "hold_back", "ledger", "after")
"""Options of `apply` with which a release cannot be made again from its source alone."""
ROWS_LEFT = ("held_out", "set_aside", "suppressed")


@dataclass(frozen=True, eq=False)
class PolicyRegrowth:
    """A release that is made again from a source in which one cell differs."""

    scene: TablesScene

    def guess_column(self, column: str, people: Sequence[int]) -> Evidence:
        """Count the values of a column that remain possible, for some rows of the source.

        Cost: a fit for each value of each person's group.
        """
        found = [self.count_remaining(person, column) for person in people]
        return regrowing(found, column=column, columns=self.scene.quasi)

    def count_remaining(self, person: int, column: str) -> RemainingValues:
        """Count the values of one person's column that the public files allow."""
        cells = self.table.column(column).to_pylist()
        others = [*cells[:person], *cells[person + 1 :]]
        values = candidates(cells)
        fitting = self._in_group(person, column, values)
        shown = [self.publish(self._with(person, column, value)) for value in fitting]
        policy = [one for one in shown if one is not None and self._is_shown(one, POLICY)]
        return RemainingValues(
            candidates=len(values),
            group=len(fitting),
            policy=len(policy),
            marginals=sum(self._is_shown(one, MARGINALS) for one in policy),
            frequent=max(map(others.count, set(others)), default=0) / max(len(others), 1),
        )

    @cached_property
    def table(self) -> pa.Table:
        """Return the columns of the source that determine the policy."""
        return self.scene.true_rows.select([*self.scene.quasi, *self.scene.sensitive])

    def publish(self, table: pa.Table) -> Mapping[str, Any] | None:
        """Return the public manifest of another source, or None if voile would refuse the source.

        Figures of written rows are the release's own, since equal groups have equal figures. The
        relative risk is that of the fit. With one row for each person, the gate counts the same.
        """
        roles, fitting, choice, applying = self._options
        source = open_source(table)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kit = fit(source, roles, fitting, seed=0, progress=silent)
                step = prepare(kit, choose(kit, choice), source, applying)
        except RequestError:
            return None
        notes = step.nothing()
        for batch in step.batches():
            step.merge(notes, step.make(batch).notes)
        known = step.conclude(step.summarise(notes))
        own = {name: x for name, x in self._private["figures"].items() if name != "relative_risk"}
        shown = step.public_manifest(own, known)
        stated = {name: step.stating(x, name) for name, x in shown["figures"].items()}
        searched = self.scene.release.public["figures"].get(VALUES_FOUND)
        stated |= {} if searched is None else {VALUES_FOUND: searched}
        return dict(json.loads(json.dumps({**shown, "figures": stated})))

    @cached_property
    def _private(self) -> Mapping[str, Any]:
        return self.scene.release.private or {}

    @cached_property
    def _options(self) -> tuple[Roles, FitOptions, Choice, ApplyOptions]:
        """Return the release's roles and options, for the columns that determine the policy."""
        given, own = self._private[OPTIONS], self._private["roles"]["columns"]
        columns = {name: own[name] for name in self.table.column_names}
        applied = {**given["apply"], "no_pseudonyms": True, "class_id": False, "key_file": None}
        return (
            Roles.model_validate({"columns": columns}),
            FitOptions.model_validate({**given["fit"], "analysis": None}),
            Choice.from_data(self._private["chosen"]["choice"]),
            ApplyOptions.model_validate(applied),
        )

    def check(self) -> None:
        """Raise an error unless the source and the options alone reproduce the release."""
        given, fates = self._private.get(OPTIONS, {}), self._private.get("counts", {})
        of_verbs = {**given.get("fit", {}), **given.get("apply", {})}
        reasons = [
            f"its option {name.replace('_', '-')}" for name in (*APART, *OTHERS) if name in of_verbs
        ]
        reasons += [f"{fates[name]:,} rows {name}" for name in ROWS_LEFT if fates.get(name)]
        if self._private.get("chosen", {}).get("edited"):
            reasons.append("its edited policy")
        if len(np.unique(self.scene.who)) < self.table.num_rows:
            reasons.append("people with several rows")
        if any(one["role"] == "weight" for one in self._private["roles"]["columns"].values()):
            reasons.append("its weights")
        if not reasons:
            again = self.publish(self.table)
            if again is None or not self._is_shown(again, (*POLICY, *MARGINALS)):
                reasons.append("a program or a source other than these")
        if reasons:
            raise RequestError(
                f"the policy cannot be regrown from the source because of {', '.join(reasons)}",
                instead="leave --regrow out",
            )

    def _is_shown(self, manifest: Mapping[str, Any], parts: tuple[str, ...]) -> bool:
        """Return whether a manifest has the same parts as the release's."""
        return all(manifest.get(part) == self.scene.release.public.get(part) for part in parts)

    def _in_group(self, person: int, column: str, values: list[Any]) -> list[Any]:
        """Return the values with which a row belongs to its own released group."""
        rows = self.table.select(self.scene.quasi).take(pa.array([person] * (len(values) + 1)))
        place, type_ = rows.column_names.index(column), rows.schema.field(column).type
        own = self.table.column(column)[person].as_py()
        rows = rows.set_column(place, column, pa.array([own, *values], type_))
        codes = self.scene.codebook.recode(rows)
        fits = (codes[1:] == codes[0]).all(axis=1)
        return [value for value, fit_ in zip(values, fits, strict=True) if fit_]

    def _with(self, person: int, column: str, value: Any) -> pa.Table:
        """Return the source with another value for one person."""
        cells = self.table.column(column).to_pylist()
        cells[person] = value
        place, type_ = (
            self.table.column_names.index(column),
            self.table.schema.field(column).type,
        )
        return self.table.set_column(place, column, pa.array(cells, type_))


def regrowing_tasks(
    scene: TablesScene, rng: np.random.Generator
) -> list[tuple[str, Callable[[], Evidence]]]:
    """Return an attack on each quasi-identifier of the sampled people."""
    regrowth = PolicyRegrowth(scene)
    regrowth.check()
    people = rng.permutation(regrowth.table.num_rows)[: scene.options.regrow].tolist()
    return [
        (f"regrowing the policy for {column}", partial(regrowth.guess_column, column, people))
        for column in scene.quasi
    ]


def candidates(cells: list[Any]) -> list[Any]:
    """Return the values that a cell of a column may have: observed values, and whole numbers.

    Whole numbers between observed values are included if that at most doubles the values, as in a
    fit.

    >>> candidates([20, 23, 21]), candidates(["m", "f", None, "m"])
    ([20, 21, 22, 23], ['f', 'm', None])
    """
    known = sorted({cell for cell in cells if cell is not None})
    if known and all(type(one) is int for one in known):
        between = range(known[0], known[-1] + 1)
        known = list(between) if len(between) <= 2 * len(known) else known
    return [*known, None] if None in cells else known
