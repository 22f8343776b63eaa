"""Faces: read off the ends of boxes which exact values their people have, or lack.

A box of a tree ends where a cut was made. If cuts were next to records, each end would be the value
of somebody in the box. Its label would publish the exact least and greatest values (as R-tree
anonymisation does: boxes as narrow as their records). If cuts were in gaps of the sample, no record
would have that value.

The adversary reads the ends of every released interval that is wider than one value. The claim is
that a record of the box has the end's value. If cuts use the sample only for the place of a gap,
the claim is right about as often as for any other value. More often: ends are records. Less often:
they are gaps.
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
    """Claim that the ends of boxes are values of their records, and count by truth.

    Parameters
    ----------
    box, numbers : (rows,) and (rows, columns), the box of each released row and its exact values,
        numbered so that neighbours differ by 1.
    spans : (boxes, columns, 2) first and last value of each box, in the same numbers.
    inner : (boxes, columns, 2) whether that end is a cut, and not the end of the released values.

    Returns
    -------
    Right claims on cuts that end an interval of two values or more. Baseline: the same for another
    value of the interval, drawn at random. Exact but for the draw.
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
    """Return whether a released row has each value of a box and column."""
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
