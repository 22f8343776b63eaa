"""Find relations among readings and with known columns, and learn the tables that lift them.

A candidate is a column and one to three others, or all of them: a sum with rational coefficients,
a product of whole or half powers, or a fitted cubic. The candidate with the least entropy of its
distances, given the relation's last digit, is lifted first. Of equal ones it is the candidate of
the finest column. Then the search goes on without that column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from voile.core.errors import RequestError
from voile.signals.model.codec.formula import Formula
from voile.signals.model.codec.lattice import Lattice
from voile.signals.model.codec.lift import (
    DIGITS,
    WHOLE,
    Lift,
    LiftedColumn,
    expect_positions,
)
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.place import Place

LARGEST = 4.0  # standard deviation of distances, in cells: a looser relation reveals little
TIGHT = 1.0  # the same of a relation whose numbers are none of a few simple ones
SHARE = 0.15  # of the column's standard deviation, at most
SHIFT = 0.25  # of the distances' standard deviation, between a class and all: else they show it
SCREENED = 600  # rows that candidates are screened on
PARTS = 3  # columns of a relation, or all
DENOMINATOR = 12  # of a rational coefficient
EXACT = 1.1  # how far a simple number may widen distances
PRIOR = 20.0  # rows that the law of all last digits weighs, in that of each
TAILS = 30  # intervals beyond each end of a table, each half as wide as the one before
EDGE = 20  # rows at or beyond each end of a table
ALIKE = 0.05  # bits of entropy
WIDEST = 400  # distances in a table
BROKEN = 0.01  # share of rows that may break a declared relation
NOISE = 1e-9  # of arithmetic, as a share of a coefficient
HEAPED = 0.15  # share of the most frequent last digit
HEAPED_SPAN = 30  # positions between the quartiles of a column with heaped digits
HEAPED_P = 1e-9


@dataclass(frozen=True, eq=False)
class _Candidate:
    column: int
    formula: Formula
    distances: Floats
    digits: Codes
    entropy: float


def find_lift(
    X: Floats,
    c: Codes,
    lattices: Sequence[Lattice],
    known: Floats | None = None,
    *,
    declared: Mapping[int, Formula] | None = None,
    fixed: Sequence[int] = (),
    places: Sequence[int] | None = None,
) -> Lift | None:
    """Return the lift of the relations that readings have, declared ones first; None without any.

    Parameters
    ----------
    X : (n, d) readings on their lattices. c : (n,) classes. known : (q, n) side columns, NaN where
        missing.
    declared : by column the relation, of `x0`, `k0`, ... fixed : columns that are not lifted.
    places : of the columns in the caller's table, for errors; None: the same.

    Raises
    ------
    RequestError : readings break a declared relation, its parts do not determine the column as
        finely as its resolution, or relations form a cycle.

    Cost: O(d^4) regressions of 600 rows.
    """
    columns = {f"x{j}": x for j, x in enumerate(X.T)}
    columns |= {f"k{j}": k for j, k in enumerate(() if known is None else known)}
    found: list[_Candidate] = []  # in the order of decoding
    places = places or range(X.shape[1])
    for column in _sorted(declared or {}, places):
        formula = (declared or {})[column]
        one = _measure(column, formula, columns, lattices[column])
        _check(one, columns, lattices, Place(places[column]))
        found.append(one)
    taken = {one.column for one in found}
    while len(taken) < X.shape[1] - 1:
        free = [j for j in range(X.shape[1]) if j not in taken]
        targets = [j for j in free if j not in fixed]
        candidates = [
            one for one in _candidates(columns, lattices, free, targets) if _is_common(one, c)
        ]
        if not candidates:
            break
        least = min(one.entropy for one in candidates) + ALIKE
        alike = [one for one in candidates if one.entropy <= least]
        # the finest column: else others would take few of the values that their lattices have
        best = max(alike, key=lambda one: _reach(one, columns, lattices))
        found.insert(0, best)  # later relations contain no column that is lifted before
        taken.add(best.column)
    digits = np.zeros((X.shape[1], DIGITS), dtype=np.int64)
    for j, lattice in enumerate(lattices):
        if j not in taken:
            digits[j] = _heaped((X[:, j] * lattice.per - lattice.offset) / lattice.step)
    if not found and not digits.any():
        return None
    lifted = tuple(
        LiftedColumn(one.column, one.formula, *_table(one.distances, one.digits)) for one in found
    )
    return Lift(tuple(lattices), lifted, digits).shown(X.mean(axis=0), X.std(axis=0))


def _sorted(declared: Mapping[int, Formula], places: Sequence[int]) -> list[int]:
    """Return declared columns, each after those that its relation contains."""
    order: list[int] = []
    left = dict(declared)
    while left:
        ready = [j for j, one in left.items() if not {f"x{i}" for i in left} & {*one.names}]
        if not ready:
            raise RequestError(
                "the relations of columns form a cycle",
                where=Place(places[min(left)]),
                instead="declare the relation of one column less",
            )
        order += ready
        left = {j: one for j, one in left.items() if j not in ready}
    return order


def _measure(
    column: int, formula: Formula, columns: Mapping[str, Floats], lattice: Lattice
) -> _Candidate:
    g = expect_positions(formula, lattice, columns)
    x = columns[f"x{column}"]
    distances = np.rint((x * lattice.per - lattice.offset) / lattice.step) - g
    digits = np.mod(g, DIGITS).astype(np.intp)
    return _Candidate(column, formula, distances, digits, _entropy(distances, digits))


def _entropy(distances: Floats, digits: Codes) -> float:
    """Return H(distance | digit) in bits, corrected for the number of values (Miller, Madow)."""
    _, pairs = np.unique(np.stack([digits, distances]), axis=1, return_counts=True)
    alone = np.bincount(digits)
    alone = alone[alone > 0]
    n = len(digits)

    def plain(counts: NDArray[np.intp]) -> float:
        p = counts / n
        return float(-(p * np.log2(p)).sum() + (len(counts) - 1) / (2 * n * np.log(2)))

    return plain(pairs) - plain(alone)


def _check(
    one: _Candidate, columns: Mapping[str, Floats], lattices: Sequence[Lattice], where: Place
) -> None:
    """Refuse a declared relation that readings break, or whose parts are too coarse."""
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


def _reach(one: _Candidate, columns: Mapping[str, Floats], lattices: Sequence[Lattice]) -> float:
    """Return how far rounding of its parts moves a relation, in cells of its column."""
    lattice, total = lattices[one.column], 0.0
    at = one.formula.evaluate(columns)
    for name in one.formula.names:
        if name[0] == "x":
            moved = {**columns, name: columns[name] + lattices[int(name[1:])].resolution / 2}
            apart = np.abs(one.formula.evaluate(moved) - at) / lattice.resolution
            total += float(np.nanmedian(apart))
    return total


def _candidates(
    columns: Mapping[str, Floats],
    lattices: Sequence[Lattice],
    free: Sequence[int],
    targets: Sequence[int],
) -> Iterator[_Candidate]:
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
            for formula, largest in _formulas(f"x{j}", names, few, lattices[j].resolution):
                one = _measure(j, formula, columns, lattices[j])
                spread = columns[f"x{j}"].std() / lattices[j].resolution
                if _spread(one.distances) <= min(largest, SHARE * spread):
                    yield one


def _is_common(one: _Candidate, c: Codes) -> bool:
    """Whether distances have much the same mean in every class: their table is one for all."""
    spread, sizes = max(_spread(one.distances), 0.1), np.bincount(c)
    low, high = np.quantile(one.distances, [0.005, 0.995])
    inside = np.clip(one.distances, low, high)
    shift = np.abs(np.bincount(c, inside) / sizes - inside.mean()) / spread
    return bool((shift < SHIFT + 3 / np.sqrt(sizes)).all())


def _spread(distances: Floats) -> float:
    """Return the standard deviation, of all rows but the farthest hundredth."""
    low, high = np.quantile(distances, [0.005, 0.995])
    return float(np.clip(distances, low, high).std())


def _formulas(
    target: str, names: Sequence[str], few: Mapping[str, Floats], cell: float
) -> Iterator[tuple[Formula, float]]:
    """Yield formulas that fit the screened rows, and how far distances may spread."""
    y, most = few[target], max(LARGEST * cell, 1e-12)
    P = np.stack([few[name] for name in names])
    if found := _sum(y, P, names, most):
        yield found
    if (y > 0).all() and (P > 0).all() and (found := _product(y, P, names, most)):
        yield found
    if len(names) <= PARTS - 1 and (text := _cubic(y, P, names, TIGHT * cell)):
        yield Formula(text), TIGHT


def _sum(y: Floats, P: Floats, names: Sequence[str], most: float) -> tuple[Formula, float] | None:
    """Fit y = a + b x + ..., with rational numbers where these fit as well."""
    centre, scale = P.mean(axis=1), P.std(axis=1)
    D = np.vstack([np.ones(len(y)), (P - centre[:, None]) / scale[:, None]]).T
    beta, *_ = np.linalg.lstsq(D, y, rcond=None)
    error = float((y - D @ beta).std())
    if error > 2 * most:
        return None
    slopes, doubt = beta[1:] / scale, error / (scale * np.sqrt(len(y)))
    simple = [_rational(b, 5 * s) for b, s in zip(slopes, doubt, strict=True)]
    is_simple = all(one is not None for one in simple)
    if is_simple and 0 in simple:
        return None  # a relation of fewer columns, which is tried by itself
    texts = [
        str(one) if one is not None else repr(float(b))
        for one, b in zip(simple, slopes, strict=True)
    ]
    values = [
        float(one) if one is not None else float(b) for one, b in zip(simple, slopes, strict=True)
    ]
    rest = y - np.array(values) @ P
    shift = _rational(float(rest.mean()), 5 * error / np.sqrt(len(y)) + 1e-12)
    if is_simple and rest.std() > EXACT * error + most / 40:
        return None
    constant = str(shift) if shift is not None else repr(float(rest.mean()))
    terms = [f"({text}) * {name}" for text, name in zip(texts, names, strict=True)]
    return Formula(" + ".join([*terms, f"({constant})"])), LARGEST if is_simple else TIGHT


def _rational(value: float, within: float) -> Fraction | None:
    """Return the simplest number near a value, or None."""
    for bottom in (*range(1, DENOMINATOR + 1), 20, 25, 50, 100):
        near = Fraction(round(value * bottom), bottom)
        if abs(float(near) - value) <= max(min(within, 0.02 / bottom), NOISE * abs(value)):
            return near
    return None


def _product(
    y: Floats, P: Floats, names: Sequence[str], most: float
) -> tuple[Formula, float] | None:
    """Fit y = a x^b ..., of whole or half powers b."""
    D = np.vstack([np.ones(len(y)), np.log(P)]).T
    beta, *_ = np.linalg.lstsq(D, np.log(y), rcond=None)
    powers = np.rint(2 * beta[1:]) / 2
    if (np.abs(powers - beta[1:]) > 0.12).any() or (powers == 0).any() or np.abs(powers).max() > 4:
        return None
    left = np.log(y) - powers @ np.log(P)
    unit = np.exp(powers @ np.log(P))
    scale = float((y * unit).sum() / (unit * unit).sum())
    if float((y - scale * unit).std()) > 2 * most:
        return None
    doubt = float(left.std()) / np.sqrt(len(y)) + 1e-12
    tens = 10.0 ** float(np.floor(np.log10(scale)))
    near = _rational(scale / tens, 5 * doubt * scale / tens)
    constant = repr(float(near) * tens) if near is not None else repr(scale)
    factors = [_power(name, power) for name, power in zip(names, powers.tolist(), strict=True)]
    return Formula(" * ".join([f"{constant}", *factors])), LARGEST


def _power(name: str, power: float) -> str:
    whole, half = int(np.floor(power)), power != np.floor(power)
    parts = [f"{name} ** {whole}"] if whole else []
    return " * ".join([*parts, *([f"sqrt({name})"] if half else [])])


def _cubic(y: Floats, P: Floats, names: Sequence[str], most: float) -> str | None:
    """Fit a cubic of standardised columns, its numbers rounded so that they are no one's value."""
    centre, scale = (np.array([float(f"{v:.3g}") for v in one]) for one in (P.mean(1), P.std(1)))
    scale = np.where(scale > 0, scale, 1.0)
    W = (P - centre[:, None]) / scale[:, None]
    terms = [
        one for size in range(4) for one in combinations_with_replacement(range(len(names)), size)
    ]
    D = np.stack([np.prod(W[list(one)], axis=0) for one in terms], axis=1)
    beta, *_ = np.linalg.lstsq(D, y, rcond=None)
    if float((y - D @ beta).std()) > most:
        return None
    standard = [
        f"(({name} - {c!r}) / {s!r})"
        for name, c, s in zip(names, centre.tolist(), scale.tolist(), strict=True)
    ]
    texts = [
        " * ".join([repr(float(f"{b:.9g}")), *(standard[i] for i in one)])
        for b, one in zip(beta.tolist(), terms, strict=True)
    ]
    return " + ".join(texts)


def _table(distances: Floats, digits: Codes) -> tuple[int, NDArray[np.int64]]:
    """Return the first distance of a table, and its widths: pooled over all classes."""
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
    for digit in range(DIGITS):
        own = inside & (digits == digit)
        counts = np.bincount(place[own], minlength=len(pooled)) + PRIOR * pooled / pooled.sum()
        shares = np.concatenate(
            [tail * falling[::-1], (1 - 2 * tail) * counts / counts.sum(), tail * falling]
        )
        rows.append(_whole(shares))
    return low - TAILS, np.stack(rows)


def _whole(shares: Floats) -> NDArray[np.int64]:
    """Return whole numbers above 0 in proportion to shares, of sum 2^48."""
    widths = np.maximum(np.rint(shares / shares.sum() * WHOLE), 1).astype(np.int64)
    widths[int(widths.argmax())] += WHOLE - int(widths.sum())
    return np.asarray(widths)


def _heaped(positions: Floats) -> NDArray[np.int64]:
    """Return the widths of last digits where people round; 0 throughout where they do not."""
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
    return _whole(np.maximum(counts, EDGE).astype(np.float64))  # fewer people show no digit
