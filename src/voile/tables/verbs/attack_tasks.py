"""List the attacks on a table that apply to a release of any origin: link, single out, infer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from voile.core.evidence import Evidence, Note
from voile.core.progress import ProgressHook, ProgressSteps
from voile.tables.attack.inference import inference
from voile.tables.attack.linkage import linkage
from voile.tables.attack.singling_out import singling_out
from voile.tables.verbs.scene import TablesStage

BY_REGISTER = Note(
    "No population was given: whether a person is alone is judged by the adversary's register, "
    "with its errors."
)
THRESHOLDS = (0.0, 0.5, 0.9)
Task = tuple[str, Callable[[], Evidence | None]]
Ways = tuple[Callable[..., Evidence], Callable[..., Evidence], Callable[..., Evidence]]
"""Functions that link, single out and infer, for releases that need other attacks."""


def attacks_on(
    stage: TablesStage, draws: Sequence[np.random.Generator], ways: Ways | None = None
) -> Iterator[Task]:
    """Yield the attacks that the adversary's data allows, for a release of any origin."""
    linking, singling, inferring = draws[:3]
    link, single_out, infer = ways or (_linkage, _singling_out, infer_values)
    if stage.options.register_ is not None:
        yield "linking records to the register", partial(link, stage, linking)
    if stage.options.register_ is not None or stage.options.population is not None:
        yield "singling people out", partial(single_out, stage, singling)
    for column in stage.sensitive:
        yield f"inferring {column}", partial(infer, stage, column, inferring)


def run_all(tasks: Sequence[Task], progress: ProgressHook) -> tuple[Evidence, ...]:
    """Run attacks one after another. Attacks without a target are left out of the result."""
    step, found = ProgressSteps(progress, len(tasks)), []
    for task, run in tasks:
        step(task)
        found.append(run())
    return tuple(one for one in found if one is not None)


def _linkage(scene: TablesStage, rng: np.random.Generator) -> Evidence:
    return linkage(
        scene.known_records,
        scene.register,
        columns=scene.columns,
        rng=rng,
        overlap=scene.options.overlap,
        thresholds=sorted({*THRESHOLDS, scene.options.threshold}),
    )


def _singling_out(scene: TablesStage, rng: np.random.Generator) -> Evidence:
    by_register = scene.options.population is None
    found = singling_out(
        scene.released_records,
        scene.register_quasi if by_register else scene.population,
        columns=scene.quasi,
        rng=rng,
        kept=scene.kept_codes,
        held_out=scene.held_out,
        joined=scene.is_joined,
    )
    return replace(found, notes=(*found.notes, BY_REGISTER)) if by_register else found


def infer_values(scene: TablesStage, column: str, rng: np.random.Generator) -> Evidence:
    """Guess a sensitive column from the released labels."""
    return inference(
        scene.cases(column),
        columns=scene.quasi,
        sensitive=column,
        rng=rng,
        held_out=scene.cases_held_out(column),
    )
