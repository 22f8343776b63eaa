"""What trees of people's records are grown on: a ground for each number of rows, common units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voile.tables.people.counts import Constraints, Counts, distinct_rows
from voile.tables.people.records import PersonRecords, PersonRows
from voile.tables.scoring.losses import (
    distribution_of_all,
    entropies,
    importance_shares,
    n_log_n,
)
from voile.tables.trees.ground import Ground, LossUnits, per_nat

Floats = NDArray[np.float64]
BINS = 8
"""Bins of a column's positions, for the information that two rows of a person share."""


def record_grounds(
    people: PersonRows,
    numbers: Sequence[int],
    columns: Ground,
) -> list[Ground]:
    """Return a ground for each number of rows: a person is one record of all her rows' columns.

    columns : a ground of single rows, for the constraints and kinds of the columns.
    """
    sizes, rules = columns.counts.sizes, columns.constraints
    records = list(people.records(numbers))
    counts = [_count(record.codes, sizes * record.number) for record in records]
    units = _units(people, records, counts, columns)
    return [
        Ground(
            counted,
            _repeated(rules, record.number),
            nullable=columns.nullable * record.number,
            free=columns.free * record.number,
            number=record.number,
            of_source=LossUnits(
                units.matches,
                units.own,
                units.spread,
                np.tile(units.hidden, record.number),
                units.cells,
                units.lost,
            ),
            gains=_shared_information(record, len(sizes)),
        )
        for record, counted in zip(records, counts, strict=True)
    ]


def _count(codes: NDArray[np.int32], sizes: Sequence[int]) -> Counts:
    distinct, each = distinct_rows(codes, np.ones(len(codes)), sizes)
    return Counts(tuple(sizes), distinct, each, each, np.zeros((len(distinct), 0)))


def _units(
    people: PersonRows, records: Sequence[PersonRecords], counts: Sequence[Counts], columns: Ground
) -> LossUnits:
    """Return the units of the source: divergence by records, entropy with all rows alike."""
    sizes, rows = columns.counts.sizes, len(people.row)
    released = sum(record.rows.size for record in records)
    each = np.ones(rows)
    of_rows = Counts(sizes, people.codes, each, each, np.zeros((rows, 0)))
    nats = entropies(of_rows) * rows
    share = importance_shares(of_rows, columns.importance)
    return LossUnits(
        float(sum(len(one.codes) for one in counts)),
        float(sum(n_log_n(one.sample).sum() for one in counts)),
        per_nat(sum(distribution_of_all(one) for one in counts)),
        np.divide(share, nats, out=np.zeros_like(share), where=nats > 0),
        float(rows * len(sizes)),
        1 - released / rows,
    )


def _repeated(rules: Constraints, number: int) -> Constraints:
    """Return constraints of single rows for each row of a record."""
    if rules.forbidden is None:
        return rules
    raise NotImplementedError


def _shared_information(record: PersonRecords, columns: int) -> tuple[float, ...]:
    """Return by column of a record how many rows' entropy a cut of it lowers, 1 for its own.

    A row's column shares information with the same column of the person's other rows: the mutual
    information of both in bins, as a share of the entropy of the column that is cut.
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
