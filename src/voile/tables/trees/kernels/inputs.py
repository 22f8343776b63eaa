"""Define the inputs of the kernels of trees: codes, weights of a gain, and allowed splits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class SamplePeople(NamedTuple):
    """The combinations of the sample and the population, which growing sorts by node.

    Attributes
    ----------
    codes : (m, d) positions in the domains, one row for each combination.
    n : (m,) subjects > 0.
    row : (m,) the number of each row, which moves with the row.
    crowd, g : (q, d) and (q,), the codes and people of the population. Empty if the sample
        represents it.
    factor : the number of people that one subject represents, if the population is a multiple of
        the sample.
    """

    codes: Codes
    n: Floats
    row: Ints
    crowd: Codes
    g: Floats
    factor: float


class CutWorth(NamedTuple):
    """The weights of a node's figures while a tree grows.

    Attributes
    ----------
    risk : the weight of relative risk, for a subject of 1 / g.
    spread, fine_spread : the weight of a nat of eq. 4, in nodes of more than `large` subjects, and
        in others.
    hidden, fine_hidden : (d,) likewise, the weight of a nat of the entropy of column j that a node
        hides.
    n_log_n : the values of n log n for 0 to the number of subjects.
    log : the logarithms of 0 (as 0) to the size of the largest domain.
    """

    risk: float
    spread: float
    fine_spread: float
    hidden: Floats
    fine_hidden: Floats
    large: float
    n_log_n: Floats
    log: Floats


class AllowedBoxes(NamedTuple):
    """The constraints on nodes and splits.

    Attributes
    ----------
    least_n, least_g : the least numbers of subjects and of people in a node.
    cuts : (sum of sizes,) bool, whether column j may be split after value v, at start[j] + v.
    start : (d + 1,) the position of each column's first value among all.
    nullable : (d,) bool, whether a column's last value is null.
    by_crowd : whether a split in a gap of the sample is where the population's density changes
        most. Otherwise it is in the middle.
    empty : whether one side of a split may have no record.
    free : (d,) bool, whether a column's values have no order, so that any set of them may form a
        side.
    """

    least_n: float
    least_g: float
    cuts: NDArray[np.bool_]
    start: Ints
    nullable: NDArray[np.bool_]
    by_crowd: bool
    empty: bool
    free: NDArray[np.bool_]


class SensitiveRows(NamedTuple):
    """The sensitive values of the sample's rows, and the rules for every node.

    Attributes
    ----------
    first : (m + 1,) in CSR form: row i has the values at first[i] to first[i + 1].
    value, subjects : the value numbers and subjects of all rows. The values of column s have the
        numbers start[s] to start[s + 1].
    least_l, least_entropy : (s,) the least number of distinct values, and of nats, in a node.
    most_t, ordered : (s,) the largest earth mover's distance from all subjects, and whether values
        are ordered.
    whole : (values,) the subjects of each value.
    """

    first: Ints
    value: Ints
    subjects: Floats
    start: Ints
    least_l: Floats
    least_entropy: Floats
    most_t: Floats
    ordered: NDArray[np.bool_]
    whole: Floats


class GrowingBox(NamedTuple):
    """One node during growing: its rows of the sample, its values, its figures.

    Attributes
    ----------
    first, last : the range of its rows.
    low, high : (d,) the least and the greatest value of each column.
    inside : (d,) the set of values of each column without an order, one bit each.
    """

    first: int
    last: int
    low: Ints
    high: Ints
    inside: Ints
    figures: Floats


class BoxScratch(NamedTuple):
    """Work arrays that every node uses in turn.

    Attributes
    ----------
    values : (sum of sizes,) subjects by value of each column. All 0 between nodes.
    crowd : (sum of sizes,) people up to each value of each column, inside the node.
    at, held : the values of the sample in the node, and their subjects, column after column.
    until : the range of column j is until[j] to until[j + 1]. It is empty if the node has one
        value.
    order : (m,) the node's rows, sorted by one column.
    ends : (sum of sizes,) the position after the last row of each value.
    shown : (2, values) subjects by sensitive value: of the node, and below a split point.
    """

    values: Floats
    crowd: Floats
    at: Ints
    held: Floats
    until: Ints
    order: Ints
    ends: Ints
    shown: Floats
