"""Find relations among readings and known columns, and fit the tables that remove them.

A candidate relates a column to one to three others, or to all of them. It is a sum with rational
coefficients, a product of whole or half powers, or a fitted polynomial. A relation can be solved
for each of its columns. The right column gives the shortest description of a row. The length of a
description is the entropy of its distances, minus the log of its cells per cell of another column.
With a wrong column, the others would take only a few of the values on their lattices. The relation
with the least entropy is removed first. The search then continues without its column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from voile.core.errors import RequestError
from voile.signals.fitting.maps.formulas import LARGEST, fit_formulas
from voile.signals.model.codec.formula import ColumnFormula
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.lift import (
    DIGITS,
    EIGHTHS,
    WHOLE,
    LiftedColumn,
    RelationLift,
    expect_positions,
    find_rows,
)
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.place import ReadingPlace

SHARE = 0.2  # maximum, relative to the column's standard deviation
SHIFT = 0.25  # maximum shift of a class, in standard deviations; more would reveal it
SCREENED = 600  # rows on which candidates are screened
PARTS = 3  # columns of a relation, or all
PRIOR = 20.0  # weight of the pooled law in each row of a table, in people
TAILS = 30  # intervals beyond each end of a table, each half as wide as the one before
EDGE = 20  # rows at or beyond each end of a table
ALIKE = 0.05  # bits of entropy
LONGER = 0.5  # excess of a row's description over the shortest, in bits
WIDEST = 400  # distances in a table
BROKEN = 0.01  # share of rows that may break a declared relation
HEAPED = 0.15  # share of the most frequent last digit
HEAPED_SPAN = 30  # positions between the quartiles of a column with heaped digits
HEAPED_P = 1e-9


@dataclass(frozen=True, eq=False)
class _RelationCandidate:
    column: int
    formula: ColumnFormula
    distances: Floats
    rows: Codes  # rows of the table
    n_rows: int
    entropy: float


def find_lift(
    X: Floats,
    c: Codes,
    lattices: Sequence[ValueLattice],
    known: Floats | None = None,
    *,
    declared: Mapping[int, ColumnFormula] | None = None,
    fixed: Sequence[int] = (),
    places: Sequence[int] | None = None,
) -> RelationLift | None:
    """Return the lift of the relations among readings, or None without relations.

    Declared relations come first.

    Parameters
    ----------
    X : (n, d) readings on their lattices. c : (n,) classes.
    known : (q, n) side columns, NaN where missing.
    declared : by column the relation, a formula of `x0`, `k0`, ... fixed : columns that are not
        lifted.
    places : numbers of the columns in the caller's table, for errors. None: the same numbers.

    Raises
    ------
    RequestError : readings break a declared relation, or relations form a cycle. Or the parts of a
        relation are too coarse for the column's resolution.

    Cost: O(d^4) regressions of 600 rows.
    """
    columns = {f"x{j}": x for j, x in enumerate(X.T)}
    columns |= {f"k{j}": k for j, k in enumerate(() if known is None else known)}
    found: list[_RelationCandidate] = []  # in the order of decoding
    places = places or range(X.shape[1])
    for column in _sort_declared(declared or {}, places):
        formula = (declared or {})[column]
        one = _measure(column, formula, columns, lattices[column])
        _check(one, columns, lattices, ReadingPlace(places[column]))
        found.append(one)
    taken = {one.column for one in found}
    while len(taken) < X.shape[1] - 1:
        free = [j for j in range(X.shape[1]) if j not in taken]
        targets = [j for j in free if j not in fixed]
        candidates = [
            one
            for one in _solve_best(_candidates(columns, lattices, free, targets), columns, lattices)
            if _is_common(one, c)
        ]
        if not candidates:
            break
        least = min(one.entropy for one in candidates) + ALIKE
        alike = [one for one in candidates if one.entropy <= least]
        # the finest column: otherwise others would take few of their lattice values
        best = max(alike, key=lambda one: _reach(one, columns, lattices))
        found.insert(0, best)  # later relations contain no column that was lifted before
        taken.add(best.column)
    digits = np.zeros((X.shape[1], DIGITS), dtype=np.int64)
    for j, lattice in enumerate(lattices):
        if j not in taken:
            digits[j] = _find_heaping((X[:, j] * lattice.per - lattice.offset) / lattice.step)
    if not found and not digits.any():
        return None
    lifted = tuple(
        LiftedColumn(one.column, one.formula, *_table(one.distances, one.rows, one.n_rows))
        for one in found
    )
    return RelationLift(tuple(lattices), lifted, digits).standardise_messages(
        X.mean(axis=0), X.std(axis=0)
    )


def _sort_declared(declared: Mapping[int, ColumnFormula], places: Sequence[int]) -> list[int]:
    """Return the declared columns, each after the columns that its relation contains."""
    order: list[int] = []
    left = dict(declared)
    while left:
        ready = [j for j, one in left.items() if not {f"x{i}" for i in left} & {*one.names}]
        if not ready:
            raise RequestError(
                "the relations of columns form a cycle",
                where=ReadingPlace(places[min(left)]),
                instead="declare the relation of one column less",
            )
        order += ready
        left = {j: one for j, one in left.items() if j not in ready}
    return order


def _measure(
    column: int, formula: ColumnFormula, columns: Mapping[str, Floats], lattice: ValueLattice
) -> _RelationCandidate:
    exact = expect_positions(formula, lattice, columns)
    x = columns[f"x{column}"]
    tables = []
    for n_rows in (DIGITS, EIGHTHS):
        g, rows = find_rows(exact, n_rows)
        distances = np.rint((x * lattice.per - lattice.offset) / lattice.step) - g
        entropy = _entropy(distances, rows)
        tables.append(_RelationCandidate(column, formula, distances, rows, n_rows, entropy))
    return min(tables, key=lambda one: one.entropy)


def _entropy(distances: Floats, rows: Codes) -> float:
    """Return H(distance | row) in bits, with the Miller-Madow bias correction."""
    _, pairs = np.unique(np.stack([rows, distances]), axis=1, return_counts=True)
    alone = np.bincount(rows)
    alone = alone[alone > 0]
    n = len(rows)

    def plain(counts: NDArray[np.intp]) -> float:
        p = counts / n
        return float(-(p * np.log2(p)).sum() + (len(counts) - 1) / (2 * n * np.log(2)))

    return plain(pairs) - plain(alone)


def _check(
    one: _RelationCandidate,
    columns: Mapping[str, Floats],
    lattices: Sequence[ValueLattice],
    where: ReadingPlace,
) -> None:
    """Refuse a declared relation that readings break, or with parts that are too coarse."""
    lattice = lattices[one.column]
    reach = _reach(one, columns, lattices)
    if reach > 4 * LARGEST:
        raise RequestError(
            f"the resolution {lattice.resolution:g} is finer than the relation's parts allow: "
            f"they determine the column to {reach * lattice.resolution:.2g}",
            where=where,
            instead=f"declare a resolution near {reach * lattice.resolution:.1g}",
        )
    far = np.abs(one.distances) > 4 * max(LARGEST, reach)
    if far.mean() > BROKEN:
        raise RequestError(
            f"{int(far.sum()):,} of {len(far):,} rows break the declared relation",
            where=where,
            instead="correct the relation or the rows",
        )


def _reach(
    one: _RelationCandidate, columns: Mapping[str, Floats], lattices: Sequence[ValueLattice]
) -> float:
    """Return how much rounding of its parts moves a relation, in cells of its column."""
    parts = [int(name[1:]) for name in one.formula.names if name[0] == "x"]
    moves = (np.abs(_moves(one, part, columns, lattices)) for part in parts)
    return float(sum(np.nanmedian(move) / 2 for move in moves))


def _moves(
    one: _RelationCandidate,
    part: int,
    columns: Mapping[str, Floats],
    lattices: Sequence[ValueLattice],
) -> Floats:
    """Return how much one cell of a part moves a relation, in cells of its column, (n,)."""
    name, half = f"x{part}", lattices[part].resolution / 2
    low, high = (
        one.formula.evaluate({**columns, name: columns[name] + way}) for way in (-half, half)
    )
    return np.asarray((high - low) / lattices[one.column].resolution)


def _solve_best(
    candidates: Iterable[_RelationCandidate],
    columns: Mapping[str, Floats],
    lattices: Sequence[ValueLattice],
) -> Iterator[_RelationCandidate]:
    """Yield for each set of columns the candidate with the shortest description of a row.

    Skip a set if a column outside it gives a much shorter description. Also skip it if a subset of
    its columns gives a description that is as short.
    """
    by_columns: dict[frozenset[str], list[tuple[float, _RelationCandidate]]] = {}
    for one in candidates:
        names = frozenset({*one.formula.names, f"x{one.column}"})
        first = min(int(name[1:]) for name in names if name[0] == "x")
        bits = _describe(one, first, columns, lattices)
        by_columns.setdefault(names, []).append((bits, one))
    best = {of: min(alike, key=lambda pair: pair[0])[1] for of, alike in by_columns.items()}
    for of, one in best.items():
        fewer = (best[some] for some in best if some < of)
        if _find_excess(one, columns, lattices) < LONGER and all(
            _describe(one, few.column, columns, lattices) < few.entropy - ALIKE for few in fewer
        ):
            yield one


def _describe(
    one: _RelationCandidate,
    column: int,
    columns: Mapping[str, Floats],
    lattices: Sequence[ValueLattice],
) -> float:
    """Return the bits of a row's description, relative to deriving `column`."""
    if one.column == column:
        return one.entropy
    return one.entropy - float(_log_moves(_moves(one, column, columns, lattices)).mean())


def _log_moves(moves: Floats) -> Floats:
    """Return the base-2 logs of the moves that have one."""
    size = np.abs(moves[np.isfinite(moves) & (moves != 0)])
    return np.log2(size) if len(size) else np.zeros(1)


def _find_excess(
    one: _RelationCandidate, columns: Mapping[str, Floats], lattices: Sequence[ValueLattice]
) -> float:
    """Return how many more bits a row's description has than with another derived column."""
    cell = lattices[one.column].resolution
    off = (columns[f"x{one.column}"] - one.formula.evaluate(columns)) / cell
    shortest = one.entropy
    for name in one.formula.names:
        if name[0] == "k":
            continue
        moves = _moves(one, int(name[1:]), columns, lattices)
        some = np.isfinite(moves) & (moves != 0) & np.isfinite(off)
        distances = np.rint(off[some] / moves[some])
        if len(distances):
            entropy = _entropy(distances, np.zeros(len(distances), dtype=np.intp))
            shortest = min(shortest, entropy + float(_log_moves(moves).mean()))
    return one.entropy - shortest


def _candidates(
    columns: Mapping[str, Floats],
    lattices: Sequence[ValueLattice],
    free: Sequence[int],
    targets: Sequence[int],
) -> Iterator[_RelationCandidate]:
    known = [name for name in columns if name[0] == "k" and np.isfinite(columns[name]).all()]
    n = len(columns["x0"])
    rows = np.random.default_rng(0).permutation(n)[:SCREENED]
    few = {name: column[rows] for name, column in columns.items()}
    for j in targets:
        others = [f"x{i}" for i in free if i != j] + known
        others = [name for name in others if few[name].std() > 0]
        sizes = [*range(1, min(PARTS, len(others)) + 1)]
        sets = [one for size in sizes for one in combinations(others, size)]
        if len(others) > PARTS:
            sets.append(tuple(others))
        for names in sets:
            for formula, largest in fit_formulas(f"x{j}", names, few, lattices[j].resolution):
                one = _measure(j, formula, columns, lattices[j])
                spread = columns[f"x{j}"].std() / lattices[j].resolution
                if _measure_spread(one.distances) <= min(largest, SHARE * spread):
                    yield one


def _is_common(one: _RelationCandidate, c: Codes) -> bool:
    """Return whether distances have similar means in every class, so that one table is enough."""
    spread, sizes = max(_measure_spread(one.distances), 0.1), np.bincount(c)
    low, high = np.quantile(one.distances, [0.005, 0.995])
    inside = np.clip(one.distances, low, high)
    shift = np.abs(np.bincount(c, inside) / sizes - inside.mean()) / spread
    return bool((shift < SHIFT + 3 / np.sqrt(sizes)).all())


def _measure_spread(distances: Floats) -> float:
    """Return the standard deviation of distances, clipped at the .5% and 99.5% quantiles."""
    low, high = np.quantile(distances, [0.005, 0.995])
    return float(np.clip(distances, low, high).std())


def _table(distances: Floats, of: Codes, n_rows: int) -> tuple[int, NDArray[np.int64]]:
    """Return the first distance of a table and its widths, pooled over all classes."""
    ordered = np.sort(distances)
    edge = min(EDGE, len(ordered)) - 1
    low, high = int(ordered[edge]), int(ordered[-1 - edge])
    low, high = max(low, high - WIDEST), min(high, low + WIDEST)
    inside = (distances >= low) & (distances <= high)
    place = (np.clip(distances, low, high) - low).astype(np.intp)
    pooled = np.bincount(place[inside], minlength=high - low + 1) + 0.5 / len(place)
    tail = max((~inside).sum(), 0.5) / 2 / len(place)
    falling = 0.5 ** np.arange(1, TAILS + 1)
    rows = []
    for row in range(n_rows):
        own = inside & (of == row)
        counts = np.bincount(place[own], minlength=len(pooled)) + PRIOR * pooled / pooled.sum()
        shares = np.concatenate(
            [tail * falling[::-1], (1 - 2 * tail) * counts / counts.sum(), tail * falling]
        )
        rows.append(_whole(shares))
    return low - TAILS, np.stack(rows)


def _whole(shares: Floats) -> NDArray[np.int64]:
    """Return whole numbers above 0 that are proportional to shares and sum to 2^48."""
    widths = np.maximum(np.rint(shares / shares.sum() * WHOLE), 1).astype(np.int64)
    widths[int(widths.argmax())] += WHOLE - int(widths.sum())
    return np.asarray(widths)


def _find_heaping(positions: Floats) -> NDArray[np.int64]:
    """Return the widths of last digits that people round to, or zeros without rounding."""
    k = np.rint(positions)
    counts = np.bincount(np.mod(k, DIGITS).astype(np.intp), minlength=DIGITS)
    low, high = np.quantile(k, [0.25, 0.75])
    even = len(k) / DIGITS
    surprise = float(((counts - even) ** 2 / even).sum())
    is_heaped = (
        counts.max() > HEAPED * len(k) and gammaincc((DIGITS - 1) / 2, surprise / 2) < HEAPED_P
    )
    if high - low < HEAPED_SPAN or not is_heaped:
        return np.zeros(DIGITS, dtype=np.int64)
    return _whole(np.maximum(counts, EDGE).astype(np.float64))  # limits what small counts reveal
