"""Fit the policy again for each value of one person, and keep the values that reproduce it.

The adversary knows all rows except one value of one person, the public files, the program and its
options. The person's released group limits the value, since the other rows account for all other
members of the groups. The adversary puts each value of that group into the row, and makes the
release again. A value stays possible if the policy and the public figures are the same. A tree
splits where the gain is largest, so one more row on one side of a near tie moves the split point.
The runs of marginals depend on the data as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voile.core.evidence import Count, Evidence, Finding, Note, Rate

GROUP, POLICY, MARGINALS = "the group alone", "the policy regrown", "the policy and the marginals"
POSSIBLE, GUESSED = "values that remain possible", "values guessed right"


@dataclass(frozen=True, kw_only=True)
class RemainingValues:
    """The numbers of values of one person's column that remain possible for an adversary.

    Attributes
    ----------
    candidates : the number of values of the column.
    group : the number of values of the released group.
    policy : the number of values that give the same policy and public figures.
    marginals : the number of values that give the same marginals as well.
    frequent : the share of the other rows with the most frequent value.
    """

    candidates: int
    group: int
    policy: int
    marginals: int
    frequent: float


def regrowing(
    values: Sequence[RemainingValues], *, column: str, columns: Sequence[str]
) -> Evidence:
    """Count the values of a column that remain, and guess one at random.

    The result is exact for the given people.

    >>> one = RemainingValues(candidates=70, group=20, policy=4, marginals=2, frequent=0.05)
    >>> found = regrowing([one], column="age", columns=["age", "sex"]).findings
    >>> [each.rate.successes for each in found if each.quantity == POSSIBLE]
    [20, 4, 2]
    """
    ways = {
        GROUP: [one.group for one in values],
        POLICY: [one.policy for one in values],
        MARGINALS: [one.marginals for one in values],
    }
    every, people = [one.candidates for one in values], [1] * len(values)
    frequent = Rate.from_clusters([one.frequent for one in values], people)
    few, whole = min(zip(ways[MARGINALS], every, strict=True), default=(0, 0))
    possible = [
        Finding(
            POSSIBLE,
            Rate.from_clusters(left, every),
            by=way,
            meaning=(
                "The number of values of the column that no public file rules out. The release "
                "shows a person's group by design. If fewer values remain than the group has, "
                "the choice of the policy or the marginals reveal something about the person."
            ),
        )
        for way, left in ways.items()
    ]
    guessed = [
        Finding(
            GUESSED,
            Rate.from_clusters([1 / one for one in left], people),
            baseline=frequent,
            by=way,
            meaning=(
                "The expected number of correct guesses, at random among the remaining values. "
                "Baseline: the most frequent value of the other rows, without the release."
            ),
        )
        for way, left in ways.items()
    ]
    return Evidence(
        attack="regrowing",
        heading="inference",
        story=Note(
            (
                "The adversary knows the public files, the program, its options, and the "
                "source except one person's {column}. The adversary makes the release again "
                "for each value that the person's released group allows, and keeps the values "
                "that give the same public files. Success is a correct guess among them."
            ),
            {"column": column},
        ),
        knows=tuple(columns),
        findings=(*possible, *guessed),
        notes=(
            Note(
                "Smallest number of values that remain possible for a person: {few} of {whole}.",
                {"few": Count(few), "whole": whole},
                by=MARGINALS,
            ),
        ),
        of=column,
    )
