"""The warm-up compiles every kernel in every form that searches and proofs call."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from voile.tables.fitting import forests
from voile.tables.fitting.trees.kernels.prune import last_cut

WARM = "from voile.tables.fitting.compile import main; main()"
WORK = """
from dataclasses import dataclass
import numpy as np
from voile.tables import Constraints, bound, search
from voile.tables.people.counts import CombinationCounts
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import METHODS

@dataclass(frozen=True)
class Space:
    evaluator: PolicyEvaluator

rng = np.random.default_rng(0)
codes = np.stack(np.unravel_index(np.arange(1800), (12, 2, 5, 15)), axis=1).astype(np.int32)
sample = rng.poisson(0.5, 1800) * 1.0
people = sample + rng.poisson(3, 1800)
values = sample[:, None] * (rng.random((1800, 3)) < 0.5)
for constraints in (Constraints(), Constraints(k=3, l_diversity=2, suppress=0.3)):
    counts = CombinationCounts((12, 2, 5, 15), codes, sample, people, values)
    space = Space(PolicyEvaluator(counts, constraints))
    for method in METHODS:
        if method != "exhaustive":
            found = search(space, method=method, evaluations=2_000, random_state=0)
    space.evaluator.figures(found.frontier.policies)
    bound(space, found.frontier, seconds=1)
"""
CALLED = """
import gc, json
from numba.core.registry import CPUDispatcher

found = [one for one in gc.get_objects() if isinstance(one, CPUDispatcher)]
kernels = [one for one in found if one.py_func.__module__.startswith("voile.")]
print(json.dumps({
    "forms": [f"{one.py_func.__qualname__} {form}" for one in kernels for form in one.signatures],
    "compiled": [one.py_func.__qualname__ for one in kernels if one.stats.cache_misses],
}))
"""
"""Each form in which Python called a kernel, or in which it was compiled; what was not on disk."""


@pytest.mark.slow
def test_nothing_is_left_to_compile():
    def called(code):
        command = [sys.executable, "-c", code + CALLED]
        done = subprocess.run(command, check=True, timeout=600, capture_output=True, text=True)
        return json.loads(done.stdout)

    warm, work = called(WARM), called(WORK)
    assert len(work["forms"]) > 10
    assert set(work["forms"]) <= set(warm["forms"])
    assert not work["compiled"]  # what the warm-up compiles is kept on disk


def heard(kernel):
    tasks = []
    forests.announce_compiling(lambda task, done, total=None: tasks.append(task), kernel, "growing")
    return tasks


def test_says_that_it_compiles_until_the_code_is_kept(monkeypatch, tmp_path):
    last_cut(np.zeros(1, np.int32), np.zeros(1), np.zeros(1, np.intp))
    assert heard(last_cut) == ["growing"]
    monkeypatch.setattr(last_cut, "__qualname__", "never_run")
    assert heard(last_cut) == ["compiling once, about 30 s, and growing"]
