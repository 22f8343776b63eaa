"""Small random tables to search and to measure, and measures of a user's own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.people.counts import CombinationCounts, Constraints, SensitiveColumn
from voile.tables.scoring.group_measures import (
    GroupMeasure,
    information,
    matches,
    mutual_information,
)

SIZES = (3, 2, 4)


def risk_of(each, name="own_risk"):
    return GroupMeasure(name, "Own", "points", "", generalising="falls", each=each)


def loss_of(each, name="own_loss"):
    return GroupMeasure(name, "Own", "points", "", generalising="rises", each=each)


def parts_of(columns):
    """Return sensitive columns of so many values each, all but the first of numbers."""
    return tuple(SensitiveColumn(values, ordered=i > 0) for i, values in enumerate(columns))


def small_counts(seed, *, sizes=SIZES, spread=False, columns=()):
    """Make counts with fractions, people without subjects and two outcomes from a seed."""
    rng = np.random.default_rng(seed)
    cells = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes), axis=1)
    cells = cells[np.sort(rng.permutation(len(cells))[: rng.integers(2, len(cells) + 1)])]
    if spread:  # the same cells, far apart in a domain too large for a table of all keys
        sizes, cells = tuple(size * 37 for size in sizes), cells * 37
    sample = rng.integers(0, 6, len(cells)) * rng.choice([1.0, 1.0, 0.5], len(cells))
    sample[0] += 1
    people = sample + rng.integers(0, 9, len(cells)) * rng.integers(0, 2, len(cells))
    sensitive = sample[:, None] * (rng.random((len(cells), 4)) < 0.4)
    outcomes = tuple(
        sample[:, None] * rng.dirichlet(np.full(values, 0.3), len(cells)) for values in (2, 3)
    )
    parts = parts_of(columns)
    return CombinationCounts(
        sizes, cells.astype(np.int32), sample, people, sensitive, outcomes, parts
    )


def pairs(counts):
    """Return pairs of measures by name: ours, a user's, and one that sees outcomes and width."""
    return {
        "eq. 2-4": (matches(), information()),
        "weighed": (matches(power=1.5, under=8), information()),
        "mutual": (matches(), mutual_information(counts.outcomes)),
        "own": (
            risk_of(lambda groups: groups.subjects / np.sqrt(groups.group)),
            loss_of(lambda groups: groups.subjects * groups.width),
        ),
        "outcomes": (
            risk_of(lambda groups: groups.subjects * (groups.group < 6)),
            loss_of(
                lambda groups: -groups.outcomes[0].max(axis=1) - groups.outcomes[1].max(axis=1)
            ),
        ),
    }


@pytest.fixture(scope="session")
def own():
    """What makes small tables and measures."""
    return SimpleNamespace(counts=small_counts, pairs=pairs, risk=risk_of, loss=loss_of)


@dataclass(frozen=True)
class Space:
    """The least that a search needs."""

    evaluator: PolicyEvaluator


@pytest.fixture(scope="session")
def small_space():
    """Make a space from a seed: all the same but for the constraints given."""

    def make(seed, *, sizes=(3, 2, 4), spread=False, columns=(), **constraints):
        rng = np.random.default_rng(seed)
        cells = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes), axis=1)
        cells = cells[np.sort(rng.permutation(len(cells))[: rng.integers(2, len(cells) + 1)])]
        if spread:  # the same cells, far apart in a domain too large for a table of all keys
            sizes, cells = tuple(size * 997 for size in sizes), cells * 997
        sample = rng.integers(0, 6, len(cells)) * rng.choice([1.0, 1.0, 0.5], len(cells))
        sample[0] += 1
        people = sample + rng.integers(0, 9, len(cells)) * rng.integers(0, 2, len(cells))
        sensitive = sample[:, None] * (rng.random((len(cells), 4)) < 0.4)
        parts = parts_of(columns)
        codes = cells.astype(np.int32)
        counts = CombinationCounts(sizes, codes, sample, people, sensitive, columns=parts)
        return Space(PolicyEvaluator(counts, Constraints(**constraints)))

    return make
