"""Withhold counts of few people from a public report, before any sentence is written.

Primary suppression withholds a count of 1 to 10. Secondary suppression withholds more counts, so
that no withheld count follows from the shown ones (Hundepool et al. 2012, chapter 4).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from voile.core.rounding import exact

FEW = 11
"""The least positive count of people, documents or tokens that a public report shows."""


def is_few(count: float, few: int = FEW) -> bool:
    """Return whether a count is small but not 0, by its value before public rounding.

    >>> [is_few(count) for count in (0, 1, 10, 11)]
    [False, True, True, False]
    """
    return 0 < round(exact(count), 6) < few


def withheld(
    rows: Sequence[Sequence[float]], *, public: Collection[int] = (), few: int = FEW
) -> frozenset[int] | None:
    """Choose the rows of a table to withhold completely. The totals of its columns may be shown.

    Parameters
    ----------
    rows : counts, 0 or more. All rows have the same columns.
    public : rows that are shown elsewhere, and so cannot be withheld.
    few : the least positive count that may be shown.

    Returns
    -------
    The rows to withhold, or None if no row of the table can be shown together with its totals.

    Guarantees, proved: every count in a shown row is 0 or at least `few`. In every column the
    withheld rows add up to S, which is 0 or at least `few`. There are at least two withheld rows,
    if any. So any withheld row may have all of S in every column, or nothing. A reader has the
    shown rows, the totals, and any linear identity that all rows obey (parts and their sum). From
    these, a withheld count can only be bounded by 0 and S. The guarantee does not cover a reader
    who knows how the rows for secondary suppression were chosen.

    Cost: O(rows^2 columns).

    >>> withheld([(120, 9), (62, 7), (40, 3), (15, 50)])
    frozenset({0, 1, 2})
    >>> withheld([(120,), (62,), (7,)]), withheld([(120,), (62,)]), withheld([(3,), (4,)])
    (frozenset({1, 2}), frozenset(), None)
    """
    hidden = {x for x, row in enumerate(rows) if any(is_few(count, few) for count in row)}
    if not hidden.isdisjoint(public):
        return None
    spare = {x for x, row in enumerate(rows) if any(row)} - hidden - {*public}
    others = sorted(spare, key=lambda x: min(count for count in rows[x] if count))
    while _has_few(rows, hidden, few):  # this is always true of a single row
        if not others:
            return None
        hidden.add(others.pop(0))
    return frozenset(hidden)


def _has_few(rows: Sequence[Sequence[float]], which: Collection[int], few: int) -> bool:
    return any(is_few(sum(column), few) for column in zip(*(rows[x] for x in which), strict=True))
