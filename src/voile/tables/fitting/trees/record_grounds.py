"""Build the grounds for trees of people's records: one per number of rows, with common units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from voile.tables.fitting.trees.ground import BoxDiversity, LossUnits, TreeGround, per_nat
from voile.tables.people.counts import CombinationCounts, Constraints, distinct_rows, row_keys
from voile.tables.people.records import PersonRecords, PersonRows
from voile.tables.scoring.losses import distribution_of_all, entropies, importance_shares, n_log_n

Floats = NDArray[np.float64]
BINS = 8
"""The number of bins of a column's positions, for the mutual information of a person's rows."""


def record_grounds(
    people: PersonRows, numbers: Sequence[int], rows: TreeGround
) -> list[TreeGround]:
    """Return a ground for each number of rows. A record has the columns of all of a person's rows.

    `rows` is a ground of single rows, which provides the constraints and the kinds of the columns.
    """
    records = list(people.records(numbers))
    counts = [_count(record, rows.counts.sizes) for record in records]
    units = _units(people, records, counts, rows)
    return [
        TreeGround(
            counted,
            replace(rows.constraints, forbidden=_repeat_forbidden(rows.constraints, record.number)),
            _diversity(record, counted, rows.constraints.l_diversity),
            rows.nullable * record.number,
            free=rows.free * record.number,
            number=record.number,
            of_source=replace(units, hidden=np.tile(units.hidden, record.number)),
            gains=_shared_information(record, len(rows.counts.sizes)),
        )
        for record, counted in zip(records, counts, strict=True)
    ]


def _count(record: PersonRecords, sizes: Sequence[int]) -> CombinationCounts:
    wide = tuple(sizes) * record.number
    codes, each = distinct_rows(record.codes, np.ones(len(record.codes)), wide)
    return CombinationCounts(wide, codes, each, each, np.zeros((len(codes), 0)))


def _units(
    people: PersonRows,
    records: Sequence[PersonRecords],
    counts: Sequence[CombinationCounts],
    ground: TreeGround,
) -> LossUnits:
    """Return the units of the source: divergence by records, and entropy over all rows equally."""
    sizes, rows = ground.counts.sizes, len(people.row)
    each = np.ones(rows)
    of_rows = CombinationCounts(sizes, people.codes, each, each, np.zeros((rows, 0)))
    nats, share = entropies(of_rows) * rows, importance_shares(of_rows, ground.importance)
    return LossUnits(
        float(sum(len(one.codes) for one in counts)),
        float(sum(n_log_n(one.sample).sum() for one in counts)),
        per_nat(sum(distribution_of_all(one) for one in counts)),
        np.divide(share, nats, out=np.zeros_like(share), where=nats > 0),
        float(rows * len(sizes)),
        1 - sum(record.rows.size for record in records) / rows,
    )


def _repeat_forbidden(rules: Constraints, number: int) -> NDArray[np.bool_] | None:
    return None if rules.forbidden is None else np.tile(rules.forbidden, number)


def _diversity(
    record: PersonRecords, counts: CombinationCounts, least: int
) -> tuple[BoxDiversity, ...]:
    """Return the diversity that every leaf needs, by sensitive column and position in a record."""
    if least < 2:
        return ()
    cell = np.searchsorted(
        row_keys(counts.codes, counts.sizes), row_keys(record.codes, counts.sizes)
    )
    made = []
    for place, column in np.ndindex(record.values.shape[1:]):
        values = np.unique(record.values[:, place, column], return_inverse=True)[1]
        counted = np.zeros((len(counts.codes), values.max(initial=0) + 1))
        np.add.at(counted, (cell, values), 1.0)
        made.append(BoxDiversity(counted, distinct=least))
    return tuple(made)


def _shared_information(record: PersonRecords, columns: int) -> tuple[float, ...]:
    """Return, by column of a record, how many rows' entropy a split of it lowers (1 for its own).

    A row's column shares information with the same column of the person's other rows. The share is
    the mutual information of both, in bins, divided by the entropy of the split column.
    """
    people = len(record.codes)
    codes = record.codes.reshape(people, record.number, columns)
    gains = np.ones((record.number, columns))
    for j in range(columns):
        ends = np.quantile(codes[:, :, j], np.arange(1, BINS) / BINS)
        binned = np.searchsorted(ends, codes[:, :, j])
        for p in range(record.number):
            own = _entropy(binned[:, p])
            for q in range(record.number):
                if p != q and own > 0:
                    both = _entropy(binned[:, p] * BINS + binned[:, q])
                    gains[p, j] += max(own + _entropy(binned[:, q]) - both, 0.0) / own
    return tuple(gains.ravel().tolist())


def _entropy(values: NDArray[np.intp]) -> float:
    share = np.bincount(values) / len(values)
    return -float(n_log_n(share).sum())
