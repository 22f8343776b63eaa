"""Attack synthetic or perturbed rows, without figures such as k or expected matches.

A synthetic row represents no person, so groups and matches have no meaning. The attacks measure
three leaks, each compared with people who were never in the original:

- membership: a person was in the original,
- singling out: exactly one person fits a description derived from the synthetic rows,
- inference: a person's sensitive value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.core.progress import ProgressHook
from voile.release.assessment import ReleaseAssessment
from voile.report.wording import join_names
from voile.tables.attack.inference import SensitiveRecords, inference
from voile.tables.attack.records import IntervalRecords, first_of_each
from voile.tables.attack.singling_out import singling_out
from voile.tables.foreign.boxes import Codes, flatten_columns
from voile.tables.foreign.columns import HOW, ForeignColumn
from voile.tables.foreign.overlap import count_fitting
from voile.tables.verbs.assess_stage import ForeignTablesStage
from voile.tables.verbs.attack_tasks import Task, run_all
from voile.tables.verbs.scene import number_values

MOST_TARGETS = 2_000
"""The largest number of people on each side to search the nearest row of. More are sampled."""
SINGLED = 2
"""The number of findings of singling out that have a meaning for synthetic rows."""


def assess_synthetic(
    stage: ForeignTablesStage, draws: Sequence[np.random.Generator], progress: ProgressHook
) -> ReleaseAssessment:
    """Attack synthetic rows, with a control of people who were not in the original.

    Raises
    ------
    RequestError : no control is given.
    """
    if stage.options.control is None:
        raise RequestError(
            "synthetic rows are judged against people who were not in the original",
            instead="give --control, a table of such people",
        )
    evidence = run_all(list(_tasks(stage, draws)), progress)
    facts = {
        "rows": stage.cells.num_rows,
        "original_rows": stage.originals.num_rows,
        "synthetic": True,
        "read": read_cells(stage),
        "sensitive": stage.sensitive,
    }
    return ReleaseAssessment("tables", stage.released_source.name, {}, evidence, facts)


def read_cells(stage: ForeignTablesStage) -> list[dict[str, int | str]]:
    """Return, for each column, the number of cells that were read in each way."""
    return [
        {"column": one.column, **dict(zip(HOW, one.rows, strict=True))}
        for one in stage.codebook.columns
    ]


def _tasks(stage: ForeignTablesStage, draws: Sequence[np.random.Generator]) -> Iterator[Task]:
    _, singling, inferring, matching = draws[:4]
    yield "looking for members", partial(_membership, stage, matching)
    yield "singling people out", partial(_singling_out, stage, singling)
    for column in stage.sensitive:
        yield f"inferring {column}", partial(_inference, stage, column, inferring)


def _originals(stage: ForeignTablesStage) -> IntervalRecords:
    return IntervalRecords(stage.positions, stage.who)


def _control(stage: ForeignTablesStage) -> IntervalRecords:
    control = stage.held_out_by_value
    assert control is not None
    return control


def _membership(stage: ForeignTablesStage, rng: np.random.Generator) -> Evidence:
    """Guess which of two people was in the original: one was, and one is a control."""
    sides = [_some_of_each(one, rng) for one in (_originals(stage), _control(stage))]
    members, others = (_nearest(stage, one.codes) for one in sides)
    pairs = min(len(members), len(others))
    near, far = (rng.permutation(one)[:pairs] for one in (members, others))
    right = np.where(near == far, rng.random(pairs) < 0.5, near < far)
    return Evidence(
        attack="membership",
        heading="inference",
        story=Note(
            "The adversary knows the values of two people in {columns}. One of them was in the "
            "original. The adversary chooses the one with the nearer synthetic row. Success is to "
            "be right.",
            {"columns": join_names(stage.quasi)},
        ),
        knows=stage.quasi,
        findings=(
            Finding(
                "members recognised in pairs",
                Rate(int(right.sum()), pairs),
                baseline=Rate(pairs // 2, pairs),
                meaning="Half of the pairs are guessed right without the release.",
            ),
            Finding(
                "people with an equal synthetic row",
                Rate(int((members == 0).sum()), len(members)),
                control=Rate(int((others == 0).sum()), len(others)),
                advantage=True,
            ),
        ),
        notes=(
            Note(
                "How near two rows are is the sum over columns of how far their values are apart: "
                "0 to 1 along a scale, 0 or 1 of names."
            ),
        ),
    )


def _some_of_each(people: IntervalRecords, rng: np.random.Generator) -> IntervalRecords:
    """Draw people at random, with one row of each."""
    rows = first_of_each(np.sort(people.subject))
    rows = np.argsort(people.subject, kind="stable")[rows]
    return people.select(rng.permutation(rows)[:MOST_TARGETS])


def _nearest(stage: ForeignTablesStage, values: Codes) -> NDArray[np.float64]:
    """Return the distance of each person's values to the nearest synthetic row."""
    from voile.tables.foreign.kernels import nearest_box  # imports numba

    book = stage.codebook
    far = flatten_columns([_distances(column) for column in book.columns])
    return nearest_box(*far, book.boxes, values.astype(np.int32))


def _distances(column: ForeignColumn) -> NDArray[np.float32]:
    """Return the distance of each value to each cell, (cells, values and one outside) in [0, 1]."""
    far = (~column.holds).astype(np.float32)
    if column.domain.is_scale:
        places = np.arange(far.shape[1])
        for number, own in enumerate(column.holds):
            if own.any():
                inside = np.flatnonzero(own)
                after = np.searchsorted(inside, places)
                right = inside[np.minimum(after, len(inside) - 1)]
                left = inside[np.maximum(after - 1, 0)]
                gap = np.minimum(np.abs(places - left), np.abs(places - right))
                far[number] = gap / max(len(places) - 1, 1)
    return np.hstack([far, np.ones((len(far), 1), dtype=np.float32)])


def _singling_out(stage: ForeignTablesStage, rng: np.random.Generator) -> Evidence:
    rows = np.arange(stage.cells.num_rows, dtype=np.int64)
    originals = _originals(stage)
    found = singling_out(
        IntervalRecords(stage.released_cells, rows),
        originals,
        columns=stage.quasi,
        rng=rng,
        held_out=_control(stage),
        people=originals,
        count=count_fitting(stage.codebook.holds),
    )
    return replace(found, findings=found.findings[:SINGLED])


def _inference(stage: ForeignTablesStage, column: str, rng: np.random.Generator) -> Evidence:
    """Guess a sensitive value from the nearest synthetic rows."""
    numbers = stage.values_of(column)
    book = stage.codebook
    first = [
        np.where(c.holds.any(axis=1), c.holds.argmax(axis=1), len(c.domain)) for c in book.columns
    ]
    cells = zip(first, stage.released_cells.T, strict=True)
    places = np.column_stack([of[own] for of, own in cells]).astype(np.int32)
    rows = np.arange(len(places), dtype=np.int64)
    synthetic = SensitiveRecords(
        IntervalRecords(places, rows), number_values(stage.cells.column(column), numbers)
    )
    theirs = number_values(stage.originals.column(column), numbers)
    return inference(
        synthetic,
        columns=stage.quasi,
        sensitive=column,
        rng=rng,
        held_out=SensitiveRecords(
            _control(stage), number_values(stage.held_out_rows.column(column), numbers)
        ),
        targets=SensitiveRecords(_originals(stage), theirs),
    )
