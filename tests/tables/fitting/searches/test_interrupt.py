"""Ctrl-C, pressed on a real process at several moments, leaves what was found till then."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

SEARCH = """
import json, sys
from dataclasses import dataclass
import numpy as np
from voile.tables.people.counts import CombinationCounts
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import search

@dataclass(frozen=True)
class Space:
    evaluator: PolicyEvaluator

rng = np.random.default_rng(0)
codes = np.stack(np.unravel_index(np.arange(80 * 2 * 5 * 90), (80, 2, 5, 90)), axis=1)
sample = rng.poisson(0.2, len(codes)) * 1.0
people = sample + rng.poisson(3, len(codes))
values = np.zeros((len(codes), 0))
counts = CombinationCounts((80, 2, 5, 90), codes.astype(np.int32), sample, people, values)
space = Space(PolicyEvaluator(counts))

def progress(at):
    print(at.evaluations, flush=True)

found = search(space, progress=progress, seconds=60)
scores = space.evaluator.scores(found.frontier.policies[:: max(len(found.frontier) // 9, 1)])
print()  # Ctrl-C may have cut a line of progress
print(json.dumps({
    "stopped": found.stopped,
    "evaluations": found.evaluations,
    "risk": found.frontier.risk[:: max(len(found.frontier) // 9, 1)].tolist(),
    "own": scores.risk.tolist(),
}))
"""


@pytest.mark.whole
@pytest.mark.parametrize(("batches", "delay"), [(2, 0.0), (3, 0.3), (40, 0.05), (200, 0.01)])
def test_what_there_is_comes_back(batches, delay):
    process = subprocess.Popen(
        [sys.executable, "-c", SEARCH], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    seen = [int(process.stdout.readline()) for _ in range(batches)]
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err[-2000:]
    found = json.loads(out.splitlines()[-1])
    assert found["stopped"] == "interrupted"
    assert found["evaluations"] >= seen[-1]
    np.testing.assert_allclose(found["risk"], found["own"], atol=1e-9)
