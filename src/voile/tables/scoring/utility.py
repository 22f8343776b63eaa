"""What analysts still have of a release: groups of each column, and how far counts are off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.tables.people.counts import Counts
from voile.tables.scoring.losses import Grouping, hidden_by_column

Floats = NDArray[np.float64]
Bits = NDArray[np.bool_]

QUERIES = 1_000
MOST_COLUMNS = 3
LEAST_SHARE, MOST_SHARE = 0.05, 0.30
LEAST_COUNT = 0.001
RARE = 0.5
ROUNDING = 1e-9
AT_ONCE = 1_000_000
"""Cells, times queries, that are looked at together."""


@dataclass(frozen=True)
class ColumnKept(Brief):
    """What a release keeps of one column.

    groups : how many it distinguishes. values : how many subjects of the source hold. entropy : the
    share of its entropy that its own boxes keep, in [0, 1]. rare : the share of subjects with a
    rare value, one that fewer hold than half of an even share. rare_lost : the share of subjects
    whose rare value is merged with others or suppressed. Entropy charges little for these.
    """

    groups: int
    values: int
    entropy: float
    rare: float
    rare_lost: float


def columns_kept(counts: Counts, grouping: Grouping) -> list[ColumnKept]:
    """Return what a grouping keeps of each column."""
    kept = 1.0 - hidden_by_column(counts, grouping, own=True)
    kept = np.where(kept > ROUNDING, kept, 0.0)
    n = np.bincount(grouping.group, counts.sample, len(grouping.kept))
    shown = grouping.kept & (n > 0)
    made = []
    for d, size in enumerate(counts.sizes):
        codes = counts.codes[:, d]
        held = np.bincount(codes, counts.sample, size)
        values = int((held > 0).sum())
        rare = (held < RARE * counts.subjects / values)[codes]
        alone = grouping.kept & (grouping.widths[:, d] == 1)
        merged = rare & ~alone[grouping.group]
        made.append(
            ColumnKept(
                len(np.unique(grouping.box[shown, d])),
                values,
                float(kept[d]),
                *(float(counts.sample[some].sum() / counts.subjects) for some in (rare, merged)),
            )
        )
    return made


def query_error(
    counts: Counts,
    grouping: Grouping,
    *,
    likely: Sequence[Floats | Bits] | None = None,
) -> float:
    """Return the median relative error of random COUNTs on the release.

    A query counts subjects within a range of 1 to 3 columns: 5 to 30% of each domain, around the
    values of a subject drawn at random. On the release values are taken as even within a group's
    own values, or as `likely` says: by column, (boxes, values). An error is relative to the true
    count, or to .1% of the subjects where that is more. Cost: O(`QUERIES` x (cells + groups)), of
    those that have a subject.
    """
    rng = np.random.default_rng(0)
    n = np.bincount(grouping.group, counts.sample, len(grouping.kept)).astype(np.float64)
    shown = grouping.kept & (n > 0)
    kept, box = n[shown], grouping.box[shown]
    codes, sample = counts.codes[counts.sample > 0], counts.sample[counts.sample > 0]
    likely = grouping.values if likely is None else likely
    around = codes[rng.choice(len(sample), QUERIES, p=sample / counts.subjects)]
    first, width = _ranges_around(around, counts.sizes, rng)
    errors = []
    parts = min(QUERIES, -(-QUERIES * len(sample) // AT_ONCE))
    for some in np.array_split(np.arange(QUERIES), parts):
        within = np.ones((len(some), len(sample)), dtype=np.bool_)
        inside = np.tile(kept, (len(some), 1))
        for d, size in enumerate(counts.sizes):
            own = width[some, d] > 0
            places = np.arange(size) - first[some[own], d, None]
            asked = (places >= 0) & (places < width[some[own], d, None])
            within[own] &= asked[:, codes[:, d]]
            inside[own] *= _overlaps(likely[d], asked)[:, box[:, d]]
        true = within @ sample
        least = np.maximum(true, LEAST_COUNT * counts.subjects)
        errors.append(np.abs(inside.sum(axis=1) - true) / least)
    return float(np.median(np.concatenate(errors)))


def _ranges_around(
    around: NDArray[Any], sizes: Sequence[int], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw the first value and the width of what each query asks of each column, 0 if nothing."""
    first, width = np.zeros((2, *around.shape), dtype=np.int64)
    for i, values in enumerate(around.tolist()):
        for d in rng.permutation(len(sizes))[: rng.integers(1, MOST_COLUMNS + 1)].tolist():
            width[i, d] = max(1, round(rng.uniform(LEAST_SHARE, MOST_SHARE) * sizes[d]))
            first[i, d] = values[d] - rng.integers(width[i, d])
    return first, width


def _overlaps(values: Floats | Bits, asked: Bits) -> Floats:
    """Return the share of each box's values that each query asks for, a row a query."""
    whole = values.sum(axis=1)
    return np.asarray(asked.astype(np.float64) @ values.T / np.where(whole > 0, whole, 1))
