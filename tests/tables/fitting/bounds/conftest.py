"""Small lattices, and every policy of one scored by the definitions alone, in NumPy."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.people.counts import CombinationCounts, Constraints


@dataclass(frozen=True)
class Space:
    """The least that a bound needs."""

    evaluator: PolicyEvaluator


@dataclass(frozen=True)
class Truth:
    """What every policy that the constraints allow scores."""

    risk: np.ndarray
    loss: np.ndarray

    def least(self, weight):
        return (self.loss + weight * self.risk).min()

    def least_loss(self, risk):
        within = self.loss[self.risk <= risk]
        return within.min() if len(within) else 1.0

    def area(self):
        order = np.argsort(self.risk)
        risk, least = self.risk[order], np.minimum.accumulate(self.loss[order])
        return float(np.diff([0.0, *risk, 1.0]) @ [1.0, *least])


def partitions(size):
    """Yield all partitions of `size` values: where intervals begin, and the bits."""
    for bits in itertools.product([False, True], repeat=size - 1):
        yield np.flatnonzero([True, *bits]), bits


def every(tables, sizes, axis=0, width=1.0, bits=()):
    """Yield each policy's sums of the tables (attributes..., k), cell widths and bits."""
    if axis == len(sizes):
        yield tables, width, bits
        return
    for begins, chosen in partitions(sizes[axis]):
        shape = [1] * len(sizes)
        shape[axis] = len(begins)
        widths = np.diff([*begins, sizes[axis]]).astype(float).reshape(shape)
        summed = np.add.reduceat(tables, begins, axis=axis)
        yield from every(summed, sizes, axis + 1, width * widths, (*bits, *chosen))


def tables_of(counts):
    """Return subjects, people, n log n and the presence of sensitive values, by combination."""
    n = counts.sample
    columns = [n, counts.population, n * np.log(np.where(n > 0, n, 1)), *(counts.sensitive.T > 0)]
    tables = np.zeros((*counts.sizes, len(columns)))
    tables[tuple(counts.codes.T)] = np.stack(columns, axis=-1)
    return tables


@pytest.fixture(scope="session")
def truth_of():
    """Score all policies of a lattice, sharing no code with what is tested."""

    def find(counts, constraints):
        bits, sums = [], []
        for summed, width, chosen in every(tables_of(counts), counts.sizes):
            n, people, own = (summed[..., k] for k in range(3))
            g = np.maximum(np.maximum(n, people), 1)
            kept = n > 0
            if constraints.k > 1:
                kept = kept & (n > constraints.k - 1e-6)
            if constraints.max_risk < 1:
                kept = kept & (g * constraints.max_risk > 1 - 1e-6)
            if constraints.l_diversity > 1:
                kept = kept & ((summed[..., 3:] > 0).sum(axis=-1) >= constraints.l_diversity)
            nats = own + n * np.log(width / np.where(n > 0, n, 1))
            bits.append(chosen)
            sums.append(((n / g)[kept].sum(), nats[kept].sum(), n[~kept].sum(), (n / g).sum()))
            if not any(chosen):
                most = nats.sum()
        bits, (risk, nats, lost, matches) = np.array(bits), np.array(sums).T
        lost = lost / counts.sample.sum()
        allowed = lost <= constraints.suppress + 1e-6
        if constraints.required is not None:
            allowed &= bits[:, constraints.required].all(axis=1)
        if constraints.forbidden is not None:
            allowed &= ~bits[:, constraints.forbidden].any(axis=1)
        loss = nats / most + lost if most > 1e-9 else np.zeros(len(bits))
        return Truth(risk[allowed] / matches[-1], np.minimum(loss[allowed], 1.0))

    return find


@pytest.fixture(scope="session")
def some_counts():
    """Make counts from a seed: of these sizes, or of up to `bits` cuts."""

    def make(seed, *, sizes=None, bits=9):
        rng = np.random.default_rng(seed)
        if sizes is None:
            cuts = rng.integers(1, max(2, bits // 2 + 2), rng.integers(1, 6))
            cuts = cuts[: max(1, int((cuts.cumsum() <= bits).sum()))]
            sizes = tuple(int(size) + 1 for size in np.minimum(cuts, bits))
        cells = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes), axis=1)
        some = np.sort(rng.permutation(len(cells))[: rng.integers(2, len(cells) + 1)])
        halves = rng.choice([1.0, 0.5], len(some)) if seed % 3 == 0 else 1.0
        sample = rng.integers(0, 6, len(some)) * rng.integers(0, 2, len(some)) * halves
        sample[0] += 1
        people = (sample + rng.integers(0, 9, len(some))) * rng.integers(0, 3, len(some))
        sensitive = sample[:, None] * (rng.random((len(some), 3)) < 0.5)
        return CombinationCounts(sizes, cells[some].astype(np.int32), sample, people, sensitive)

    return make


@pytest.fixture(scope="session")
def some_constraints():
    """Make constraints from a seed: mostly cuts, sometimes rules, sometimes none."""

    def make(seed, n_bits):
        rng = np.random.default_rng(seed)
        kind = rng.integers(0, 3, n_bits) if rng.random() < 0.5 else np.full(n_bits, 2)
        kind[rng.random(n_bits) < 0.5] = 2
        rules = {}
        if rng.random() < 0.4:
            rules = {
                "k": int(rng.integers(1, 4)),
                "max_risk": float(rng.choice([1.0, 0.4])),
                "l_diversity": int(rng.integers(1, 3)),
                "suppress": float(rng.choice([0.0, 0.1, 0.5])),
            }
        return Constraints(required=kind == 0, forbidden=kind == 1, **rules)

    return make


@pytest.fixture(scope="session")
def space_of():
    """Make what a bound needs of counts and constraints."""
    return lambda counts, constraints=None: Space(PolicyEvaluator(counts, constraints))
