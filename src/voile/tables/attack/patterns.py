"""Count the register entries that agree with a released combination on exactly each set of columns.

A Fellegi-Sunter score depends on a pair only through its agreement pattern. Counting patterns
replaces records x entries comparisons by one group-by for each subset of columns. The number of
entries that agree on *at least* a subset is a group's size. A Moebius inversion over the subsets
converts these numbers to entries that agree on *exactly* each subset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.attack.records import distinct_rows

MAX_COLUMNS = 10


@dataclass(frozen=True)
class RegisterBlock:
    """The register entries that have a value in exactly these columns, by agreement.

    `counts[i, a]` entries agree with combination i on exactly the columns with a set bit in a. Bit
    b corresponds to `columns[b]`.
    """

    columns: tuple[int, ...]
    counts: NDArray[np.int32]

    @property
    def sets(self) -> NDArray[np.intp]:
        """Return the set of columns for each second index of `counts`: bit j is column j."""
        sets = [0]
        for j in self.columns:
            sets += [each | 1 << j for each in sets]
        return np.array(sets, dtype=np.intp)

    @property
    def entries(self) -> int:
        """Return the number of register entries of the block."""
        return int(self.counts[:1].sum())

    @property
    def at_least(self) -> NDArray[np.float64]:
        """Count the entries that agree on at least each set, in the shape of `counts`."""
        sums = self.counts.astype(np.float64)
        for half in _halves(sums):
            half[:, :, 0] += half[:, :, 1]
        return sums


@dataclass(frozen=True)
class AgreementPatterns:
    """Distinct released combinations compared with a register of m entries.

    A missing value, -1, agrees with no value. All counts of a combination sum to m.
    """

    combinations: NDArray[np.int32]
    entries: int
    blocks: tuple[RegisterBlock, ...]

    @property
    def whole(self) -> int:
        """Return the set of all columns in which some entry has a value: bit j is column j."""
        return sum(1 << j for j in {j for block in self.blocks for j in block.columns})

    def select(self, rows: slice | NDArray[np.intp]) -> AgreementPatterns:
        blocks = tuple(RegisterBlock(b.columns, b.counts[rows]) for b in self.blocks)
        return AgreementPatterns(self.combinations[rows], self.entries, blocks)

    @property
    def at_least(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Count entries that agree with each combination on at least each set of columns.

        Returns
        -------
        agree : (c, 2^q) the number of agreeing entries.
        comparable : (2^q,) the number of entries with values in all columns of the set.
        """
        c, q = self.combinations.shape
        agree, comparable = np.zeros((c, 1 << q)), np.zeros(1 << q, dtype=np.int64)
        for block in self.blocks:
            agree[:, block.sets] += block.at_least
            comparable[block.sets] += block.entries
        return agree, comparable


def agreement_patterns(
    combinations: NDArray[np.int32], register: NDArray[np.int32]
) -> AgreementPatterns:
    """Count the entries of `register` (m, q) by agreement with each of `combinations` (c, q).

    Cost: O(2^q (m' + c) log(m' + c)) time for m' distinct entries, and 4 c 2^q bytes. This cost
    applies to each set of columns that is missing together in the register. q is at most 10. Exact.

    >>> seen = np.array([[0, 1]], dtype=np.int32)
    >>> register = np.array([[0, 1], [0, 2], [3, 3]], dtype=np.int32)
    >>> agreement_patterns(seen, register).blocks[0].counts.tolist()
    [[1, 1, 0, 1]]
    """
    q = combinations.shape[1]
    if q > MAX_COLUMNS:
        raise RequestError(
            f"{q} columns make 2^{q} agreement patterns",
            instead=f"let her know at most {MAX_COLUMNS} columns",
        )
    distinct, place = distinct_rows(register)
    times = np.bincount(place, minlength=len(distinct)).astype(np.int64)
    has = (distinct >= 0) @ (1 << np.arange(q))
    blocks = tuple(
        _block(combinations, distinct[has == mask], times[has == mask], int(mask))
        for mask in np.unique(has)
    )
    return AgreementPatterns(combinations, len(register), blocks)


def subset_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum, along the second axis, the values at the subsets of each set of bits.

    >>> subset_sums(np.array([[1.0, 2.0, 4.0, 8.0]])).tolist()
    [[1.0, 3.0, 5.0, 15.0]]
    """
    sums = values.astype(np.float64)
    for half in _halves(sums):
        half[:, :, 1] += half[:, :, 0]
    return sums


def _halves(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield views (rows, ..., 2, ...) that split the second axis by each bit in turn."""
    rows, size = values.shape
    for b in range(size.bit_length() - 1):
        yield values.reshape(rows, size >> b + 1, 2, 1 << b)


def _block(
    combinations: NDArray[np.int32],
    entries: NDArray[np.int32],
    times: NDArray[np.int64],
    mask: int,
) -> RegisterBlock:
    """Count, by agreement, the entries that have values in exactly the columns of `mask`."""
    columns = tuple(j for j in range(combinations.shape[1]) if mask >> j & 1)
    both = np.concatenate([entries, combinations])[:, columns].astype(np.int64)
    counts = np.empty((len(combinations), 1 << len(columns)), dtype=np.int32)
    counts[:, 0] = times.sum()
    _count_supersets(both, times, counts, np.zeros(len(both), dtype=np.int64), 0, 0)
    for half in _halves(counts):
        half[:, :, 0] -= half[:, :, 1]
    return RegisterBlock(columns, counts)


def _count_supersets(
    both: NDArray[np.int64],
    times: NDArray[np.int64],
    counts: NDArray[np.int32],
    groups: NDArray[np.int64],
    start: int,
    agreed: int,
) -> None:
    """Fill in the number of entries that agree on at least each superset of `agreed`.

    `both` contains the entries, followed by the combinations. `groups` numbers their values in the
    columns of `agreed`. `start` is the first column that may be added.
    """
    entries = len(times)
    for b in range(start, both.shape[1]):
        finer = groups * (int(both[:, b].max()) + 2) + both[:, b] + 1
        size = int(finer.max()) + 1
        if size > 4 * len(both) + 1024:  # too sparse for counting without a sort
            values, finer = np.unique(finer, return_inverse=True)
            size = len(values)
        totals = np.bincount(finer[:entries], weights=times, minlength=size)
        counts[:, agreed | 1 << b] = totals[finer[entries:]]
        _count_supersets(both, times, counts, finer, b + 1, agreed | 1 << b)
