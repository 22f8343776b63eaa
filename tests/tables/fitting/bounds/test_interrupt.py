"""Ctrl-C, pressed on a real process at several moments, leaves what was proved till then."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

PROOF = """
import json
from dataclasses import dataclass
import numpy as np
from voile.tables import bound, search
from voile.tables.people.counts import CombinationCounts
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator

@dataclass(frozen=True)
class Space:
    evaluator: PolicyEvaluator

rng = np.random.default_rng(0)
codes = np.stack(np.unravel_index(np.arange(30 * 2 * 3 * 40), (30, 2, 3, 40)), axis=1)
sample = rng.poisson(0.2, len(codes)) * 1.0
people = sample + rng.poisson(3, len(codes))
values = np.zeros((len(codes), 0))
counts = CombinationCounts((30, 2, 3, 40), codes.astype(np.int32), sample, people, values)
space = Space(PolicyEvaluator(counts))
frontier = search(space, method="steepest").frontier
print("begins", flush=True)
found = bound(space, frontier, progress=lambda at: print(at.bounded, flush=True))
print(json.dumps({
    "stopped": found.stopped,
    "proved": int((found.bound > 0).sum()),
    "policies": len(found.frontier) / len(frontier),
}))
"""


@pytest.mark.whole
@pytest.mark.parametrize(("steps", "delay"), [(0, 0.5), (3, 0.2)])
def test_what_is_proved_comes_back(steps, delay):
    process = subprocess.Popen(
        [sys.executable, "-c", PROOF], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = [process.stdout.readline().strip() for _ in range(steps + 1)]
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err[-2000:]
    found = json.loads(out.splitlines()[-1])
    assert found["stopped"] == "interrupted"
    assert found["proved"] >= (int(said[-1]) if steps else 0)
    assert found["policies"] >= 1
