"""Formulas that fit a column: sums, products and polynomials of other columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from voile.signals.model.codec.formula import ColumnFormula
from voile.signals.model.codec.pieces import Floats

LARGEST = 4.0  # largest standard deviation of distances, in cells; looser relations reveal little
TIGHT = 2.0  # the same limit for a relation without simple coefficients
DEGREES = {1: 6, 2: 3}  # degrees of a fitted polynomial, by its number of columns
DENOMINATOR = 12  # largest denominator of a rational coefficient
EXACT = 1.1  # factor by which simple coefficients may widen distances
NOISE = 1e-9  # arithmetic error, relative to a coefficient


def fit_formulas(
    target: str, names: Sequence[str], few: Mapping[str, Floats], cell: float
) -> Iterator[tuple[ColumnFormula, float]]:
    """Yield formulas of `names` that fit a column on a few rows.

    Parameters
    ----------
    target : the column. names : the other columns that a formula contains.
    few : by name, the values of each column on the same rows. cell : the column's resolution.

    Yields
    ------
    A formula, and the largest standard deviation of its distances, in cells.
    """
    y, most = few[target], max(LARGEST * cell, 1e-12)
    P = np.stack([few[name] for name in names])
    found = [_sum(y, P, names, most)]
    if (y > 0).all() and (P > 0).all():
        found.append(_product(y, P, names, most))
    simple = [one for one in found if one]
    yield from simple
    # a polynomial may improve a simple formula
    largest = LARGEST if simple else TIGHT
    if len(names) in DEGREES and (text := _polynomial(y, P, names, largest * cell)):
        yield ColumnFormula(text), largest


def _sum(
    y: Floats, P: Floats, names: Sequence[str], most: float
) -> tuple[ColumnFormula, float] | None:
    """Fit y = a + b x + ..., with rational coefficients where these fit as well."""
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
        return None  # a relation of fewer columns, which is tried separately
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
    return ColumnFormula(" + ".join([*terms, f"({constant})"])), LARGEST if is_simple else TIGHT


def _rational(value: float, within: float) -> Fraction | None:
    """Return the simplest rational number near a value, or None."""
    for bottom in (*range(1, DENOMINATOR + 1), 20, 25, 50, 100):
        near = Fraction(round(value * bottom), bottom)
        if abs(float(near) - value) <= max(min(within, 0.02 / bottom), NOISE * abs(value)):
            return near
    return None


def _product(
    y: Floats, P: Floats, names: Sequence[str], most: float
) -> tuple[ColumnFormula, float] | None:
    """Fit y = a x^b ..., with whole or half powers b."""
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
    return ColumnFormula(" * ".join([f"{constant}", *factors])), LARGEST


def _power(name: str, power: float) -> str:
    whole, half = int(np.floor(power)), power != np.floor(power)
    parts = [f"{name} ** {whole}"] if whole else []
    return " * ".join([*parts, *([f"sqrt({name})"] if half else [])])


def _polynomial(y: Floats, P: Floats, names: Sequence[str], most: float) -> str | None:
    """Fit a polynomial of standardised columns, with coefficients rounded for privacy."""
    centre, scale = (np.array([float(f"{v:.3g}") for v in one]) for one in (P.mean(1), P.std(1)))
    scale = np.where(scale > 0, scale, 1.0)
    W = (P - centre[:, None]) / scale[:, None]
    terms = [
        one
        for size in range(DEGREES[len(names)] + 1)
        for one in combinations_with_replacement(range(len(names)), size)
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
