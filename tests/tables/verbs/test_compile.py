"""The warm-up compiles every kernel in every form that searches and proofs call."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

WORK = """
from dataclasses import dataclass
import numpy as np
from voile.tables import Constraints, bound, search
from voile.tables.people.counts import Counts
from voile.tables.scoring.evaluator import Evaluator
from voile.tables.verbs.search import METHODS

@dataclass(frozen=True)
class Space:
    evaluator: Evaluator

rng = np.random.default_rng(0)
codes = np.stack(np.unravel_index(np.arange(1800), (12, 2, 5, 15)), axis=1).astype(np.int32)
sample = rng.poisson(0.5, 1800) * 1.0
people = sample + rng.poisson(3, 1800)
values = sample[:, None] * (rng.random((1800, 3)) < 0.5)
for constraints in (Constraints(), Constraints(k=3, l_diversity=2, suppress=0.3)):
    space = Space(Evaluator(Counts((12, 2, 5, 15), codes, sample, people, values), constraints))
    for method in METHODS:
        if method != "exhaustive":
            found = search(space, method=method, evaluations=20_000, random_state=0)
    space.evaluator.figures(found.frontier.policies)
    bound(space, found.frontier, seconds=3)
"""


@pytest.mark.slow
def test_nothing_is_left_to_compile(tmp_path):
    def compiled(*arguments):
        kept_here = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        subprocess.run([sys.executable, *arguments], env=kept_here, check=True, timeout=600)
        return {path.name for path in tmp_path.rglob("*.nbc")}

    warm = compiled("-m", "voile.tables.verbs.compile")
    assert len(warm) > 50
    assert compiled("-c", WORK) == warm
