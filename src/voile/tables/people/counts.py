"""Define the input of a policy's risk and loss: distinct combinations and their counts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.tables.people.counted_boxes import CountedBoxes

MOST_KEYS = 2**62
DENSE = 16
"""Places of a table of keys for each key, at most."""
NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)([.][0-9]+)?")


class SensitiveColumn(NamedTuple):
    """The number of values of a sensitive column, including null, and whether they are numbers."""

    values: int
    ordered: bool = False


@dataclass(frozen=True, eq=False)
class CombinationCounts(BriefRepr):
    """Subjects and people by combination of quasi-identifier values.

    Attributes
    ----------
    sizes : the number of values in each attribute's ordered domain, each >= 2.
    codes : (cells, attributes) int32, positions in the domains, distinct, in lexicographic order.
    sample : (cells,) float64 >= 0, subjects. A subject with several combinations is divided evenly
        among them, so that the sum is the number of subjects.
    population : (cells,) float64 >= 0, people, or the sample if no population was given.
    sensitive : (cells, values) float64, the sample by value of each sensitive column, concatenated.
        Numbers are in their order, and null is last.
    outcomes : for each outcome column, (cells, values) float64, the sample by its value.
    columns : the sensitive columns. If it is empty and there are values, they form one unordered
        column.
    """

    sizes: tuple[int, ...]
    codes: NDArray[np.int32]
    sample: NDArray[np.float64]
    population: NDArray[np.float64]
    sensitive: NDArray[np.float64]
    outcomes: tuple[NDArray[np.float64], ...] = ()
    columns: tuple[SensitiveColumn, ...] = ()

    @cached_property
    def places(self) -> tuple[NDArray[np.intp], ...]:
        """The codes of each attribute as indices, in memory one after the other."""
        return tuple(np.ascontiguousarray(own, dtype=np.intp) for own in self.codes.T)

    @property
    def sensitive_columns(self) -> tuple[SensitiveColumn, ...]:
        values = self.sensitive.shape[1]
        return self.columns or (SensitiveColumn(values),) * (values > 0)

    def by_column(
        self, sensitive: NDArray[np.float64]
    ) -> Iterator[tuple[NDArray[np.float64], bool]]:
        """Yield the counts of each sensitive column, and whether its values are numbers."""
        first = 0
        for values, ordered in self.sensitive_columns:
            yield sensitive[:, first : first + values], ordered
            first += values

    @property
    def subjects(self) -> float:
        return float(self.sample.sum())


@dataclass(frozen=True)
class PopulationCounts(BriefRepr):
    """People by combination, and the origin of the counts.

    Attributes
    ----------
    codes : (m, q) int32, distinct positions in lexicographic order.
    people : (m,) float64, the number of people of each combination.
    how : the end of the sentence "The population is ...".
    assumptions : sentences that a reader must accept to trust the counts.
    known : whether tables count people by all quasi-identifiers.
    boxes : people from tables that count them by some columns. They do not determine the size of
        any group.
    weighted : whether people are sums of the subjects' sampling weights.
    """

    shows = ("how",)

    codes: NDArray[np.int32]
    people: NDArray[np.float64]
    how: str
    assumptions: tuple[str, ...] = ()
    known: bool = True
    boxes: CountedBoxes | None = None
    weighted: bool = False

    def counts_by(self, column: str | None) -> bool:
        """Return whether a table counts people by a column."""
        return self.known or (self.boxes is not None and column in self.boxes.columns)


@dataclass(frozen=True)
class Constraints:
    """The conditions on a policy, and the share of records that may be suppressed to meet them.

    Parameters
    ----------
    k : the least number of subjects in a group of the sample, >= 1.
    max_risk : the largest 1 / g of any released record, in (0, 1], where g counts the people of the
        record's group in the population.
    l_diversity : the least number of distinct values of each sensitive column in a group, >= 1.
    entropy_l : the least exp of the entropy of each sensitive column in a group, >= 1.
    t_closeness : the largest earth mover's distance, in [0, 1], between the values of a sensitive
        column in a group and in the whole sample. The distance between two values depends on their
        order if the values are numbers, and otherwise all distances are equal.
    suppress : the largest share of subjects, in [0, 1), that may be suppressed because their group
        breaks one of the conditions above.
    required, forbidden : (n_bits,) bool, the split points that every policy must have, and those
        that no policy may have.
    empty_boxes : whether a tree may have leaves without a record of the sample.
    """

    k: int = 1
    max_risk: float = 1.0
    l_diversity: int = 1
    suppress: float = 0.0
    required: NDArray[np.bool_] | None = None
    forbidden: NDArray[np.bool_] | None = None
    entropy_l: float = 1.0
    t_closeness: float = 1.0
    empty_boxes: bool = False

    @property
    def of_shares(self) -> bool:
        """Return whether constraints limit shares of sensitive values, which a merge may break."""
        return self.entropy_l > 1 or self.t_closeness < 1

    @property
    def diverse(self) -> bool:
        """Return whether there are constraints on the sensitive columns."""
        return self.l_diversity > 1 or self.of_shares


def distinct_rows(
    codes: NDArray[np.int32], count: NDArray[np.float64], sizes: Sequence[int]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the distinct rows of codes in lexicographic order, and the sum of counts of each."""
    keys = row_keys(codes, sizes)
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    total = np.bincount(inverse, weights=count, minlength=len(distinct))
    return codes[first], total.astype(np.float64)


def row_keys(codes: NDArray[np.int32], sizes: Sequence[int]) -> NDArray[Any]:
    """Return a key for each row of codes, equal for equal rows and in lexicographic order.

    The key is a mixed-radix number, or bytes if the product of the sizes is too large.

    >>> wide = row_keys(np.array([[3, 1], [2, 9]], np.int32), [2**40, 2**40])
    >>> wide.dtype, bool(wide[0] > wide[1])
    (dtype('S8'), True)
    """
    if math.prod(sizes) >= MOST_KEYS:
        return np.ascontiguousarray(codes, dtype=">u4").view(f"S{4 * codes.shape[1]}").ravel()
    keys = np.zeros(len(codes), dtype=np.int64)
    for column, size in enumerate(sizes):
        keys = keys * size + codes[:, column]
    return keys


def number_groups(keys: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first place of each distinct key in rising order, and the group of each place.

    Cost: O(n) without a sort if the keys are small integers, else O(n log n).

    >>> [found.tolist() for found in number_groups(np.array([7, 3, 7]))]
    [[1, 0], [1, 0, 1]]
    """
    if not is_dense(keys):
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        return first, group
    first = np.full(int(keys.max()) + 1, -1, dtype=np.intp)
    first[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)
    seen = first >= 0
    number = np.cumsum(seen) - 1
    return first[seen], number[keys]


def add_by_key(keys: NDArray[Any], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of the values of each distinct key, in rising order; values are above 0."""
    if is_dense(keys):
        sums = np.bincount(keys, values).astype(np.float64, copy=False)
        return sums[sums > 0]
    _, group = number_groups(keys)
    return np.bincount(group, values).astype(np.float64, copy=False)


def is_dense(keys: NDArray[Any]) -> bool:
    """Return whether a table of all keys up to the largest is worth its memory."""
    if keys.dtype.kind != "i" or not len(keys):
        return False
    return bool(keys.min() >= 0 and keys.max() < DENSE * len(keys))


def value_order(values: Sequence[Any]) -> tuple[NDArray[np.intp], bool]:
    """Return the order of a column's distinct values, and whether they are numbers.

    Numbers are sorted in ascending order, with null last. Names, and codes such as 007, keep their
    order.

    >>> order, ordered = value_order(["10", None, "9", "-1.5"])
    >>> order.tolist(), ordered, value_order(["10", "007"])[1]
    ([3, 2, 0, 1], True, False)
    """
    texts = ["" if value is None else str(value) for value in values]
    if not any(texts) or not all(NUMBER.fullmatch(t) for t in texts if t):
        return np.arange(len(values)), False
    keys = [(float(text) if text else np.inf, text) for text in texts]
    return np.array(sorted(range(len(texts)), key=keys.__getitem__)), True


def count_by_value(
    quasi: Sequence[str], counts: CombinationCounts, population: PopulationCounts, column: str
) -> NDArray[np.float64]:
    """Count the population by the values of one quasi-identifier."""
    place = quasi.index(column)
    codes, people = counts.codes[:, place], counts.population
    boxes = population.boxes
    if boxes is not None and column in boxes.columns:
        codes, people = boxes.codes[:, boxes.columns.index(column)], boxes.people
    return np.bincount(codes, people, counts.sizes[place]).astype(np.float64)
