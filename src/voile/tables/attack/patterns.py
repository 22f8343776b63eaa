"""How many register entries agree with a released combination on exactly which columns.

A score of Fellegi and Sunter depends on the pair only through its agreement pattern. Counting
patterns replaces records x entries comparisons by one group-by for each subset of columns:
entries that agree on *at least* a subset are a group's size, and a Moebius inversion over the
subsets turns these into entries that agree on *exactly* it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.errors import RequestError
from voile.tables.attack.records import distinct_rows

MAX_COLUMNS = 10


@dataclass(frozen=True)
class Block:
    """Count the register entries that have a value in exactly these columns.

    Parameters
    ----------
    columns : the columns with a value, ascending; the others are missing in these entries.
    counts : (c, 2 ** len(columns)) int32, `counts[i, a]` entries agree with combination i on
        exactly the columns whose bit is set in a; bit b stands for `columns[b]`.
    """

    columns: tuple[int, ...]
    counts: NDArray[np.int32]


@dataclass(frozen=True)
class Patterns:
    """Compare distinct released combinations with a register.

    Parameters
    ----------
    combinations : (c, q) int32, distinct released rows; -1 = missing, agrees with nothing.
    frequency : (c, q) float64 in [0, 1], the u-probability: the share of the register's values of
        column j that equal `combinations[i, j]`; 0 where missing or not in the register.
    entries : register entries, m.
    blocks : one for each set of columns that some entry has values in; all counts of a
        combination sum to m.
    """

    combinations: NDArray[np.int32]
    frequency: NDArray[np.float64]
    entries: int
    blocks: tuple[Block, ...]

    def select(self, rows: slice) -> Patterns:
        """Return the patterns of some of the combinations."""
        blocks = tuple(Block(b.columns, b.counts[rows]) for b in self.blocks)
        return Patterns(self.combinations[rows], self.frequency[rows], self.entries, blocks)


def agreement_patterns(combinations: NDArray[np.int32], register: NDArray[np.int32]) -> Patterns:
    """Count the entries of `register` (m, q) by agreement with each of `combinations` (c, q).

    Cost: O(2^q (m' + c) log(m' + c)) time for m' distinct entries, 4 c 2^q bytes, for each set
    of columns that is missing together in the register; q is at most 10. Exact.

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
    frequency = _frequencies(combinations, register)
    return Patterns(combinations, frequency, len(register), blocks)


def _frequencies(
    combinations: NDArray[np.int32], register: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the share of each column's register values that equal the released one."""
    shares = np.zeros(combinations.shape)
    for j, released in enumerate(combinations.T):
        held = register[register[:, j] >= 0, j]
        known = released >= 0
        size = int(max(held.max(initial=0), released.max(initial=0))) + 1
        shares[known, j] = np.bincount(held, minlength=size)[released[known]] / max(len(held), 1)
    return shares


def _block(
    combinations: NDArray[np.int32],
    entries: NDArray[np.int32],
    times: NDArray[np.int64],
    mask: int,
) -> Block:
    """Count, by agreement, entries that all have values in the columns of `mask`."""
    columns = tuple(j for j in range(combinations.shape[1]) if mask >> j & 1)
    both = np.concatenate([entries, combinations])[:, columns].astype(np.int64)
    counts = np.empty((len(combinations), 1 << len(columns)), dtype=np.int32)
    counts[:, 0] = times.sum()
    _count_supersets(both, times, counts, np.zeros(len(both), dtype=np.int64), 0, 0)
    for b in range(len(columns)):
        half = counts.reshape(len(counts), counts.shape[1] >> b + 1, 2, 1 << b)
        half[:, :, 0] -= half[:, :, 1]
    return Block(columns, counts)


def _count_supersets(
    both: NDArray[np.int64],
    times: NDArray[np.int64],
    counts: NDArray[np.int32],
    groups: NDArray[np.int64],
    start: int,
    agreed: int,
) -> None:
    """Fill in how many entries agree on at least each superset of `agreed`.

    `both` holds the entries and then the combinations; `groups` numbers their values in the
    columns of `agreed`, and `start` is the first column that may join.
    """
    entries = len(times)
    for b in range(start, both.shape[1]):
        finer = groups * (int(both[:, b].max()) + 2) + both[:, b] + 1
        size = int(finer.max()) + 1
        if size > 4 * len(both) + 1024:  # sort only when the numbers are too sparse to count by
            values, finer = np.unique(finer, return_inverse=True)
            size = len(values)
        totals = np.bincount(finer[:entries], weights=times, minlength=size)
        counts[:, agreed | 1 << b] = totals[finer[entries:]]
        _count_supersets(both, times, counts, finer, b + 1, agreed | 1 << b)
