"""What a release loses of its source, from the values of each row and the labels that replace them.

*Divergence loss* is eq. 4 of Xia et al. (CODASPY 2013), divided by that of one group of all people:
how far values are from even within the groups. *Entropy loss* is the share of each column's entropy
that is left within groups, H(column | group) / H(column), averaged over the columns with more than
one value. *NCP* is the normalised certainty penalty (Xu et al., KDD 2006), the mean label width.
A row that is not released is fully lost. A person is spread evenly over her distinct combinations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.gate.finding import Adversary, GateFinding

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
ANALYST = Adversary("has the source and the release", "release and source")


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """The rows of a source, and the group of released rows that each is in.

    values : (n, q) ints. person : (n,) ints. group : (n,) from 0, or -1 of a row that is not
    released. widths : (groups, q) >= 1, how many values of the domain a label covers. sizes : (q,)
    the values of each domain.
    """

    values: Ints
    person: Ints
    group: Ints
    widths: Floats
    sizes: Sequence[int]

    @property
    def weights(self) -> Floats:
        """(n,) > 0, 1 for each person, spread evenly over her distinct combinations."""
        cell = number_tuples(*self.values.T)
        pair = number_tuples(self.person, cell)
        times = np.bincount(pair)[pair]
        first = np.unique(pair, return_index=True)[1]
        person = number_tuples(self.person)
        cells = np.bincount(person[first])[person]
        return np.asarray(1.0 / (times * cells))


def measure_losses(rows: PlacedRows) -> tuple[GateFinding, ...]:
    """Return the findings `distribution`, `resolution` and `ncp`, each in [0, 1]; lower is better.

    Cost: O(n q log n) time.
    """
    weights, kept = rows.weights, rows.group >= 0
    people = float(weights.sum())
    lost = float(weights[~kept].sum()) / people
    widths = rows.widths[rows.group[kept]]
    shares = (widths - 1) / np.maximum(np.asarray(rows.sizes, float) - 1, 1)
    found = {
        "distribution": _divergence(rows, weights, kept) + lost,
        "resolution": _entropy_lost(rows, weights, kept),
        "ncp": float(weights[kept] @ shares.mean(axis=1)) / people + lost,
    }
    return tuple(ANALYST.finds(n, min(max(x, 0.0), 1.0), "share") for n, x in found.items())


def _divergence(rows: PlacedRows, weights: Floats, kept: NDArray[np.bool_]) -> float:
    people, own = float(weights.sum()), weights[kept]
    spread = np.log(np.asarray(rows.sizes, float)).sum() - np.log(people)
    most = _n_log_n(weights, *rows.values.T) + people * spread
    if most <= 1e-12 * people:
        return 0.0
    group, values = rows.group[kept], rows.values[kept]
    within = _n_log_n(own, group, *values.T) - _n_log_n(own, group)
    return float(within + own @ np.log(rows.widths[group]).sum(axis=1)) / float(most)


def _entropy_lost(rows: PlacedRows, weights: Floats, kept: NDArray[np.bool_]) -> float:
    people, own, group = float(weights.sum()), weights[kept], rows.group[kept]
    lost, shares = people - float(own.sum()), []
    for column in rows.values.T:
        entropy = np.log(people) - _n_log_n(weights, column) / people
        if len(np.unique(column)) > 1:
            within = _n_log_n(own, group) - _n_log_n(own, group, column[kept])
            shares.append((within + lost * entropy) / (people * entropy))
    return float(np.mean(shares)) if shares else 0.0


def _n_log_n(weights: Floats, *keys: Ints) -> float:
    """Return the sum of n log n over the distinct keys, in nats, n their weight."""
    n = np.bincount(number_tuples(*keys), weights) if len(weights) else np.zeros(0)
    n = n[n > 0]
    return float(n @ np.log(n))


def number_tuples(*keys: Ints) -> NDArray[np.int64]:
    """Number the distinct tuples of some columns from 0, (n,)."""
    number = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        own = np.unique(key, return_inverse=True)[1]
        pairs = number * (int(own.max(initial=0)) + 1) + own
        number = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return number
