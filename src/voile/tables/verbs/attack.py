"""The wing's fourth verb: attack a release with what an adversary is said to hold and know."""

from __future__ import annotations

from collections.abc import Callable
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
from voile.tables.verbs.scene import Scene

BY_REGISTER = Note(
    "No population was given: whether a person is alone is judged by the adversary's register, "
    "with its errors."
)
THRESHOLDS = (0.0, 0.5, 0.9)


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
    linking, singling, inferring, reading = streams(
        seed, "linkage", "singling out", "inference", "policy"
    )
    tasks: list[tuple[str, Callable[[], Evidence | None]]] = []
    if options.register_ is not None:
        tasks.append(("linking records to the register", partial(_linkage, scene, linking)))
    if options.register_ is not None or options.population is not None:
        tasks.append(("singling people out", partial(_singling_out, scene, singling)))
    for column in scene.sensitive:
        tasks.append((f"inferring {column}", partial(_inference, scene, column, inferring)))
    tasks += [(task, partial(run, reading)) for task, run in PolicyAttacks(scene).tasks]
    step, found = Steps(progress, len(tasks)), []
    for task, run in tasks:
        step(task)
        found.append(run())
    evidence = tuple(one for one in found if one is not None)
    if not evidence:
        raise RequestError(
            "there is nothing to attack with",
            instead="give the adversary a register or a population",
        )
    return evidence


def _linkage(scene: Scene, rng: np.random.Generator) -> Evidence:
    return linkage(
        scene.known,
        scene.register,
        columns=scene.columns,
        rng=rng,
        overlap=scene.options.overlap,
        thresholds=sorted({*THRESHOLDS, scene.options.threshold}),
    )


def _singling_out(scene: Scene, rng: np.random.Generator) -> Evidence:
    by_register = scene.options.population is None
    found = singling_out(
        scene.released,
        scene.register_quasi if by_register else scene.population,
        columns=scene.quasi,
        rng=rng,
        kept=scene.kept_codes,
        held_out=scene.held_out,
    )
    return replace(found, notes=(*found.notes, BY_REGISTER)) if by_register else found


def _inference(scene: Scene, column: str, rng: np.random.Generator) -> Evidence:
    return inference(
        scene.cases(column),
        columns=scene.quasi,
        sensitive=column,
        rng=rng,
        held_out=scene.cases_held_out(column),
    )
