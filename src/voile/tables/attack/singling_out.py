"""Single out people: write a description that fits exactly one person.

The adversary takes each record that is unique in the release in the known columns. Each record
becomes a predicate ("a woman of 40-44 in 3720x who ..."). The attack needs no name and no register.
It succeeds if exactly one person of the whole population fits (the framework of anonymeter: Giomi
et al. 2023). Cohen and Nissim 2020 explain why the baseline needs predicates of the same weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.tables.attack.records import (
    IntervalRecords,
    distinct_pairs,
    distinct_rows,
    each_subject_once,
    first_of_each,
    same_columns,
)

ALONE = "unique in the release"
ALL_ROWS = "unique in the release by all rows of a person"
POOL = 20
Count = Callable[[NDArray[np.int32], IntervalRecords], NDArray[np.int64]]


def uniques(records: IntervalRecords) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the combinations (p, q) that only one subject has, and that subject (p,).

    A missing value counts as a separate value. Cost: O(q n log n).

    >>> r = IntervalRecords(np.array([[0], [0], [1], [1]], dtype=np.int32), np.array([5, 6, 7, 7]))
    >>> [x.tolist() for x in uniques(r)]
    [[[1]], [7]]
    """
    combinations, place = distinct_rows(records.codes)
    subject, combination = distinct_pairs(records.subject, place)
    alone = np.bincount(combination, minlength=len(combinations)) == 1
    owner = np.empty(len(combinations), dtype=np.int64)
    owner[combination] = subject
    return combinations[alone], owner[alone]


def fitting(predicates: NDArray[np.int32], people: IntervalRecords) -> NDArray[np.int64]:
    """Count the people who are equal to each predicate (p, q), including its missing values."""
    _, place = distinct_rows(np.concatenate([predicates, people.codes]))
    _, group = distinct_pairs(people.subject, place[len(predicates) :])
    return np.bincount(group, minlength=int(place.max(initial=-1)) + 1)[place[: len(predicates)]]


def drawn_from_margins(
    predicates: NDArray[np.int32], records: IntervalRecords, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Draw the same number of predicates, of the same weight, from the margins of the release.

    The weight of a predicate is the product of its values' shares in the release. A pool 20 times
    as large is drawn, column by column and independently. Each given predicate is matched with the
    one of nearest weight in the pool. The margins count a subject once for each combination.
    """
    if len(predicates) == 0:
        return predicates
    margins = each_subject_once(records).codes.T
    p = len(predicates)
    pool = np.empty((POOL * p, predicates.shape[1]), dtype=np.int32)
    weights, target = np.zeros(len(pool)), np.zeros(p)
    for j, column in enumerate(margins):
        share = np.bincount(column + 1) / len(column)
        pool[:, j] = rng.choice(len(share), len(pool), p=share) - 1
        weights += np.log(share[pool[:, j] + 1])
        target += np.log(share[predicates[:, j] + 1])
    order = np.argsort(weights, kind="stable")
    weights = weights[order]
    after = np.clip(np.searchsorted(weights, target), 1, len(pool) - 1)
    nearest = after - (target - weights[after - 1] <= weights[after] - target)
    return pool[order[nearest]]


def singling_out(
    release: IntervalRecords,
    population: IntervalRecords,
    *,
    columns: Sequence[str],
    rng: np.random.Generator,
    kept: NDArray[np.int32] | None = None,
    held_out: IntervalRecords | None = None,
    people: IntervalRecords | None = None,
    joined: bool = False,
    count: Count = fitting,
) -> Evidence:
    """Test every predicate that isolates a released person against the population.

    `count` counts the people who fit each predicate. If it uses other codes than the release,
    `people` are the released people in those codes.

    The findings are:

    - the share of predicates that fit one person of the population. The baseline uses random
      predicates of the same weight,
    - the same share among equal numbers of released and of held-out people,
    - the shares of subjects that are unique in the release, in the known columns, and with the
      `kept` columns,
    - the share that is unique by all rows, if pseudonyms make the rows of a person `joined`.

    A released person outside the population never counts as singled out. Exact except for the two
    random draws.
    """
    same_columns(columns, release, population, held_out)
    described = uniques(release)
    owner = described[1]
    findings = [_in_population(described, release, population, rng, count)]
    if held_out is not None:
        findings.append(_against_held_out(described, people or release, held_out, rng, count))
    described_alone = any(one.rate.trials for one in findings)
    subjects = len(np.unique(release.subject))
    findings.append(
        Finding(
            ALONE,
            Rate(len(np.unique(owner)), subjects),
            meaning="No other person in the release has the same values in the known columns.",
        )
    )
    if joined and (by_all := _by_all_rows(release, subjects)):
        findings.append(by_all)
    if kept is not None:
        findings.append(_with_kept(release, kept, subjects))
    return Evidence(
        attack="singling out",
        heading="singling out",
        story=Note(
            "The adversary has no register and no names. The adversary takes each released "
            "record that is unique in the known columns, and uses it as a description of a "
            "person. Success is a description that fits exactly one person of the whole "
            "population."
        ),
        knows=tuple(columns),
        findings=tuple(findings),
        notes=(
            *([_BASELINE] if described_alone else []),
            Note(
                "A description that fits nobody, or more than one person, fails. A missing "
                "value counts as a separate value."
            ),
        ),
    )


_BASELINE = Note(
    "Baseline: random descriptions, combined from the release's columns one by "
    "one, as rare as the adversary's."
)


def _in_population(
    described: tuple[NDArray[np.int32], NDArray[np.int64]],
    release: IntervalRecords,
    population: IntervalRecords,
    rng: np.random.Generator,
    count: Count,
) -> Finding:
    predicates, owner = described
    random = drawn_from_margins(predicates, release, rng)
    return Finding(
        "descriptions that fit one person of the population",
        _isolating(count(predicates, population), owner),
        baseline=_isolating(count(random, population)),
        meaning="The share of the descriptions of one released person that fit one person among "
        "everybody.",
    )


def _isolating(fit: NDArray[np.int64], owner: NDArray[np.int64] | None = None) -> Rate:
    """Return the rate of predicates that `fit` one person, clustered by their owners."""
    hits = fit == 1
    if owner is None:
        return Rate(int(hits.sum()), len(hits))
    return Rate.by_subject(hits.tolist(), owner.tolist())


def _against_held_out(
    described: tuple[NDArray[np.int32], NDArray[np.int64]],
    release: IntervalRecords,
    held_out: IntervalRecords,
    rng: np.random.Generator,
    count: Count,
) -> Finding:
    """Compare equal numbers of released and held-out people.

    The numbers must be equal since isolation depends on them.
    """
    predicates, owner = described
    released, others = np.unique(release.subject), np.unique(held_out.subject)
    n = min(len(released), len(others))
    inside, outside = (
        part.select(np.isin(part.subject, rng.choice(people, n, replace=False)))
        for part, people in ((release, released), (held_out, others))
    )
    return Finding(
        "descriptions that fit one person of a small group",
        _isolating(count(predicates, inside), owner),
        control=_isolating(count(predicates, outside), owner),
        meaning="The group is drawn from the released people. The control draws as many people "
        "who were held out and never released.",
    )


def _by_all_rows(release: IntervalRecords, subjects: int) -> Finding | None:
    """Count people who are unique by all their combinations, or None if each has only one."""
    subject, place = distinct_pairs(release.subject, distinct_rows(release.codes)[1])
    if len(subject) == subjects:
        return None
    own = Counter(part.tobytes() for part in np.split(place, first_of_each(subject)[1:]))
    return Finding(
        ALL_ROWS,
        Rate(sum(people == 1 for people in own.values()), subjects),
        meaning=(
            "Pseudonyms show which rows belong to one person. No other person in the "
            "release has the same rows in the known columns."
        ),
    )


def _with_kept(release: IntervalRecords, kept: NDArray[np.int32], subjects: int) -> Finding:
    if kept.shape[:1] != release.subject.shape:
        raise RequestError(
            f"{len(kept)} rows of kept columns for {len(release)} released rows",
            instead="give the kept columns of the release itself",
        )
    _, owner = uniques(IntervalRecords(np.hstack([release.codes, kept]), release.subject))
    return Finding(
        "unique in the release with its kept columns",
        Rate(len(np.unique(owner)), subjects),
        meaning=(
            "No other person in the release has the same values if the kept columns also "
            "count as known."
        ),
    )
