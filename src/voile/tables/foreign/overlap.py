"""Attack a release with overlapping leaves: count the people who fit each leaf by exact values.

Releases overlap if cells were suppressed individually: one person may then fit the leaves of many
rows. For each released row, the adversary considers everybody with values that its cells could
represent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Evidence, Note
from voile.report.wording import join_names
from voile.tables.attack.linkage import LinkageClaims, curves_of, findings_at, own_entries
from voile.tables.attack.records import (
    IntervalRecords,
    distinct_pairs,
    distinct_rows,
    first_of_each,
)
from voile.tables.foreign.boxes import Bits, Codes, fits, people_in


def count_fitting(holds: Sequence[Bits]) -> Callable[[Codes, IntervalRecords], NDArray[np.int64]]:
    """Return a function that counts the subjects with a row in each leaf, by their values."""

    def count(boxes: Codes, people: IntervalRecords) -> NDArray[np.int64]:
        values, place = distinct_rows(people.codes)
        subject, value = distinct_pairs(people.subject, place)
        several = np.isin(subject, subject[1:][subject[1:] == subject[:-1]])
        alone = np.bincount(value[~several], minlength=len(values))
        total = people_in(holds, boxes, values, alone).astype(np.int64)
        rows = np.flatnonzero(several)
        if len(rows):
            begins = first_of_each(subject[rows])
            whole = np.hstack([fit for _, fit in fits(holds, boxes, values[value[rows]])])
            total += np.logical_or.reduceat(whole, begins, axis=1).sum(axis=1)
        return total

    return count


def link_by_fit(
    holds: Sequence[Bits],
    release: IntervalRecords,
    register: IntervalRecords,
    *,
    columns: Sequence[str],
    rng: np.random.Generator,
    thresholds: Sequence[float],
) -> Evidence:
    """Name, for each released person, one of the register's entries that fit the released row.

    Parameters
    ----------
    release : the cell numbers of released rows.
    register : the values of the entries. -1 is a missing value, which fits any cell.
    thresholds : the smallest posteriors at which the adversary makes a claim.

    A subject with several rows gets one claim, from the row that the fewest entries fit.
    """
    boxes, place = distinct_rows(release.codes)
    values, value = distinct_rows(register.codes)
    entries = np.bincount(value, minlength=len(values))
    fitting = people_in(holds, boxes, values, entries).astype(np.int64)
    subject, box = distinct_pairs(release.subject, place)
    fewest = np.lexsort((np.where(fitting[box] > 0, fitting[box], len(register) + 1), subject))
    chosen = fewest[first_of_each(subject)]
    subject, box = subject[chosen], box[chosen]
    of, entry = own_entries(subject, register.subject)
    own = _fits_each(holds, boxes[box[of]], register.codes[entry])
    hits = np.bincount(of[own], minlength=len(subject))
    count = np.maximum(fitting[box], 1)
    claims = LinkageClaims(
        subject,
        np.where(fitting[box] > 0, 1 / count, 0.0),
        hits / count,
        np.bincount(of, minlength=len(subject)) / max(len(register), 1),
        np.isin(subject, register.subject),
    )
    right = rng.random(len(subject)) < claims.right
    guessed = rng.random(len(subject)) < claims.guessed
    return Evidence(
        attack="linkage",
        heading="linkability",
        story=Note(
            "The adversary holds a register of named people. For each released record, the "
            "adversary finds everybody who fits all of its cells in {columns}, and names one of "
            "them at random. Success is to name the person whose record it is.",
            {"columns": join_names(columns or ("no column",))},
        ),
        knows=tuple(columns),
        findings=tuple(f for t in thresholds for f in findings_at(claims, right, guessed, t)),
        curves=curves_of(claims, right),
        notes=(
            Note("Baseline: a name drawn at random from the whole register."),
            Note(
                "The released boxes overlap, so entries are compared by fit alone. An adversary "
                "may do better by allowing for errors of the register, or by assigning the "
                "entries to all records together."
            ),
        ),
    )


def _fits_each(holds: Sequence[Bits], boxes: Codes, values: Codes) -> Bits:
    """Return whether the values of each pair fit its leaf."""
    found = np.ones(len(boxes), dtype=np.bool_)
    for held, own, value in zip(holds, boxes.T, values.T, strict=True):
        known = np.clip(value, 0, held.shape[1] - 1)
        found &= (value < 0) | (held[own, known] & (value < held.shape[1]))
    return found
