"""Count the people who share an adversary's knowledge of a row.

The knowledge can be some of the items (containment), the exact row, or at most m items.

Source: definitions 3-6 of Zhang, Mohammed, Dave, Al Hasan, "Feature Selection for Classification
under Anonymity Constraint", Transactions on Data Privacy 2017. Also k^m-anonymity of Terrovitis,
Mamoulis, Kalnis, "Privacy-preserving Anonymization of Set-valued Data", VLDB 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.itemsets.rows.incidence import Features, Incidence
from voile.itemsets.rows.labels import LabelsLike, RowLabels


def anonymity(X: Any, features: Features | None = None) -> int:
    """Return AC(D), the largest k for which the rows are k-anonymous by containment (Def. 6).

    The adversary knows some or all of a person's items, but not which items the person lacks. For
    every person, at least AC(D) subjects have all of these items.

    Parameters
    ----------
    X : an `Incidence`, or input of `Incidence.of`.
    features : the published features, in a form that `Incidence.project` accepts. None for all.

    Returns
    -------
    A number of subjects, >= 1: the least `row_anonymity`. If every row is empty, it is the number
    of all subjects.

    Cost: O(ones). Each pattern with fewer subjects than the least so far adds the rows of its
    rarest feature.

    >>> anonymity(np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0]]))
    2
    >>> anonymity(np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0]]), features=[0])
    3
    """
    from voile.itemsets.kernels.containment import least_support

    rows = _project_published(X, features)
    return int(least_support(rows.groups, rows.longest_first, rows.n_subjects))


def row_anonymity(
    X: Any, features: Features | None = None, *, rows: NDArray[np.integer] | None = None
) -> NDArray[np.int64]:
    """Return AC(e) of each row: the number of subjects with a row that contains it (Def. 5).

    The row's own subject is counted too. The parameters are those of `anonymity`. `rows` : the row
    numbers to count. None for all.

    >>> row_anonymity(np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]])).tolist()
    [2, 2, 3, 4]
    """
    from voile.itemsets.kernels.containment import pattern_supports

    shown = _project_published(X, features)
    counted = shown.pattern if rows is None else shown.pattern[rows]
    some, place = np.unique(counted, return_inverse=True)
    return pattern_supports(shown.groups, some.astype(np.int32))[place]


def containment_set(X: Any, row: int, features: Features | None = None) -> NDArray[np.intp]:
    """Return CS(e): the rows that contain row number `row`, including that row itself (Def. 3)."""
    from voile.itemsets.kernels.containment import containers_of

    rows = _project_published(X, features)
    if not 0 <= row < rows.n_rows:
        raise RequestError(f"there is no row {row}", instead=f"rows are 0 to {rows.n_rows - 1}")
    return np.flatnonzero(np.isin(rows.pattern, containers_of(rows.groups, rows.pattern[row])))


def row_exact_anonymity(X: Any, features: Features | None = None) -> NDArray[np.int64]:
    """Return, for each row, the number of subjects with an identical row (Def. 1).

    The least of them is the k of k-anonymity.
    """
    rows = _project_published(X, features)
    return rows.sharing[rows.pattern]


def part_anonymity(
    X: Any, m: int, features: Features | None = None, *, absences: bool = False
) -> int:
    """Return the largest k for which the rows are k^m-anonymous.

    The adversary knows at most m items that a person has. With `absences`, the adversary may know
    items that a person lacks as well. Cost: all itemsets of at most m features of each pattern with
    fewer subjects than the least so far.
    """
    from voile.itemsets.kernels.parts import least_part_support

    if m < 0:
        raise RequestError("m must be at least 0")
    rows = _project_published(X, features)
    most = min(m, len(rows.features))
    everyone = rows.n_subjects
    return int(least_part_support(rows.groups, rows.longest_first, most, everyone, absences))


def label_diversity(X: Any, y: LabelsLike, features: Features | None = None) -> NDArray[np.int64]:
    """Return, for each row, the number of distinct labels of the rows that contain it.

    The least of them is the l of l-diversity.
    """
    from voile.itemsets.kernels.containment import pattern_diversity

    rows = _project_published(X, features)
    labels = RowLabels.of(y, rows.n_rows)
    return pattern_diversity(rows.groups, labels.table(rows) > 0)[rows.pattern]


def _least_diversity(rows: Incidence, labels: RowLabels) -> int:
    from voile.itemsets.kernels.containment import least_diversity

    return int(least_diversity(rows.groups, labels.table(rows) > 0, rows.longest_first))


@dataclass(frozen=True)
class FeatureExposure:
    """The disclosure risk of some features: sizes of the smallest groups, unique and empty rows."""

    subjects: int
    rows: int
    features: int
    anonymity: int
    exact_anonymity: int
    unique_rows: int
    empty_rows: int
    label_diversity: int | None


def exposure(
    X: Any, features: Features | None = None, y: LabelsLike | None = None
) -> FeatureExposure:
    """Return every risk measure of some features. The parameters are those of `anonymity`.

    >>> exposure(np.array([[1, 1], [1, 1], [1, 0], [0, 0]]), features=[0], y=[0, 0, 1, 1])
    ... # doctest: +NORMALIZE_WHITESPACE
    FeatureExposure(subjects=4, rows=4, features=1, anonymity=3, exact_anonymity=1, unique_rows=1,
             empty_rows=1, label_diversity=2)
    """
    rows = _project_published(X, features)
    exact = row_exact_anonymity(rows)
    return FeatureExposure(
        subjects=rows.n_subjects,
        rows=rows.n_rows,
        features=len(rows.features),
        anonymity=anonymity(rows),
        exact_anonymity=int(exact.min()),
        unique_rows=int((exact == 1).sum()),
        empty_rows=int((np.diff(rows.starts)[rows.pattern] == 0).sum()),
        label_diversity=None if y is None else _least_diversity(rows, RowLabels.of(y, rows.n_rows)),
    )


def _project_published(X: Any, features: Features | None) -> Incidence:
    rows = Incidence.of(X)
    return rows if features is None else rows.project(features)
