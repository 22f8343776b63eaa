"""Count the cells that have people, on domains with only the split points that a search may use."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.people.counts import MOST_KEYS, CombinationCounts, Constraints

SLACK = 1e-9
DENSE = 4  # table size per key up to which a table is faster than sorting
NO_INTS = np.zeros(0, dtype=np.int64)


class SensitiveShares(NamedTuple):
    """The subjects' sensitive values, for rows and for all people.

    Attributes
    ----------
    shown : (rows, values) float64, subjects by value, with the columns concatenated.
    start : (columns + 1,) int64, the position of each column's first value.
    whole : (values,) float64, all people's share of each value of its column.
    ordered : (columns,) bool, whether the distance of a column's values is that of their positions.
    """

    shown: NDArray[np.float64]
    start: NDArray[np.int64]
    whole: NDArray[np.float64]
    ordered: NDArray[np.bool_]

    @classmethod
    def of(cls, counts: CombinationCounts, rows: NDArray[np.intp]) -> SensitiveShares:
        """Return the shares of some rows of the counts."""
        totals = [own.sum(axis=0) for own, _ in counts.by_column(counts.sensitive)]
        whole = [total / (total.sum() or 1.0) for total in totals]
        return cls(
            np.ascontiguousarray(counts.sensitive[rows]),
            np.cumsum([0, *map(len, whole)], dtype=np.int64),
            np.concatenate([np.zeros(0), *whole]),
            np.array([column.ordered for column in counts.sensitive_columns], dtype=np.bool_),
        )

    def columns(self) -> Iterator[tuple[NDArray[np.float64], bool]]:
        """Yield all people's shares of each column, and whether its values are ordered."""
        for ordered, (first, last) in zip(self.ordered, pairwise(self.start), strict=True):
            yield self.whole[first:last], bool(ordered)


class CellRules(NamedTuple):
    """The rules for keeping a generalised cell (0 means no rule), and its subjects' weights.

    - A cell needs `least_n` subjects of the sample and `least_g` people. It needs `least_l`
      distinct values of each of `columns` sensitive columns.
    - `wholly_lost` is the number of nats that a suppressed subject loses.
    - Each subject's risk is 1 / g**`power` if g < `under`, and 0 otherwise.
    - A kept cell of n subjects and w combinations loses own - `slope` n log n + `spread` n log w
      nats. The charge of its details (`CellDetails`) lowers this loss.
    - `least_entropy` and `most_t` limit the `SensitiveShares` of each sensitive column: their nats,
      and their earth mover's distance from all people's shares.
    """

    least_n: float
    least_g: float
    least_l: int
    wholly_lost: float
    power: float = 1.0
    under: float = math.inf
    slope: float = 1.0
    spread: float = 1.0
    columns: int = 1
    least_entropy: float = 0.0
    most_t: float = 1.0

    @classmethod
    def of(cls, constraints: Constraints, counts: CombinationCounts) -> CellRules:
        """Return the rules of constraints: k = 1, a risk of 1 and one sensitive value are none."""
        k, risk, values = constraints.k, constraints.max_risk, constraints.l_diversity
        return cls(
            least_n=k - SLACK if k > 1 else 0.0,
            least_g=(1 - SLACK) / risk if risk < 1 else 0.0,
            least_l=values if values > 1 else 0,
            wholly_lost=0.0,
            columns=len(counts.sensitive_columns),
            least_entropy=math.log(constraints.entropy_l),
            most_t=float(constraints.t_closeness),
        )

    @property
    def active(self) -> bool:
        """Return whether any cell may be suppressed."""
        return self.least_n > 0 or self.least_g > 0 or self.least_l > 0 or self.of_shares

    @property
    def of_shares(self) -> bool:
        """Return whether the rules limit a cell's shares of sensitive values."""
        return self.least_entropy > 0 or self.most_t < 1


@dataclass(frozen=True)
class CellDetails:
    """The subjects of sampled cells by each source value of the charged attributes.

    A detail is a cell, an attribute and a value, with `n` subjects, > 0. A generalised cell loses
    `charge[attribute]` n log n less for each of its details. Without details, only eq. 4 counts.
    """

    cell: NDArray[np.int64]
    attribute: NDArray[np.int64]
    value: NDArray[np.int64]
    n: NDArray[np.float64]
    charge: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.n)

    def regroup_cells(self, group: NDArray[np.int64]) -> CellDetails:
        """Return the details after the cells are merged into groups."""
        values = int(self.value.max(initial=0)) + 1
        shape = int(group.max()) + 1, len(self.charge), values
        keys = np.ravel_multi_index((group[self.cell], self.attribute, self.value), shape)
        kinds, place = _number_keys(keys, math.prod(shape))
        cell, attribute, value = np.unravel_index(kinds, shape)
        n = _sums(place, self.n, len(kinds))
        return CellDetails(cell, attribute, value, n, self.charge)


NO_DETAILS = CellDetails(NO_INTS, NO_INTS, NO_INTS, np.zeros(0), np.zeros(0))


def why_too_wide(counts: CombinationCounts) -> str | None:
    """Explain why the lattice is too large, or return None.

    Searches number all combinations of values.
    """
    combinations = math.prod(counts.sizes)
    if combinations < MOST_KEYS:
        return None
    return (
        f"the quasi-identifiers have {combinations:.2g} combinations of values, too many for "
        "global policies"
    )


@dataclass(frozen=True)
class LatticeCells:
    """The cells that have subjects or people.

    Attributes
    ----------
    sizes : (attributes,) int64, the number of values of each attribute.
    widths : (sum of sizes,) int64, the number of values of the whole domain that each value
        represents.
    codes : (cells, attributes) int32, distinct. The sampled cells come first.
    n : (sampled cells,) float64 > 0, subjects.
    own : (sampled cells,) float64, the sum of n log n over the source's combinations in the cell.
    p : (cells,) float64 >= 0, people.
    values : (sampled cells, words) uint64, one bit for each sensitive value present. Each sensitive
        column has the same number of words.
    shares : the shares of sensitive values of the sampled cells.
    details : the details of cells that the loss charges in addition to eq. 4.
    """

    sizes: NDArray[np.int64]
    widths: NDArray[np.int64]
    codes: NDArray[np.int32]
    n: NDArray[np.float64]
    own: NDArray[np.float64]
    p: NDArray[np.float64]
    values: NDArray[np.uint64]
    shares: SensitiveShares
    details: CellDetails = NO_DETAILS

    @classmethod
    def of(cls, counts: CombinationCounts) -> LatticeCells:
        """Return the cells of counts, without combinations that nobody has."""
        if why := why_too_wide(counts):
            raise RequestError(
                why, instead="take --family tree, or coarser domains, for less than 4.6e18"
            )
        sampled = np.flatnonzero(counts.sample > 0)
        others = np.flatnonzero((counts.sample <= 0) & (counts.population > 0))
        order = np.concatenate([sampled, others])
        n = counts.sample[sampled]
        return cls(
            sizes=np.array(counts.sizes, dtype=np.int64),
            widths=np.ones(sum(counts.sizes), dtype=np.int64),
            codes=np.ascontiguousarray(counts.codes[order], dtype=np.int32),
            n=n,
            own=n * np.log(n),
            p=counts.population[order],
            values=_words(counts, sampled),
            shares=SensitiveShares.of(counts, sampled),
        )

    def charge_details(self, spread: float, charge: NDArray[np.float64]) -> LatticeCells:
        """Return the source's cells with `own` times `spread`, and with the charged details."""
        attribute, cell = np.nonzero(np.tile(charge[:, None] > 0, len(self.n)))
        value = self.codes[cell, attribute].astype(np.int64)
        details = CellDetails(cell, attribute, value, self.n[cell], charge)
        return replace(self, own=spread * self.own, details=details)

    def coarsen_charged(
        self, policy: NDArray[np.bool_], spread: float, charge: NDArray[np.float64]
    ) -> LatticeCells:
        """Return `charge_details(spread, charge).coarsen(policy)` without the source's details.

        The source's details are never listed. Cost: O(cells x charged attributes) time, and
        O(cells) memory.
        """
        coarse, group = self._group_cells(policy)
        cell, attribute, value, n = [], [], [], []
        for d in np.flatnonzero(charge > 0):
            size = int(self.codes[: len(self.n), d].max()) + 1
            keys = group * size + self.codes[: len(self.n), d]
            kinds, place = _number_keys(keys, len(coarse.n) * size)
            cell.append(kinds // size)
            attribute.append(np.full(len(kinds), d))
            value.append(kinds % size)
            n.append(_sums(place, self.n, len(kinds)))
        details = NO_DETAILS
        if cell:
            cells, attributes, values = map(np.concatenate, (cell, attribute, value))
            details = CellDetails(cells, attributes, values, np.concatenate(n), charge)
        return replace(coarse, own=spread * coarse.own, details=details)

    @property
    def n_bits(self) -> int:
        """Return the number of split points over all attributes."""
        return int((self.sizes - 1).sum())

    def count_under(self, policy: NDArray[np.bool_]) -> int:
        """Count the generalised cells under `policy` that have subjects or people."""
        intervals = self._intervals(policy)
        combinations = math.prod(int(interval[-1]) + 1 for interval in intervals)
        return _count_distinct(_keys(self.codes, intervals), combinations)

    def _intervals(self, policy: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
        """Return the interval of each value, by attribute."""
        return [
            np.concatenate([[0], np.cumsum(bits, dtype=np.int64)])
            for bits in np.split(policy, np.cumsum(self.sizes - 1)[:-1])
        ]

    def coarsen(self, policy: NDArray[np.bool_]) -> LatticeCells:
        """Return the generalised cells under `policy`, (n_bits,) bool, as new cells."""
        coarse, group = self._group_cells(policy)
        if not len(self.details):
            return coarse
        return replace(coarse, details=self.details.regroup_cells(group))

    def _group_cells(self, policy: NDArray[np.bool_]) -> tuple[LatticeCells, NDArray[np.int64]]:
        """Return the generalised cells without details, and the new cell of each sampled cell."""
        intervals = self._intervals(policy)
        sizes = np.array([interval[-1] + 1 for interval in intervals])
        widths = [
            _sums(interval, values, len(values))[: interval[-1] + 1]
            for interval, values in zip(
                intervals, np.split(self.widths, np.cumsum(self.sizes)[:-1]), strict=True
            )
        ]
        keys = _keys(self.codes, intervals)
        sampled = len(self.n)
        first, group = _number_keys(keys[:sampled], math.prod(sizes.tolist()))
        others = np.setdiff1d(keys[sampled:], first)
        all_keys, place = first, group
        if len(keys) > sampled:
            all_keys = np.concatenate([first, others])
            order = np.argsort(all_keys)
            place = order[np.searchsorted(all_keys, keys, sorter=order)]
        values = np.zeros((len(first), self.values.shape[1]), dtype=np.uint64)
        if values.shape[1]:
            np.bitwise_or.at(values, group, self.values)
        shown = np.zeros((len(first), self.shares.shown.shape[1]))
        for kind, own in enumerate(self.shares.shown.T):
            shown[:, kind] = _sums(group, own, len(first))
        coarse = LatticeCells(
            sizes=sizes,
            widths=np.concatenate(widths).astype(np.int64),
            codes=np.stack(np.unravel_index(all_keys, tuple(sizes)), axis=1).astype(np.int32),
            n=_sums(group, self.n, len(first)),
            own=_sums(group, self.own, len(first)),
            p=_sums(place, self.p, len(all_keys)),
            values=values,
            shares=self.shares._replace(shown=shown),
        )
        return coarse, group


def _keys(codes: NDArray[np.int32], intervals: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return a number for the combination of intervals of each row of codes."""
    keys = np.zeros(len(codes), dtype=np.int64)
    for d, interval in enumerate(intervals):
        keys *= interval[-1] + 1
        keys += interval[codes[:, d]]
    return keys


def _fits_table(keys: NDArray[np.int64], combinations: int) -> bool:
    return combinations <= max(DENSE * len(keys), 2**16)


def _count_distinct(keys: NDArray[np.int64], combinations: int) -> int:
    if not _fits_table(keys, combinations):
        rising = np.sort(keys)
        return int(np.count_nonzero(np.diff(rising))) + min(len(keys), 1)
    present = np.zeros(combinations, dtype=np.bool_)
    present[keys] = True
    return int(present.sum())


def _number_keys(
    keys: NDArray[np.int64], combinations: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct keys, ascending, and the position of each key among them.

    >>> _number_keys(np.array([7, 2, 7]), 8)
    (array([2, 7]), array([1, 0, 1]))
    """
    if not _fits_table(keys, combinations):
        distinct, place = np.unique(keys, return_inverse=True)
        return distinct, place.ravel()
    present = np.zeros(combinations, dtype=np.bool_)
    present[keys] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[keys]


def _sums(
    group: NDArray[np.int64], values: NDArray[np.int64] | NDArray[np.float64], groups: int
) -> NDArray[np.float64]:
    return np.bincount(group, weights=values, minlength=groups).astype(np.float64)


def _words(counts: CombinationCounts, sampled: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Pack which sensitive values the sampled cells have into (cells, words) of 64 bits.

    Each sensitive column has as many words as the column with the most values.
    """
    most = -(-max((column.values for column in counts.sensitive_columns), default=0) // 64) * 64
    padded = [
        np.pad(own > 0, ((0, 0), (0, most - own.shape[1])))
        for own, _ in counts.by_column(counts.sensitive[sampled])
    ]
    present = np.concatenate([np.zeros((len(sampled), 0), dtype=np.bool_), *padded], axis=1)
    packed = np.packbits(present, axis=1, bitorder="little")
    return packed.view(np.uint64).reshape(len(sampled), packed.shape[1] // 8)
