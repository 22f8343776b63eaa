"""Match released rows to original rows without a key, by a matching of value sets.

A released row fits an original row on two conditions. Each of its cells includes that row's value,
and the columns that were released unchanged are equal. The match is a maximum flow from released
rows to original rows, in which equal rows form one node. It gives each released row a separate
original row. If that is impossible, some released rows are not in the original.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from voile.core.errors import RequestError
from voile.tables.attack.records import distinct_rows
from voile.tables.foreign.boxes import Bits, Codes, fits

Rows = NDArray[np.int64]
MOST_PAIRS = 30_000_000
STEP = 1024


def match_in_order(fit: Callable[[Rows, Rows], Bits], released: int, original: int) -> Rows | None:
    """Return an original row for each released row, in order, or None if no order fits.

    Parameters
    ----------
    fit : a function that returns whether pairs of released and original rows could be the same row.
    released, original : the numbers of rows.

    Each row takes the first remaining original row that fits, so that an order is found if one
    exists. A release in another order has such an order only by chance, if it is small. Cost:
    O(original) pairs, and `STEP` more for each omitted row.

    >>> alike = lambda a, b: np.array([0, 2, 3])[a] == b
    >>> match_in_order(alike, 3, 4).tolist(), match_in_order(alike, 3, 3)
    ([0, 2, 3], None)
    """
    rows = np.empty(released, dtype=np.int64)
    at, next_row = 0, 0
    while at < released:
        if released - at > original - next_row:
            return None
        own = np.arange(at, min(at + STEP, released))
        fits = fit(own, own + (next_row - at))
        good = len(own) if fits.all() else int(fits.argmin())
        rows[own[:good]] = own[:good] + (next_row - at)
        at, next_row = at + good, next_row + good + (good < len(own))
    return rows


def match_rows(
    holds: Sequence[Bits],
    released: Codes,
    original: Codes,
    same: tuple[NDArray[np.int64], NDArray[np.int64]],
    rng: np.random.Generator,
) -> Rows:
    """Return an original row for each released row, each used once, or -1 if none remains.

    Parameters
    ----------
    holds : by column, the values that a cell may represent.
    released, original : (n, q) cell numbers, and (N, q) values.
    same : for released and original rows, numbers of their values in columns released unchanged.
        Rows with equal numbers may be the same row.
    rng : the source of random choices among equal rows.

    Raises
    ------
    RequestError : too many pairs of rows fit.
    """
    ours, our_class = _classes(released, same[0])
    theirs, their_class = _classes(original, same[1])
    pairs = _pairs(holds, ours, theirs)
    flow = _flow(pairs, np.bincount(our_class), np.bincount(their_class, minlength=len(theirs)))
    return _assign_rows(pairs, flow, our_class, their_class, rng)


def _classes(codes: Codes, same: NDArray[np.int64]) -> tuple[Codes, NDArray[np.intp]]:
    return distinct_rows(np.column_stack([same, codes]).astype(np.int32))


def _pairs(holds: Sequence[Bits], ours: Codes, theirs: Codes) -> tuple[Rows, Rows]:
    """Return the pairs of classes, of released and of original rows, that fit."""
    found: list[tuple[Rows, Rows]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    total = 0
    begins = np.flatnonzero(np.r_[True, ours[1:, 0] != ours[:-1, 0]])
    for first, last in zip(begins, [*begins[1:], len(ours)], strict=True):
        low, high = np.searchsorted(theirs[:, 0], [ours[first, 0], ours[first, 0] + 1])
        for part, fit in fits(holds, ours[first:last, 1:], theirs[low:high, 1:]):
            a, b = np.nonzero(fit)
            found.append((a + first, b + low + part.start))
            total += len(a)
            if total > MOST_PAIRS:
                raise RequestError(
                    f"more than {MOST_PAIRS:,} pairs of rows fit each other, so released rows "
                    "cannot be matched to the original's",
                    instead="give --key, a column in both that identifies the rows",
                )
    ours_of, theirs_of = zip(*found, strict=True)
    return np.concatenate(ours_of), np.concatenate(theirs_of)


def _flow(
    pairs: tuple[Rows, Rows], ours: NDArray[np.intp], theirs: NDArray[np.intp]
) -> NDArray[np.int64]:
    """Return the number of rows along each pair of classes in a maximum flow."""
    n, m = len(ours), len(theirs)
    start, end = n + m, n + m + 1
    a, b = pairs
    tails = np.concatenate([np.full(n, start), a, np.arange(n, n + m)])
    heads = np.concatenate([np.arange(n), b + n, np.full(m, end)])
    room = np.concatenate([ours, np.minimum(ours[a], theirs[b]), theirs])
    graph = coo_array((room.astype(np.int32), (tails, heads)), shape=(n + m + 2, n + m + 2))
    found = maximum_flow(graph.tocsr(), start, end).flow
    return np.asarray(found[a, b + n]).ravel().astype(np.int64)


def _assign_rows(
    pairs: tuple[Rows, Rows],
    flow: NDArray[np.int64],
    ours: NDArray[np.intp],
    theirs: NDArray[np.intp],
    rng: np.random.Generator,
) -> Rows:
    """Assign rows of original classes to the rows of released classes, in random order."""
    rows = np.full(len(ours), -1, dtype=np.int64)
    released = np.repeat(pairs[0], flow)
    rows[_next_of(released, ours, rng)] = _next_of(np.repeat(pairs[1], flow), theirs, rng)
    return rows


def _next_of(
    wanted: Rows, classes: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return a row of each wanted class, without using a row twice."""
    shuffled = rng.permutation(len(classes))
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    first = np.concatenate([[0], np.cumsum(np.bincount(classes))])
    order = np.argsort(wanted, kind="stable")
    ranked = wanted[order]
    begins = np.searchsorted(ranked, ranked)
    place = np.empty(len(wanted), dtype=np.int64)
    place[order] = first[ranked] + np.arange(len(ranked)) - begins
    return np.asarray(by_class[place])
