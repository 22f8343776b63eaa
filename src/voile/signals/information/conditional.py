"""Mutual information between messages and the class, given the adversary's known columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.evidence import Z95
from voile.keys.random import RandomState, streams
from voile.signals.information import mutual
from voile.signals.information.leakage import ClassInformation
from voile.signals.model.codec.given import as_labels, as_table
from voile.signals.model.codec.pieces import Floats

BLOCK = 20  # people with similar side columns, among whom messages are shuffled


def conditional_information(
    Z: ArrayLike,
    c: ArrayLike,
    K: ArrayLike,
    *,
    neighbours: int = mutual.NEIGHBOURS,
    permutations: int = mutual.PERMUTATIONS,
    random_state: RandomState = 0,
) -> ClassInformation:
    """Estimate I(Z; C | K) = I(Z, K; C) - I(K; C) by nearest neighbours.

    Parameters
    ----------
    Z : (n, d) numbers, one message of each person. c : (n,) classes.
    K : (n, q) numbers that the adversary knows. Encode a column of names as one column of 0 and 1
        for each value.
    neighbours, permutations, random_state : as for `mutual_information`. The null shuffles messages
        among 20 people with similar K.

    Both terms are Ross's estimates on the same people, so the information in K alone cancels. The
    difference is biased towards 0 if K has many columns.
    """
    deals, ties = streams(random_state, "deals", "ties")
    messages, beside = (_even(as_table(one).astype(np.float64), ties) for one in (Z, K))
    codes = np.unique(as_labels(np.asarray(c)), return_inverse=True)[1]
    alone = mutual.contributions(beside, codes, neighbours)

    def parts(order: NDArray[np.intp]) -> Floats:
        both = np.concatenate([messages[order], beside], axis=1)
        return np.asarray(mutual.contributions(both, codes, neighbours) - alone)

    own = parts(np.arange(len(codes)))
    null = np.array([parts(_dealt(beside, deals)).mean() for _ in range(permutations)])
    bits, error = float(own.mean()), Z95 * float(own.std()) / np.sqrt(len(own))
    whole = mutual.mutual_information(Z, c, permutations=0)
    return replace(
        whole,
        bits=bits,
        low=bits - error,
        high=bits + error,
        null=float(np.quantile(null, 0.95)) if len(null) else float("nan"),
        p_value=float((1 + (null >= bits).sum()) / (1 + len(null))) if len(null) else float("nan"),
    )


def _even(table: Floats, ties: np.random.Generator) -> Floats:
    """Scale columns to the same spread, and break ties with a tiny jitter."""
    spread = table.std(axis=0)
    return np.asarray(table / np.where(spread > 0, spread, 1) + ties.normal(0, 1e-9, table.shape))


def _dealt(beside: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """Shuffle rows among people with similar side columns."""
    order = np.lexsort(beside.T[::-1])
    place = np.arange(len(order)) // BLOCK
    mixed = order[np.lexsort((rng.random(len(order)), place))]
    dealt = np.empty_like(order)
    dealt[order] = mixed
    return dealt
