"""Distribution, resolution and NCP of any grouping, against twins from the definitions."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.people.counts import CombinationCounts
from voile.tables.scoring.losses import CombinationGrouping, losses


def entropy(held):
    total = sum(held)
    return -sum(n / total * math.log(n / total) for n in held if n > 0)


def twin(counts, grouping, importance):
    """Compute the three figures group by group, from the definitions."""
    d, total = len(counts.sizes), sum(counts.sample)
    members = defaultdict(list)
    for code, n, group in zip(counts.codes.tolist(), counts.sample, grouping.group, strict=True):
        if n > 0:
            members[group].append((code, n))
    marginal = [defaultdict(float) for _ in range(d)]
    for rows in members.values():
        for code, n in rows:
            for j, value in enumerate(code):
                marginal[j][value] += n
    counted = [w if len(held) > 1 else 0.0 for w, held in zip(importance, marginal, strict=True)]
    combinations = math.prod(counts.sizes)
    divergence, most, hidden, wide, dropped = 0.0, 0.0, 0.0, 0.0, 0.0
    for group, rows in members.items():
        n = sum(m for _, m in rows)
        widths = [v[b].sum() for v, b in zip(grouping.values, grouping.box[group], strict=True)]
        most += sum(m / total * math.log(m / total * combinations) for _, m in rows)
        if not grouping.kept[group]:
            dropped += n / total
            continue
        divergence += sum(m / total * math.log(m * math.prod(widths) / n) for _, m in rows)
        wide += sum(
            n / total * (w - 1) / (s - 1) for w, s in zip(widths, counts.sizes, strict=True)
        )
        for j in range(d):
            held = defaultdict(float)
            for code, m in rows:
                held[code[j]] += m
            if counted[j]:
                whole = entropy(marginal[j].values())
                hidden += counted[j] / sum(counted) * n / total * entropy(held.values()) / whole
    return {
        "distribution": min(1.0, divergence / most + dropped) if most > 1e-12 else dropped,
        "resolution": min(1.0, hidden + dropped) if any(counted) else 0.0,
        "ncp": min(1.0, wide / d + dropped),
    }


def has(box, code):
    return all(own[value] for own, value in zip(box, code, strict=True))


@st.composite
def groupings(draw):
    """Draw a table, and groups that are products of any sets of values: a tree's, or a policy's."""
    sizes = tuple(draw(st.lists(st.integers(2, 5), min_size=1, max_size=3)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = np.array(list(product(*map(range, sizes))))
    codes = codes[np.sort(rng.permutation(len(codes))[: rng.integers(1, len(codes) + 1)])]
    sample = rng.integers(0, 5, len(codes)) * rng.choice([1.0, 0.5], len(codes))
    sample[0] += 1
    nothing = np.zeros((len(codes), 0))
    counts = CombinationCounts(sizes, codes.astype(np.int32), sample, sample, nothing)
    boxes = [tuple(np.ones(size, dtype=bool) for size in sizes)]
    for _ in range(draw(st.integers(0, 6))):
        at, column = rng.integers(len(boxes)), rng.integers(len(sizes))
        part = boxes[at][column] & (rng.random(sizes[column]) < 0.5)
        rest = boxes[at][column] & ~part
        if part.any() and rest.any():
            one, other = list(boxes[at]), list(boxes[at])
            one[column], other[column] = part, rest
            boxes[at : at + 1] = [tuple(one), tuple(other)]
    group = np.array([next(i for i, box in enumerate(boxes) if has(box, code)) for code in codes])
    box = np.tile(np.arange(len(boxes))[:, None], len(sizes))
    values = tuple(np.array([b[j] for b in boxes]) for j in range(len(sizes)))
    kept = rng.random(len(boxes)) < draw(st.sampled_from([1.0, 0.6, 0.0]))
    importance = draw(st.lists(st.integers(0, 3), min_size=len(sizes), max_size=len(sizes)))
    return (
        counts,
        CombinationGrouping(group, box, values, kept),
        importance if any(importance) else None,
    )


@given(groupings())
@settings(max_examples=300, deadline=None)
def test_equal_the_twin(case):
    counts, grouping, importance = case
    found = losses(counts, grouping, importance=importance)
    expected = twin(counts, grouping, importance or [1.0] * len(counts.sizes))
    assert found == pytest.approx(expected, abs=1e-9)


@given(groupings())
@settings(max_examples=100, deadline=None)
def test_all_suppressed_is_wholly_lost(case):
    counts, grouping, _ = case
    nothing = CombinationGrouping(
        grouping.group, grouping.box, grouping.values, grouping.kept & False
    )
    found = losses(counts, nothing)
    one_value = all(len(np.unique(c)) == 1 for c in counts.codes[counts.sample > 0].T)
    assert found["distribution"] == found["ncp"] == 1.0
    assert found["resolution"] == pytest.approx(0.0 if one_value else 1.0)


def even():
    """A table in which all values are equally frequent: eq. 4 charges nothing for merging them."""
    codes = np.array(list(product(range(4), range(3))), dtype=np.int32)
    return CombinationCounts((4, 3), codes, np.full(12, 5.0), np.full(12, 5.0), np.zeros((12, 0)))


def test_an_even_table_merged_into_one_group_loses_its_resolution_and_no_distribution():
    whole = CombinationGrouping(
        np.zeros(12, int),
        np.zeros((1, 2), int),
        (np.ones((1, 4), bool), np.ones((1, 3), bool)),
        np.ones(1, bool),
    )
    found = losses(even(), whole)
    assert found == pytest.approx({"distribution": 0.0, "resolution": 1.0, "ncp": 1.0})


@pytest.mark.parametrize("importance", [[1.0], [1.0, -1.0], [float("nan"), 1.0], [0.0, 0.0]])
def test_importance_that_means_nothing_is_refused(importance):
    values = (np.eye(4, dtype=bool), np.eye(3, dtype=bool))
    every = CombinationGrouping(np.arange(12), even().codes, values, np.ones(12, bool))
    with pytest.raises(RequestError, match="importance"):
        losses(even(), every, importance=importance)
