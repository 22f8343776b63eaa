"""Infer a person's sensitive value from the group of records with the same quasi-identifiers.

The adversary knows a person's quasi-identifiers, and knows that the person is in the release. The
guess is the most frequent sensitive value of the records with the same intervals. If several values
are equally frequent, one is drawn at random. If no record has these intervals, the nearest group is
used. The attack succeeds if the person has the guessed value. Guesses that are as good for people
who were never released are knowledge about groups, which is the purpose of a release. Only the
difference is a leak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.tables.attack.records import (
    MISSING,
    IntervalRecords,
    distinct_pairs,
    distinct_rows,
    first_of_each,
    same_columns,
)

ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class SensitiveRecords:
    """Records with a sensitive value: `values` (n,) int32 >= -1, where -1 means missing."""

    records: IntervalRecords
    values: NDArray[np.int32]

    def __post_init__(self) -> None:
        if self.values.shape != self.records.subject.shape:
            raise RequestError(
                f"{len(self.values)} sensitive values for {len(self.records)} rows",
                instead="give one value for each row, -1 where it is missing",
            )

    def select_known(self) -> SensitiveRecords:
        """Return the rows with a known sensitive value."""
        has = self.values > MISSING
        return SensitiveRecords(self.records.select(has), self.values[has])


@dataclass(frozen=True)
class SensitiveClasses:
    """The equivalence classes of a release, with the subjects of each sensitive value.

    Attributes
    ----------
    combinations : (c, q) the values of each class, in lexicographic order.
    size : (c,) the number of (subject, value) pairs of each class.
    of, value, count : the class, the value and the number of subjects of each value that occurs in
        a class, ordered by class.
    """

    combinations: NDArray[np.int32]
    size: NDArray[np.int64]
    of: NDArray[np.intp]
    value: NDArray[np.int64]
    count: NDArray[np.int64]


def classes(cases: SensitiveRecords) -> SensitiveClasses:
    """Group records by combination and sensitive value, and count each subject once in each.

    Cost: O(q n log n).
    """
    cases = cases.select_known()
    combinations, place = distinct_rows(cases.records.codes)
    values = int(cases.values.max(initial=-1)) + 1
    _, cell = distinct_pairs(cases.records.subject, place * max(values, 1) + cases.values)
    cells, count = np.unique(cell, return_counts=True)
    of, value = np.divmod(cells, max(values, 1))
    size = np.bincount(of, weights=count, minlength=len(combinations)).astype(np.int64)
    return SensitiveClasses(combinations, size, of, value, count)


def class_of(codes: NDArray[np.int32], known: SensitiveClasses) -> NDArray[np.intp]:
    """Find the class of each row, or the nearest class if no class has the row's values.

    The nearest class differs in the fewest columns. Among equally near classes it is the largest.
    """
    c = len(known.combinations)
    distinct, place = distinct_rows(codes)
    _, ids = distinct_rows(np.concatenate([known.combinations, distinct]))
    at = np.full(int(ids.max(initial=-1)) + 1, -1, dtype=np.intp)
    at[ids[:c]] = np.arange(c)
    found = at[ids[c:]]
    empty = np.flatnonzero(found < 0)
    largest_first = np.argsort(-known.size, kind="stable")
    theirs = np.ascontiguousarray(known.combinations[largest_first].T)
    for start in range(0, len(empty), ROWS_AT_ONCE):
        rows = empty[start : start + ROWS_AT_ONCE]
        differ = np.zeros((len(rows), c), dtype=np.uint16)
        for mine, column in zip(distinct[rows].T, theirs, strict=True):
            differ += mine[:, None] != column
        found[rows] = largest_first[np.argmin(differ, axis=1)]
    return found[place]


@dataclass(frozen=True)
class ValueGuesses:
    """The adversary's guesses for the targets (n,), before ties are broken.

    Attributes
    ----------
    right : the share of the class's most frequent values that the target has.
    certain : whether the target's own class has only one value, and the target has it.
    """

    right: NDArray[np.float64]
    certain: NDArray[np.bool_]


def guess(targets: SensitiveRecords, known: SensitiveClasses) -> ValueGuesses:
    """Guess the sensitive value of each target subject once, from the lexicographically first row.

    A guess is right if it is one of the subject's values.
    """
    targets = targets.select_known()
    combinations, place = distinct_rows(targets.records.codes)
    subject, combination = distinct_pairs(targets.records.subject, place)
    first = first_of_each(subject)
    subject, codes = subject[first], combinations[combination[first]]
    if len(known.combinations) == 0:
        return ValueGuesses(np.zeros(len(subject)), np.zeros(len(subject), dtype=bool))
    at = class_of(codes, known)
    top = np.zeros(len(known.combinations), dtype=np.int64)
    np.maximum.at(top, known.of, known.count)
    modes = known.count == top[known.of]
    c = len(top)
    tied = np.bincount(known.of[modes], minlength=c)
    kinds = np.bincount(known.of, minlength=c)
    own = _own_modes(targets, subject, at, known, modes)
    exact = np.all(known.combinations[at] == codes, axis=1)
    return ValueGuesses(own / tied[at], (kinds[at] == 1) & exact & (own == 1))


def _own_modes(
    targets: SensitiveRecords,
    subject: NDArray[np.int64],
    at: NDArray[np.intp],
    known: SensitiveClasses,
    modes: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Count each subject's values that are most frequent in the class used for the guess."""
    values = int(max(known.value.max(), targets.values.max(initial=0))) + 1
    who, value = distinct_pairs(targets.records.subject, targets.values.astype(np.intp))
    position = np.searchsorted(subject, who)
    wanted = at[position] * values + value
    hit = np.isin(wanted, known.of[modes] * values + known.value[modes])
    return np.bincount(position[hit], minlength=len(subject))


def inference(
    release: SensitiveRecords,
    *,
    columns: Sequence[str],
    sensitive: str,
    rng: np.random.Generator,
    held_out: SensitiveRecords | None = None,
    targets: SensitiveRecords | None = None,
) -> Evidence:
    """Infer a sensitive column of released people, and compare with people never released.

    `targets` are the released people as the adversary knows them, if that differs from the release.
    The first finding is the rate of right guesses. Its control is the rate for `held_out`, and its
    baseline always guesses the release's most frequent value. The second finding is the share of
    targets with a certain value. Exact except for ties.
    """
    control = None if held_out is None else held_out.records
    same_columns(columns, release.records, control)
    known = classes(release)
    people = targets or release
    hits = guess(people, known)
    most = guess(_blind(people), classes(_blind(release)))
    others = None if held_out is None else guess(held_out, known)
    rate, baseline = _draw_successes(hits, rng), _draw_successes(most, rng)
    control_rate = None if others is None else _draw_successes(others, rng)
    return Evidence(
        attack="inference",
        heading="inference",
        of=sensitive,
        story=Note(
            (
                "The adversary knows a person's {columns} and that the person is in the "
                "release. The guess is the most frequent {sensitive} of the records with the "
                "same released values. Success is a correct guess."
            ),
            {"columns": ", ".join(columns) or "presence only", "sensitive": sensitive},
        ),
        knows=tuple(columns),
        findings=(
            Finding(
                f"{sensitive} guessed correctly",
                rate,
                baseline=baseline,
                control=control_rate,
                advantage=True,
            ),
            Finding(
                f"{sensitive} certain",
                _share(hits.certain),
                control=None if others is None else _share(others.certain),
                meaning=(
                    "All records of the person's group have the same value, so the adversary need "
                    "not guess. In the control, the outsider also has this value."
                ),
            ),
        ),
        notes=(
            Note(
                "If a guess is as good for people who were never released, it comes from "
                "knowledge about groups. It is not a leak about a person."
            ),
            Note("Baseline: always the release's most frequent value."),
        ),
    )


def _blind(cases: SensitiveRecords) -> SensitiveRecords:
    """Return the records without quasi-identifiers, so that all belong to one class."""
    nothing = np.zeros((len(cases.values), 0), dtype=np.int32)
    return SensitiveRecords(IntervalRecords(nothing, cases.records.subject), cases.values)


def _draw_successes(guesses: ValueGuesses, rng: np.random.Generator) -> Rate:
    return _share(rng.random(len(guesses.right)) < guesses.right)


def _share(hit: NDArray[np.bool_]) -> Rate:
    """Return the rate of `hit`, with one trial per subject: the design effect is 1."""
    return Rate(int(hit.sum()), len(hit))
