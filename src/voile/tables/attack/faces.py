"""Infer from the interval boundaries of leaves which exact values occur, or do not occur, in them.

A leaf of a tree ends at a split point. If split points were next to records, each boundary would be
the value of somebody in the leaf. The label would publish the exact least and greatest values.
R-tree anonymisation does this, since its leaves are as narrow as their records. If split points
were in gaps of the sample, no record would have the boundary value.

The adversary reads the boundaries of every released interval wider than one value, and claims that
a record of the leaf has the boundary value. If split points use the sample only for the position of
a gap, the claim is about as often right as for any other value. A higher rate means that boundaries
are records. A lower rate means that they are gaps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Evidence, Finding, Note, Rate

Ints = NDArray[np.int64]


def faces(
    box: Ints,
    numbers: Ints,
    spans: Ints,
    inner: NDArray[np.bool_],
    *,
    columns: Sequence[str],
    rng: np.random.Generator,
) -> Evidence:
    """Claim that the boundaries of leaves are values of their records, and count the true claims.

    Parameters
    ----------
    box : (rows,) the leaf of each released row.
    numbers : (rows, columns) each row's exact values, numbered so that neighbouring values differ
        by 1.
    spans : (boxes, columns, 2) the first and last value of each leaf, as numbers of the same kind.
    inner : (boxes, columns, 2) bool, whether the boundary is a split point. It is False at the ends
        of the released values.

    Returns
    -------
    evidence : the share of right claims on split points that bound an interval of two values or
        more. The baseline claims another random value of the same interval. Exact except for that
        random draw.
    """
    wide = spans[:, :, 1] > spans[:, :, 0]
    at = np.argwhere(inner & wide[:, :, None])
    one, column, side = at.T
    first, last = spans[one, column].T
    ends = spans[one, column, side]
    others = first + 1 - side + np.floor(rng.random(len(at)) * (last - first)).astype(np.int64)
    found, drawn = (_are_held(box, numbers, one, column, values) for values in (ends, others))
    return Evidence(
        attack="box ends",
        heading="inference",
        story=Note(
            (
                "The adversary reads the interval boundaries of {columns} in each leaf, and "
                "claims that a person in the leaf has exactly this value. Success is a value "
                "that a person in the leaf has."
            ),
            {"columns": ", ".join(columns)},
        ),
        knows=tuple(columns),
        findings=(
            Finding(
                "leaf boundaries that are a person's value",
                Rate.by_subject(found.tolist(), one.tolist()),
                baseline=Rate.by_subject(drawn.tolist(), one.tolist()),
                meaning=(
                    "The baseline is another value of the same interval, at random. A larger share "
                    "means that boundaries lie at values of records. A smaller share means that "
                    "they lie in gaps, at values that no person in the leaf has."
                ),
            ),
        ),
    )


def _are_held(
    box: Ints, numbers: Ints, of: Ints, column: NDArray[np.intp], values: Ints
) -> NDArray[np.bool_]:
    """Return whether a released row of the given leaf has each value in the given column."""
    found = np.zeros(len(values), dtype=np.bool_)
    for j in range(numbers.shape[1]):
        claims = column == j
        known, place = np.unique(numbers[:, j], return_inverse=True)
        at = np.searchsorted(known, values[claims])
        stands = at < len(known)
        stands[stands] = known[at[stands]] == values[claims][stands]
        held = np.unique(box * len(known) + place)
        found[claims] = stands & np.isin(of[claims] * len(known) + at, held)
    return found
