"""Recover exact values from leaves that k people alone would have allowed to split.

The adversary knows that the tree was grown for the least loss, with k as the only constraint. A
leaf of n people, n >= 2 k, was not split, so no split in any column leaves k people on both sides.
Therefore at least n - 2 (k - 1) of its people share one exact value of each column. Fewer than k
people have lower values, and fewer than k have higher values. The adversary names the value that is
most frequent in the population within the leaf. Cohen (Attacks on deidentification's defenses,
USENIX Security 2022) reverses hierarchical generalisation with the same minimality argument.

The attack assumes that the tree was not pruned for lower risk. If it was, pruning alone may explain
why a leaf has no split, and the claimed share is too high.
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
    """Name one exact value for all people of each leaf of at least 2 k people.

    `weights` (entries,) is the number of people of each entry of the register. The adversary makes
    no claim if the population's share of the value is at least the share that minimality implies.
    The release then adds no information. The result is exact, except that a random sample of 5,000
    leaves is used if there are more leaves of 2 k people.
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
