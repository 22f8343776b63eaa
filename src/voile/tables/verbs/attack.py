"""The wing's fourth verb: attack a release with what an adversary is said to hold and know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from voile.core.errors import RequestError
from voile.core.evidence import Evidence, Note
from voile.core.progress import Progress, Steps
from voile.data import Source
from voile.keys.random import streams
from voile.release.manifest import Release
from voile.tables.attack import inference, linkage, singling_out
from voile.tables.verbs.attack_policy import PolicyAttacks
from voile.tables.verbs.options import AttackOptions
from voile.tables.verbs.scene import Scene, Stage

BY_REGISTER = Note(
    "No population was given: whether a person is alone is judged by the adversary's register, "
    "with its errors."
)
THRESHOLDS = (0.0, 0.5, 0.9)
Task = tuple[str, Callable[[], Evidence | None]]
Ways = tuple[Callable[..., Evidence], Callable[..., Evidence], Callable[..., Evidence]]
"""How to link, to single out and to infer, where a release is attacked in another way."""


def attack(
    release: Release,
    truth: Source,
    options: AttackOptions,
    *,
    seed: int | None,
    progress: Progress,
) -> tuple[Evidence, ...]:
    """Act as several adversaries, one for each question, and score each by true identity."""
    release.check_hash()
    scene = Scene(release, truth, options)
    release.check_truth(scene.true_rows.num_rows, truth.name)
    draws = streams(seed, "linkage", "singling out", "inference", "policy", "regrowing")
    if scene.is_per_person:
        from voile.tables.verbs.attack_overlap import attacks_by_fit

        tasks = [*attacks_by_fit(scene, draws)]
    else:
        tasks = [*attacks_on(scene, draws)]
    tasks += [(task, partial(run, draws[3])) for task, run in PolicyAttacks(scene).tasks]
    if options.regrow and scene.is_per_person:
        raise RequestError(
            "policies are regrown of a promise per row alone",
            instead="leave --regrow out, or fit with --promise row",
        )
    if options.regrow:
        from voile.tables.verbs.attack_regrow import regrowing_tasks  # reaches the fitting code

        tasks += regrowing_tasks(scene, draws[4])
    evidence = run_all(tasks, progress)
    if not evidence:
        raise RequestError(
            "there is nothing to attack with",
            instead="give the adversary a register or a population",
        )
    return evidence


def attacks_on(
    stage: Stage, draws: Sequence[np.random.Generator], ways: Ways | None = None
) -> Iterator[Task]:
    """Yield the attacks on a table that the adversary's means allow, whoever made the release."""
    linking, singling, inferring = draws[:3]
    link, single_out, infer = ways or (_linkage, _singling_out, infer_values)
    if stage.options.register_ is not None:
        yield "linking records to the register", partial(link, stage, linking)
    if stage.options.register_ is not None or stage.options.population is not None:
        yield "singling people out", partial(single_out, stage, singling)
    for column in stage.sensitive:
        yield f"inferring {column}", partial(infer, stage, column, inferring)


def run_all(tasks: Sequence[Task], progress: Progress) -> tuple[Evidence, ...]:
    """Run attacks one after the other; those that had nothing to attack return None."""
    step, found = Steps(progress, len(tasks)), []
    for task, run in tasks:
        step(task)
        found.append(run())
    return tuple(one for one in found if one is not None)


def _linkage(scene: Stage, rng: np.random.Generator) -> Evidence:
    return linkage(
        scene.known,
        scene.register,
        columns=scene.columns,
        rng=rng,
        overlap=scene.options.overlap,
        thresholds=sorted({*THRESHOLDS, scene.options.threshold}),
    )


def _singling_out(scene: Stage, rng: np.random.Generator) -> Evidence:
    by_register = scene.options.population is None
    found = singling_out(
        scene.released,
        scene.register_quasi if by_register else scene.population,
        columns=scene.quasi,
        rng=rng,
        kept=scene.kept_codes,
        held_out=scene.held_out,
        joined=scene.joined,
    )
    return replace(found, notes=(*found.notes, BY_REGISTER)) if by_register else found


def infer_values(scene: Stage, column: str, rng: np.random.Generator) -> Evidence:
    """Guess a sensitive column by the released labels."""
    return inference(
        scene.cases(column),
        columns=scene.quasi,
        sensitive=column,
        rng=rng,
        held_out=scene.cases_held_out(column),
    )
