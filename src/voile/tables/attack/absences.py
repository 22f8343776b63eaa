"""Infer that a person is absent from the source, because no released group can contain the person.

The adversary has the release, its codebook and a register of the population. A person who fits no
released group is not in the release. If no row was suppressed or rejected, this person is not in
the source either. The claim does not require a link to a record.

A tree's codebook lists only leaves with released rows. A global policy's release also shows which
combinations of intervals it contains. A tree without empty leaves covers everybody, so the attack
proves nothing. With empty leaves, the attack proves that most of a population is absent. Cohen
(Attacks on deidentification's defenses, USENIX Security 2022) uses a release's gaps in the same
way.
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
    """Return a mask of the rows of `codes` that belong to no released group.

    A row with a missing value may belong to any group, so it is never in the mask.

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
    """Claim that people are not in the source, and count the true claims.

    Parameters
    ----------
    claimed : (entries,) bool, entries of the register that belong to no released group.
    apart : (entries,) bool, entries with a value that is in no released interval of its own column.
    people : (entries,) int, the number of people of each entry.
    present : (entries,) int, the number of these people who are in the source.

    Returns
    -------
    evidence : the share of people who are proved absent, and the share of claims that are true. The
        baseline of the first uses the intervals of one column at a time. The baseline of the second
        is the claim about a random person. Exact.
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
