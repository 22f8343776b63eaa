"""The wing's fourth verb: attack a release with what an adversary is said to hold and know."""

from __future__ import annotations

from dataclasses import replace

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
    scene.check()
    found = []
    names = ("linkage", "singling out", "inference", "policy")
    linking, singling, inferring, reading = streams(seed, *names)
    has_register = options.register_ is not None
    has_people = has_register or options.population is not None
    on_policy = PolicyAttacks(scene).tasks
    steps = has_register + has_people + len(scene.sensitive) + len(on_policy)
    step = Steps(progress, steps)
    if has_register:
        step("linking records to the register")
        found.append(
            linkage(
                scene.known,
                scene.register,
                columns=scene.columns,
                rng=linking,
                overlap=options.overlap,
                thresholds=sorted({*THRESHOLDS, options.threshold}),
            )
        )
    if has_people:
        step("singling people out")
        people = scene.register_quasi if options.population is None else scene.population
        singled = singling_out(
            scene.released,
            people,
            columns=scene.quasi,
            rng=singling,
            kept=scene.kept_codes,
            held_out=scene.held_out,
        )
        if options.population is None:
            singled = replace(singled, notes=(*singled.notes, BY_REGISTER))
        found.append(singled)
    for column in scene.sensitive:
        step(f"inferring {column}")
        found.append(
            inference(
                scene.cases(column),
                columns=scene.quasi,
                sensitive=column,
                rng=inferring,
                held_out=scene.cases_held_out(column),
            )
        )
    for task, run in on_policy:
        step(task)
        evidence = run(reading)
        found += [] if evidence is None else [evidence]
    return tuple(found)
