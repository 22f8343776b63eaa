"""Assess a release of any origin against its original: the sixth verb."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.evidence import Evidence
from voile.core.progress import ProgressHook
from voile.data import Source
from voile.data.roles import Roles
from voile.data.source import TableSource
from voile.gate.analysts import ReleasedLabels, count_misplaced, measure_utility
from voile.gate.finding import figures_of
from voile.gate.losses import PlacedRows, measure_losses
from voile.gate.safe_harbor import count_safe_harbor
from voile.gate.source_risks import find_source_figures, measure_source
from voile.keys.random import streams
from voile.release.assessment import ReleaseAssessment
from voile.tables.foreign.bounds import released_as
from voile.tables.foreign.boxes import people_in
from voile.tables.foreign.codes import form_of_codes
from voile.tables.foreign.columns import UNREAD, ForeignCodebook
from voile.tables.foreign.keys import is_key, texts_of, try_keys
from voile.tables.verbs.assess_overlap import overlapping_attacks
from voile.tables.verbs.assess_rows import ForeignRows
from voile.tables.verbs.assess_stage import NAMES, ForeignTablesStage, name_rows
from voile.tables.verbs.assess_synthetic import assess_synthetic, read_cells
from voile.tables.verbs.attack_tasks import attacks_on, run_all
from voile.tables.verbs.measure_release import (
    CENSUS_AREAS,
    NOT_RELEASED,
    count_population,
    find_small_areas,
)
from voile.tables.verbs.options import AssessOptions
from voile.tables.verbs.report_losses import describe_columns

STREAMS = ("linkage", "singling out", "inference", "matching", "keys")


def assess(
    original: Source,
    released: Source,
    roles: Roles,
    options: AssessOptions,
    *,
    seed: int | None,
    progress: ProgressHook,
) -> ReleaseAssessment:
    """Read a release of any origin, match its rows, measure its risks and losses, and attack it.

    Both tables are loaded into memory. Cells that cannot be read count as released exactly.

    Raises
    ------
    RequestError : released rows are not in the original, or no quasi-identifier was released.
    """
    roles.check(original.columns, "quasi")
    _check_released(released, roles)
    draws = streams(seed, *STREAMS)
    stage = ForeignTablesStage(original, released, roles, options, draws[3])
    if options.synthetic:
        return assess_synthetic(stage, draws, progress)
    progress("reading the release", 0)
    stage.codebook  # noqa: B018 - report damaged cells first
    progress("matching rows", 0)
    rows = ForeignRows.of(stage)
    figures = _figures(stage, rows)
    compared, lost = _measure_losses(stage, rows, figures["expected_matches"])
    progress("trying keys to the original", 0)
    keys = _keys(stage, draws[4])
    tasks = list(
        attacks_on(stage, draws)
        if stage.codebook.are_disjoint
        else overlapping_attacks(stage, draws)
    )
    evidence = (keys, *run_all(tasks, progress)) if keys.findings else run_all(tasks, progress)
    facts = {
        **_reading(stage),
        "keys": [one.quantity for one in keys.findings if is_key(one)],
        "pseudonyms": _pseudonyms(stage, keys),
        "before": find_source_figures(compared),
        "population": stage.space.population.how,
        "population_known": stage.space.population.known,
        "assumptions": list(stage.space.population.assumptions),
        "subjects": stage.space.counts.subjects,
        "sensitive": stage.sensitive,
        "lost": lost,
    }
    figures |= compared | _losses_in(lost) | _count_values(stage, facts["pseudonyms"])
    return ReleaseAssessment("tables", released.name, figures, evidence, facts)


def _check_released(released: Source, roles: Roles) -> None:
    """Raise an error if a release has none of the assessed columns."""
    quasi = roles.of("quasi")
    if not any(released_as(name, released.columns) for name in quasi):
        raise RequestError(
            "the release has none of the quasi-identifiers of the roles",
            where=released.name,
            instead="give its columns the names that the original has",
        )


def _figures(stage: ForeignTablesStage, released: ForeignRows) -> dict[str, float]:
    """Compute the figures that a release made by voile has."""
    book, counts = stage.codebook, stage.space.counts

    def people_of(groups: pa.Table) -> np.ndarray[Any, Any]:
        codes = stage.released_cells[released.first_rows(groups)]
        return people_in(book.holds, codes, counts.codes, counts.population)

    return figures_of(released.measure(people_of, has_people=stage.person is not None))


def _count_values(stage: ForeignTablesStage, codes: Collection[str]) -> dict[str, float]:
    """Count released cells with values of Safe Harbor's categories. `codes` are pseudonyms."""
    areas = find_small_areas(stage.space.domains, stage.space.counts, stage.space.population)
    cells = TableSource(stage.cells, stage.released_source.name, "memory")
    return figures_of(count_safe_harbor(cells, codes, CENSUS_AREAS if areas is None else areas))


def _measure_losses(
    stage: ForeignTablesStage, released: ForeignRows, matches: float
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the figures compared with the original's, and the losses with each column's detail.

    `matches` are the expected matches of the release.
    """
    shown = ~released.is_suppressed
    placed, labels = _place_rows(stage, released, shown)
    found, compared, detail = (
        figures_of(measure_losses(placed)),
        figures_of(measure_source(placed, matches)),
        figures_of(
            (count_misplaced(placed, labels), *measure_utility(placed, labels, stage.quasi))
        ),
    )
    lost = {**found, "is_measured": True, **describe_columns(detail, stage.quasi)}
    return compared | detail, lost


def _place_rows(
    stage: ForeignTablesStage, released: ForeignRows, shown: NDArray[np.bool_]
) -> tuple[PlacedRows, ReleasedLabels]:
    """Return the original's rows with the released leaf of each, and the leaves' labels."""
    group = np.full(len(stage.positions), NOT_RELEASED, dtype=np.int64)
    boxes, box = np.unique(stage.released_cells, axis=0, return_inverse=True)
    group[stage.rows[shown]] = box.ravel()[shown]
    labels = ReleasedLabels(boxes, _find_covered(stage))
    sizes = [len(column.domain) for column in stage.codebook.columns]
    population = partial(count_population, stage.space.counts)
    placed = PlacedRows.of_rows(
        stage.positions, group, labels.widths, sizes, released.everyone, people_of=population
    )
    return placed, labels


def _find_covered(stage: ForeignTablesStage) -> list[NDArray[np.bool_]]:
    """Return the values that each label covers. An unread cell covers the values of its rows."""
    covered = [held.copy() for held in stage.codebook.holds]
    for d, column in enumerate(stage.codebook.columns):
        unread = column.how[stage.released_cells[:, d]] == UNREAD
        values = stage.positions[stage.rows[unread], d]
        covered[d][stage.released_cells[unread, d], values] = True
    return covered


def _losses_in(lost: dict[str, Any]) -> dict[str, float]:
    named = {name: float(lost[name]) for name in ("distribution", "resolution", "ncp")}
    return named | {"loss": float(lost["information_loss"])}


def _keys(stage: ForeignTablesStage, rng: np.random.Generator) -> Evidence:
    named = [name for name in stage.roles.of(*NAMES) if name in stage.originals.column_names]
    if stage.subject and stage.subject not in named:
        named.append(stage.subject)
    return try_keys(
        stage.sides,
        stage.cells.drop_columns(stage.generalised_columns),
        stage.originals.select(named),
        rng,
    )


def _pseudonyms(stage: ForeignTablesStage, keys: Evidence) -> dict[str, str]:
    """Return the form of each column of codes in which no key was found."""
    found = [one.quantity for one in keys.findings if is_key(one)]
    forms = {
        name: form_of_codes(texts_of(stage.cells.column(name)))
        for name in stage.unknown_columns
        if not any(said.startswith(f"paired by {name} as ") for said in found)
    }
    return {name: form for name, form in forms.items() if form is not None}


def _reading(stage: ForeignTablesStage) -> dict[str, Any]:
    """Describe how cells were read and rows matched, in numbers of rows."""
    book: ForeignCodebook = stage.codebook
    return {
        "rows": stage.cells.num_rows,
        "original_rows": stage.originals.num_rows,
        "read": read_cells(stage),
        "not_released": [name for name, own in stage.released_as.items() if not own],
        "beyond": stage.unknown_columns,
        "changed": stage.changed_columns,
        "strangers": name_rows(stage.strangers) if len(stage.strangers) else "",
        "matched_by": stage.key,
        "boxes": len(book.boxes),
        "disjoint": book.are_disjoint,
    }
