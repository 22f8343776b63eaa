"""Fit a table of people to margins by iterative proportional fitting (Deming & Stephan 1940).

Census offices publish few-way tables. The fit finds a full table with all of them as its margins,
and with the interactions of a starting table. It scales the table to each margin in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError, RequestError

Floats = NDArray[np.float64]
MEMORY = 2 << 30
NOISE = 1e-9


@dataclass(frozen=True)
class PeopleMargin:
    """People by some attributes.

    `axes` are the attributes in the order of the dimensions of `counts`. Without axes, it is the
    number of all people.
    """

    axes: tuple[int, ...]
    counts: Floats

    def __str__(self) -> str:
        return f"margin over axes {self.axes}"


@dataclass(frozen=True)
class FittedPeople:
    """A fitted table of people, the number of rounds, and the largest margin error in people."""

    counts: Floats
    iterations: int
    largest_error: float


def fit_margins(
    sizes: Sequence[int],
    margins: Sequence[PeopleMargin],
    *,
    start: Floats | None = None,
    tolerance: float = 1e-8,
    iterations: int = 1000,
) -> FittedPeople:
    """Fit a table of `sizes` to `margins`, the most trusted first.

    The result has these margins within `tolerance` (a share of all people) if `largest_error` is no
    larger. Among all such tables it is nearest to `start` in Kullback-Leibler divergence (Csiszar
    1975). A zero stays zero. Without a start, attributes that no margin joins are independent.
    Memory: two such tables.

    Raises
    ------
    RequestError : margins have different counts of the same people.
    InfeasibleError : a margin counts people where the start or another margin has none.

    >>> men_women, young_old = np.array([30.0, 70.0]), np.array([40.0, 60.0])
    >>> fitted = fit_margins((2, 2), [PeopleMargin((0,), men_women), PeopleMargin((1,), young_old)])
    >>> fitted.counts.round(6).tolist()
    [[12.0, 18.0], [28.0, 42.0]]
    """
    sizes = tuple(int(n) for n in sizes)
    _check_request(sizes, margins, start)
    _check_agreement(margins)
    targets = [_spread_out(margin, range(len(sizes))) for margin in margins]
    counts = np.ones(sizes) if start is None else np.array(start, dtype=np.float64)
    enough = tolerance * max(float(targets[0].sum()), 1.0)
    done, error = 0, np.inf
    while error > enough and done < iterations:
        for margin, target in zip(margins, targets, strict=True):
            _scale(counts, target, str(margin))
        done, error = done + 1, max(_error(counts, target) for target in targets)
    return FittedPeople(counts, done, error)


def _scale(counts: Floats, target: Floats, name: str) -> None:
    """Scale `counts` in place so that their margin is `target`. Zero people stay zero."""
    current = _sum_axes(counts, target)
    if np.any((target > 0) & (current == 0)):
        cells = int(np.count_nonzero((target > 0) & (current == 0)))
        raise InfeasibleError(
            f"{cells:,} of its counts are of people whom the start or another margin rules out",
            where=name,
            instead="correct the zeros, or add a small number to the start",
        )
    counts *= np.divide(target, current, out=np.zeros_like(target), where=current > 0)


def _error(counts: Floats, target: Floats) -> float:
    return float(np.abs(_sum_axes(counts, target) - target).max(initial=0.0))


def _sum_axes(counts: Floats, target: Floats) -> Floats:
    """Sum over the axes that have length 1 in `target`, which has all axes."""
    over = tuple(d for d, n in enumerate(target.shape) if n == 1)
    summed: Floats = counts.sum(axis=over, keepdims=True)
    return summed


def _spread_out(margin: PeopleMargin, axes: Sequence[int]) -> Floats:
    """Return a margin's counts with `axes` as dimensions, of length 1 for axes that it lacks."""
    ranks = [margin.axes.index(d) for d in axes if d in margin.axes]
    counts = np.asarray(margin.counts, dtype=np.float64).transpose(ranks)
    lengths = dict(zip(sorted(margin.axes), counts.shape, strict=True))
    return counts.reshape([lengths.get(d, 1) for d in axes])


def _onto(margin: PeopleMargin, axes: tuple[int, ...]) -> PeopleMargin:
    """Sum a margin over the axes that are not in `axes`, which are in ascending order."""
    others = tuple(i for i, d in enumerate(margin.axes) if d not in axes)
    kept = tuple(d for d in margin.axes if d in axes)
    return PeopleMargin(axes, _spread_out(PeopleMargin(kept, margin.counts.sum(axis=others)), axes))


def _check_agreement(margins: Sequence[PeopleMargin]) -> None:
    for number, margin in enumerate(margins):
        for earlier in margins[:number]:
            shared = tuple(sorted({*margin.axes} & {*earlier.axes}))
            both = _onto(margin, shared).counts, _onto(earlier, shared).counts
            people = max(float(both[1].sum()), 1.0)
            if (gap := float(np.abs(both[0] - both[1]).sum()) / people) > NOISE:
                over = f"their counts by axes {shared}" if shared else "the number of people"
                raise RequestError(
                    f"disagrees with the {earlier} on {over}, by {gap * people:,.6g} people "
                    f"({gap:.3g} of them)",
                    where=str(margin),
                    instead="correct them",
                )


def check_memory(sizes: Sequence[int], bytes_a_cell: int = 16) -> None:
    """Raise an error if a dense table over `sizes` needs more than `MEMORY` bytes.

    >>> check_memory((100, 2, 5, 600))
    >>> check_memory((100, 100, 100, 1000))
    Traceback (most recent call last):
    voile.core.errors.RequestError: fitting needs 1,000,000,000 cells, about 16.0 GB, where 2.1 GB \
is the limit; leave a quasi-identifier out, or give coarser domains
    """
    cells = prod(int(n) for n in sizes)
    if cells * bytes_a_cell > MEMORY:
        needs, limit = f"{cells * bytes_a_cell / 1e9:,.1f} GB", f"{MEMORY / 1e9:.1f} GB"
        raise RequestError(
            f"fitting needs {cells:,} cells, about {needs}, where {limit} is the limit",
            instead="leave a quasi-identifier out, or give coarser domains",
        )


def _check_request(
    sizes: tuple[int, ...], margins: Sequence[PeopleMargin], start: Floats | None
) -> None:
    check_memory(sizes)
    if not margins:
        raise RequestError("no margins are given", instead="give at least one")
    for margin in margins:
        _check_margin(sizes, margin)
    loose = set(range(len(sizes))) - {d for m in margins for d in m.axes}
    if start is None and loose:
        raise RequestError(
            f"no margin counts people by axis {min(loose)}",
            instead="give one that does, or a start with the spread of people over it",
        )
    if start is not None:
        _check_counts("start", np.asarray(start), sizes)


def _check_margin(sizes: tuple[int, ...], margin: PeopleMargin) -> None:
    axes = margin.axes
    if len(set(axes)) != len(axes) or not all(0 <= d < len(sizes) for d in axes):
        raise RequestError(f"its axes repeat, or are not below {len(sizes)}", where=str(margin))
    _check_counts(str(margin), np.asarray(margin.counts), tuple(sizes[d] for d in axes))


def _check_counts(name: str, counts: Floats, shape: tuple[int, ...]) -> None:
    if counts.shape != shape:
        raise RequestError(f"its shape is {counts.shape}, not {shape}", where=name)
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise RequestError("it has a count that is negative or not a number", where=name)
