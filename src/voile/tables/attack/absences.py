"""Absences: name people who are not in the source, because no released group has room for them.

The adversary has the release, its codebook and a register of the population. A person in none of
the released boxes is not in the release. If no row was suppressed or rejected, this person is not
in the source either. The claim needs no link to a record.

The tree's codebook lists only boxes with released rows. A global policy's release also shows which
combinations of intervals it has. A tree without empty boxes has room for everybody, so the attack
proves nothing. With empty boxes it proves most of a population absent. Cohen (Attacks on
deidentification's defenses, USENIX Security 2022) reads a release's gaps in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.tables.attack.records import MISSING, distinct_rows

Bits = NDArray[np.bool_]
Counted = NDArray[np.int64]


def outside(codes: NDArray[np.int32], released: NDArray[np.int32]) -> Bits:
    """Return which rows of codes are in no released group; one that lacks a value may be in any.

    >>> released = np.array([[0, 0], [1, 1]], np.int32)
    >>> outside(np.array([[0, 0], [0, 1], [0, -1]], np.int32), released).tolist()
    [False, True, False]
    """
    _, place = distinct_rows(np.concatenate([released, codes]))
    own = np.isin(place[len(released) :], place[: len(released)])
    return np.asarray(~own & (codes > MISSING).all(axis=1))


def absences(
    claimed: Bits, apart: Bits, people: Counted, present: Counted, *, columns: Sequence[str]
) -> Evidence:
    """Claim that people are not in the source, and count by truth.

    Parameters
    ----------
    claimed, apart : (entries,) whether an entry of the register is in no released group, and
        whether one of its values alone is in no released interval.
    people, present : (entries,) people of each entry, and those of them who are in the source.

    Returns
    -------
    The share of people proved absent (baseline: people whom a single column's intervals leave out).
    Also the share of true claims (baseline: claiming it of anybody). Exact.
    """
    everybody, absent = int(people.sum()), int((people - present).sum())
    of_claims, true = int(people[claimed].sum()), int((people - present)[claimed].sum())
    alone = int((people - present)[apart].sum())
    return Evidence(
        attack="absences",
        heading="inference",
        story=Note(
            (
                "The adversary looks up the people of the register who fit no released group "
                "of {columns}, and claims that they are not in the source. Success is a true "
                "claim. Both being a patient and not being one can be sensitive."
            ),
            {"columns": ", ".join(columns)},
        ),
        knows=tuple(columns),
        findings=(
            Finding(
                "people shown to be absent from the source",
                Rate(true, everybody),
                baseline=Rate(alone, everybody),
                meaning=(
                    "The share of the register's people who fit no released group and are not in "
                    "the source. Baseline: the share of people excluded by the intervals of a "
                    "single column."
                ),
            ),
            Finding(
                "claims of absence that are true",
                Rate(true, of_claims),
                baseline=Rate(absent, everybody),
                meaning=(
                    "The share of the people in no released group who are absent from the source. "
                    "Baseline: the share of the register that is absent. Suppressed people make a "
                    "claim false."
                ),
            ),
        ),
    )
