"""Define the inputs of the kernels of trees: codes, weights of a gain, and allowed cuts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class SamplePeople(NamedTuple):
    """The sample's combinations and the population's, which growing puts in the order of boxes.

    codes : (m, d) positions in the domains, a row a combination. n : (m,) subjects > 0.
    row : (m,) the number of each row, which goes with it.
    crowd, g : (q, d) and (q,), the same of the population; no row where the sample stands for it.
    factor : people that one subject stands for, where the population is the sample times this.
    """

    codes: Codes
    n: Floats
    row: Ints
    crowd: Codes
    g: Floats
    factor: float


class CutWorth(NamedTuple):
    """Hold the weights of a box's figures while a tree grows.

    risk : of relative risk, a subject of 1 / g.
    spread, fine_spread : of eq. 4, a nat in boxes of more than `large` subjects, and in others.
    hidden, fine_hidden : likewise of the entropy of column j that a box hides, a nat: `hidden[j]`.
    n_log_n : of 0 to the number of subjects. log : of 0 (as 0) to the values of the largest domain.
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
    """Which boxes and cuts are allowed.

    least_n, least_g : subjects and people of a box, at least.
    cuts : (sum of sizes,) bool, whether column j may be cut after value v, at start[j] + v.
    start : (d + 1,) where each column's values begin among all.
    nullable : (d,) bool, whether a column's last value is null.
    by_crowd : in a gap of the sample, cut where the population's density changes most; else cut
        in the middle.
    empty : whether a cut may leave one side without a record.
    free : (d,) bool, whether a column's values have no order, so that any of them may go together.
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
    """Hold the sensitive values of the sample's rows, and the rules for every box.

    first : (m + 1,), value, subjects : row i has the values first[i] to first[i + 1], in CSR form.
        The values of column s are numbered start[s] to start[s + 1].
    least_l, least_entropy : (s,) distinct values, and nats, of a box, at least.
    most_t, ordered : (s,) earth mover's distance from all subjects, at most, and whether values
        are ordered.
    whole : (values,) subjects of each value.
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
    """One box while it is looked at: its rows of the sample, its values, its figures.

    low, high : (d,) its least and its last value. inside : (d,) of columns without an order which
        values it has, a bit each.
    """

    first: int
    last: int
    low: Ints
    high: Ints
    inside: Ints
    figures: Floats


class BoxScratch(NamedTuple):
    """Room that every box uses in turn.

    values : (sum of sizes,) subjects by value of each column; 0 between boxes.
    crowd : (sum of sizes,) people up to each value of each column, inside the box.
    at, held : the values that the sample has in the box, and their subjects, column after column.
        Those of column j are until[j] to until[j + 1], and none if the box has one value.
    order : (m,) its rows, sorted by one column. ends : (sum of sizes,) where a value's rows end.
    shown : (2, values) subjects by sensitive value: of the box, and below a cut.
    """

    values: Floats
    crowd: Floats
    at: Ints
    held: Floats
    until: Ints
    order: Ints
    ends: Ints
    shown: Floats
