"""Downcoding: recover finer values from boxes that k alone would have cut, but did not.

The adversary knows that the tree was grown to lose least, under k and nothing else. A box of n
people, 2 k or more, was not cut, so in every column no cut leaves k people on both sides. Then at
least n - 2 (k - 1) of its people share one exact value of that column. Fewer than k people are
below it and fewer than k above. The adversary names the value that most people of the population
have, within the box. Cohen (Attacks on deidentification's defenses, USENIX Security 2022) undoes
hierarchical generalisation from the same minimality.

The attack assumes that nothing was pruned for less risk. If it was, a box may be uncut for that
alone, and the claimed share is too high.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.tables.attack.exact import ExactRows

Floats = NDArray[np.float64]


def downcoding(
    people: ExactRows,
    register: ExactRows,
    weights: NDArray[np.int64],
    *,
    least: int,
    columns: Sequence[str],
    rng: np.random.Generator,
) -> Evidence:
    """Name one exact value for all people of each box that k would have cut.

    `weights` (entries,) are the people of each entry of the register. The adversary claims nothing
    if the population's share of the value is at least the share that minimality implies: then
    nothing is learnt. A random sample is taken if there are more than 5,000 boxes of 2 k people;
    else the result is exact.
    """
    right: list[float] = []
    expected: list[float] = []
    trials: list[int] = []
    for group in people.groups_of(2 * least, rng):
        own, theirs = people.places[people.rows_of(group)], register.rows_of(group)
        n = len(own)
        for values, known in zip(own.T, register.places[theirs].T, strict=True):
            counted = np.bincount(known, weights[theirs])
            share = counted.max(initial=0.0) / max(counted.sum(), 1.0)
            if 0 < share < 1 - 2 * (least - 1) / n:
                right.append(float((values == counted.argmax()).sum()))
                expected.append(share * n)
                trials.append(n)
    return Evidence(
        attack="downcoding",
        heading="inference",
        story=Note(
            (
                "The adversary knows that the search splits a leaf unless a part would have "
                "fewer than k = {least} people. If a leaf of at least twice as many people was "
                "not split, nearly all of them share one value of each column. The adversary "
                "names the value that is most frequent in the population. Success is a person "
                "with this value."
            ),
            {"least": least},
        ),
        knows=tuple(columns),
        findings=(
            Finding(
                "exact values named in leaves that k left unsplit",
                Rate.from_clusters(right, trials),
                baseline=Rate.from_clusters(expected, trials),
                meaning=(
                    "Baseline: the share of the population within the leaf that has the named "
                    "value. Only the excess over the baseline follows from the missing splits."
                ),
            ),
        ),
        notes=(
            Note(
                "The attack assumes that the policy has the least loss. If it was pruned for "
                "less risk, some leaves are unsplit for that reason alone, and they mislead "
                "the adversary."
            ),
        ),
    )
