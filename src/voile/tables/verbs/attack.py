"""Attack a release with an adversary's data and knowledge: the fourth verb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from voile.core.errors import RequestError
from voile.core.evidence import Evidence
from voile.core.progress import ProgressHook
from voile.data import Source
from voile.keys.random import streams
from voile.release.manifest import StoredRelease
from voile.tables.verbs.attack_overlap import attacks_by_fit
from voile.tables.verbs.attack_policy import PolicyAttacks
from voile.tables.verbs.attack_tasks import Task, attacks_on, run_all
from voile.tables.verbs.options import AttackOptions
from voile.tables.verbs.scene import TablesScene

RegrowPolicies: TypeAlias = Callable[[TablesScene, np.random.Generator], Sequence[Task]]


@dataclass(frozen=True)
class TableAttacks:
    """The attacks on a table, each with one question.

    `regrow` lists the attacks of an adversary who runs the program that made the release.
    """

    regrow: RegrowPolicies

    def attack(
        self,
        release: StoredRelease,
        truth: Source,
        options: AttackOptions,
        *,
        seed: int | None,
        progress: ProgressHook,
    ) -> tuple[Evidence, ...]:
        """Run several attacks, one for each question, and score each by true identity.

        Raises
        ------
        RequestError : there is no attack to run.
        """
        release.check_hash()
        scene = TablesScene(release, truth, options)
        release.check_source(truth, scene.true_rows.num_rows)
        draws = streams(seed, "linkage", "singling out", "inference", "policy", "regrowing")
        tasks = list_tasks(scene, draws)
        if options.regrow:
            tasks += self.regrow(scene, draws[4])
        evidence = run_all(tasks, progress)
        if not evidence:
            raise RequestError(
                "there is nothing to attack with",
                instead="give the adversary a register or a population",
            )
        return evidence


def list_tasks(scene: TablesScene, draws: Sequence[np.random.Generator]) -> list[Task]:
    """List the attacks that the adversary's data allows, without regrowing."""
    tasks = [*(attacks_by_fit if scene.is_per_person else attacks_on)(scene, draws)]
    tasks += [(task, partial(run, draws[3])) for task, run in PolicyAttacks(scene).tasks]
    if scene.options.regrow and scene.is_per_person:
        raise RequestError(
            "policies are regrown of a promise per row alone",
            instead="leave --regrow out, or fit with --promise row",
        )
    return tasks
