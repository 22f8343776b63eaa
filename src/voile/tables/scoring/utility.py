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
    errors = np.empty(QUERIES)
    drawn = rng.choice(len(sample), QUERIES, p=sample / counts.subjects)
    for i, around in enumerate(codes[drawn]):
        among = rng.permutation(len(counts.sizes))[: rng.integers(1, MOST_COLUMNS + 1)]
        within, inside = np.ones(len(sample), dtype=np.bool_), kept
        for d in among:
            asked = _range(int(around[d]), counts.sizes[d], rng)
            within &= asked[codes[:, d]]
            inside = inside * _overlap(likely[d], asked)[box[:, d]]
        true = float(sample[within].sum())
        errors[i] = abs(inside.sum() - true) / max(true, LEAST_COUNT * counts.subjects)
    return float(np.median(errors))


def _range(around: int, size: int, rng: np.random.Generator) -> Bits:
    """Return which values a query asks for: a range that holds one of them."""
    width = max(1, round(rng.uniform(LEAST_SHARE, MOST_SHARE) * size))
    first = around - int(rng.integers(width))
    places: NDArray[Any] = np.arange(size)
    return np.asarray((places >= first) & (places < first + width))


def _overlap(values: Floats | Bits, asked: Bits) -> Floats:
    """Return the share of each box's values that are asked for."""
    whole = values.sum(axis=1)
    return np.asarray(values @ asked.astype(np.float64) / np.where(whole > 0, whole, 1))
