"""Fit frames that depend on side columns: one for all classes, and each class's addition.

The model for readings of class c at side columns k is v = L(k) (a_c + s_c e) + m(k), with e normal.
One shift, spread and slope, smooth in k, serve all classes. A class of a hundred people thus
borrows strength from thousands. A class's own addition shrinks towards zero. It is kept only if it
increases the likelihood of held-out readings by more than chance would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.signals.model.codec.conditional import OCTAVE, UNIT, ConditionalFrame, SideTables
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.side import NumberGrid, SideColumn, SideLevels

SPLINES = 6  # maximum number of functions of a numeric side column
MOST_PAIRED = 4  # maximum number of side columns with tables for pairs
RIDGES = 1.0, 4.0, 16.0  # ridge penalties per function, in readings
OWN = 12.0, 50.0, 200.0  # the same for a class's addition
PULL = 1e-3  # penalty on each class's mean, which only fixes its scale
SLOPES = 5.0  # penalty on slopes that differ by class, in readings
MOST = 4.0  # largest log of a spread


@dataclass(frozen=True, eq=False)
class SideBasis:
    """Smooth functions of side columns, evaluated at the levels of each term and at rows."""

    columns: tuple[SideColumn, ...]
    terms: tuple[tuple[int, int], ...]
    at_levels: tuple[Floats, ...]  # per side column (levels, functions), with mean 0 over people

    @classmethod
    def of(cls, columns: Sequence[SideColumn], levels: SideLevels, *, pairs: bool) -> SideBasis:
        q = len(columns)
        terms = [(j, -1) for j in range(q)]
        terms += [(a, b) for a in range(q) for b in range(a + 1, q) if pairs]
        each = [_functions(one) for one in columns]
        centred = [
            one - (_rows(one, levels, j, columns[j].width)).mean(axis=0)
            for j, one in enumerate(each)
        ]
        return cls(tuple(columns), tuple(terms), tuple(centred))

    def rows(self, levels: SideLevels) -> Floats:
        """Return the functions at rows, (n, functions)."""
        each = [
            _rows(one, levels, j, self.columns[j].width) for j, one in enumerate(self.at_levels)
        ]
        parts = [each[a] if b < 0 else _products(each[a], each[b]) for a, b in self.terms]
        return np.concatenate(parts, axis=1)

    def tables(self, weights: Floats) -> Iterator[Floats]:
        """Yield for each term the weighted sums of its functions, (outputs, cells).

        `weights` are (functions, outputs).
        """
        first = 0
        for a, b in self.terms:
            at = self.at_levels[a]
            if b >= 0:
                m = len(self.at_levels[b])
                rows = np.repeat(at, m, axis=0), np.tile(self.at_levels[b], (len(at), 1))
                at = _products(*rows)
            yield (at @ weights[first : first + at.shape[1]]).T
            first += at.shape[1]


def _functions(column: SideColumn) -> Floats:
    """Return functions of a side column at its levels: splines, or one indicator per name."""
    if not isinstance(column, NumberGrid):
        return np.eye(column.levels)
    missing = np.zeros((column.levels, 1))
    missing[-1] = 1
    if column.nodes < 2:
        return missing
    from scipy.interpolate import BSpline  # importing it takes half a second

    at = np.linspace(0, 1, column.nodes)
    degree = min(3, column.nodes - 1)
    inner = min(SPLINES, column.nodes) - degree
    knots = np.concatenate([[0.0] * degree, np.linspace(0, 1, inner + 1), [1.0] * degree])
    splines = BSpline.design_matrix(at, knots, degree).toarray()
    return np.concatenate([np.concatenate([splines, np.zeros((1, splines.shape[1]))]), missing], 1)


def _rows(table: Floats, levels: SideLevels, j: int, width: int) -> Floats:
    left, share = levels.left[j], levels.share[j][:, None] / width
    return np.asarray(table[left] * (1 - share) + table[left + (levels.share[j] > 0)] * share)


def _products(a: Floats, b: Floats) -> Floats:
    return np.asarray((a[:, :, None] * b[:, None, :]).reshape(len(a), -1))


class SideChoice(NamedTuple):
    """The smoothness of a shared frame. Fits to subsets use the choice for all people."""

    pairs: bool  # whether pairs of side columns have functions
    ridge: float


@dataclass(frozen=True, eq=False)
class ColumnFrame:
    """One column's shift, log spread and slopes: constants, and weights of functions."""

    shift: Floats  # (1 + p,)
    spread: Floats  # (1 + p,)
    slopes: Floats  # (columns before it, 1 + p)


def fit_shared(
    Y: Floats,
    c: Codes,
    order: NDArray[np.int64],
    columns: Sequence[SideColumn],
    levels: SideLevels,
    splits: Codes,
    choice: SideChoice | None = None,
) -> tuple[ConditionalFrame, SideChoice]:
    """Fit the frame that all classes share, with the smoothness likeliest on held-out folds.

    Each of about a hundred quasi-Newton steps costs O(n p). Columns are fitted one at a time.
    """
    tried = (False, True) if 1 < len(columns) <= MOST_PAIRED else (False,)
    if choice is not None:
        tried = (choice.pairs,)
    bases = {pairs: SideBasis.of(columns, levels, pairs=pairs) for pairs in tried}

    def score(one: SideChoice) -> float:
        return _held_out(Y, c, order, bases[one.pairs], levels, splits, one.ridge)

    candidates = [SideChoice(pairs, ridge) for pairs in tried for ridge in RIDGES]
    choice = choice or max(candidates, key=score)
    basis = bases[choice.pairs]
    return frame_of(order, basis, _fit(Y, c, order, basis.rows(levels), choice.ridge)), choice


def _held_out(
    Y: Floats,
    c: Codes,
    order: NDArray[np.int64],
    basis: SideBasis,
    levels: SideLevels,
    splits: Codes,
    ridge: float,
) -> float:
    """Return the log-likelihood of all folds, with each class normal about its mean."""
    P, total = basis.rows(levels), 0.0
    for fold in range(int(splits.max()) + 1):
        out = splits == fold
        inside, outside = levels.take(np.flatnonzero(~out)), levels.take(np.flatnonzero(out))
        step = frame_of(order, basis, _fit(Y[:, ~out], c[~out], order, P[~out], ridge))
        frames = step.at(inside), step.at(outside)
        W = frames[0].inverse(Y[:, ~out]), frames[1].inverse(Y[:, out])
        total -= float(frames[1].log_slope.sum())
        for which in range(int(c.max()) + 1):
            own, tried = W[0][:, c[~out] == which], W[1][:, c[out] == which]
            total += float(normal_likelihoods(own, tried).sum())
    return total


def normal_likelihoods(own: Floats, tried: Floats) -> Floats:
    """Return the log-likelihoods of (d, n) points under the normal law fitted to other points."""
    mean, covariance = own.mean(axis=1, keepdims=True), np.atleast_2d(np.cov(own))
    left = np.linalg.solve(np.linalg.cholesky(covariance), tried - mean)
    return np.asarray(-0.5 * ((left * left).sum(axis=0) + np.linalg.slogdet(covariance)[1]))


def frame_of(
    order: NDArray[np.int64], basis: SideBasis, found: dict[int, ColumnFrame]
) -> ConditionalFrame:
    """Convert fitted columns to integer tables."""
    d = len(order)
    p = len(found[int(order[0])].shift) - 1
    weights = np.zeros((1 + p, d * (d + 2)))
    for place, j in enumerate(order.tolist()):
        one = found[j]
        weights[:, j] = one.shift / UNIT
        weights[:, d + j] = one.spread / np.log(2) * OCTAVE
        for i, slope in zip(order[:place].tolist(), one.slopes, strict=True):
            weights[:, d * (2 + j) + i] = slope / UNIT
    tables = list(basis.tables(weights[1:]))
    tables[0] = tables[0] + weights[0][:, None]
    return ConditionalFrame.of(order, SideTables.of(basis.columns, basis.terms, tables))


def _fit(
    Y: Floats, c: Codes, order: NDArray[np.int64], P: Floats, ridge: float
) -> dict[int, ColumnFrame]:
    found: dict[int, ColumnFrame] = {}
    before = np.empty((0, Y.shape[1]))
    for j in order.tolist():
        one = _fit_column(Y[j], before, c, P, ridge)
        found[j] = one
        slopes = one.slopes[:, :1] + one.slopes[:, 1:] @ P.T
        w = Y[j] - one.shift[0] - P @ one.shift[1:] - (slopes * before).sum(axis=0)
        before = np.concatenate([before, [w / np.exp(one.spread[0] + P @ one.spread[1:])]])
    return found


def _fit_column(y: Floats, before: Floats, c: Codes, P: Floats, ridge: float) -> ColumnFrame:
    """Maximise the likelihood of one column, given the standardised columns before it.

    y = mean + sd (P m + sum of w_i (b_i P) + exp(P g) u), u = a_c + sum of w_i b_ic + s_c e.
    """
    from scipy.optimize import minimize

    mean, sd = float(y.mean()), float(y.std())
    z, p, k, m = (y - mean) / sd, P.shape[1], int(c.max()) + 1, len(before)
    C = np.eye(k)[c]
    sizes = (p, p, k, k, m * p, m * k)
    ends = np.cumsum(sizes)[:-1]

    def loss(theta: Floats) -> tuple[float, Floats]:
        shift, spread, a, s, b, own = np.split(theta, ends)
        b, own = b.reshape(m, p), own.reshape(m, k)
        logs = np.clip(P @ spread, -MOST, MOST)
        width = np.exp(logs)
        u = (z - P @ shift - ((b @ P.T) * before).sum(axis=0)) / width
        e = (u - a[c] - (own[:, c] * before).sum(axis=0)) / np.exp(s[c])
        pull = e / np.exp(s[c])
        moved = pull / width
        slopes = [
            *(-(P.T @ (moved * w)) + ridge * row for w, row in zip(before, b, strict=True)),
            *(-(C.T @ (pull * w)) + SLOPES * row for w, row in zip(before, own, strict=True)),
        ]
        slope = np.concatenate(
            [
                -(P.T @ moved) + ridge * shift,
                P.T @ (1 - pull * u) + ridge * spread,
                -(C.T @ pull) + PULL * a,
                C.T @ (1 - e * e) + PULL * s,
                *slopes,
            ]
        )
        drawn = ridge * sum(float(one @ one) for one in (shift, spread, b.ravel()))
        drawn += SLOPES * float((own * own).sum()) + PULL * float(a @ a + s @ s)
        value = 0.5 * float(e @ e) + float(s[c].sum() + logs.sum()) + 0.5 * drawn
        return value, slope

    start = np.zeros(sum(sizes))
    start[2 * p : 2 * p + k] = [z[c == one].mean() for one in range(k)]
    theta = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    shift, spread, _, _, b, _ = np.split(theta, ends)
    return ColumnFrame(
        np.concatenate([[mean], sd * shift]),
        np.concatenate([[np.log(sd)], spread]),
        sd * np.concatenate([np.zeros((m, 1)), b.reshape(m, p)], axis=1),
    )


def fit_own(
    W: Floats,
    c: Codes,
    order: NDArray[np.int64],
    columns: Sequence[SideColumn],
    levels: SideLevels,
    splits: Codes,
) -> tuple[ConditionalFrame | None, ...]:
    """Fit each class's addition to the shared frame, or None if the gain is too small.

    The gain on held-out readings must exceed its standard error. With a hundred people, an addition
    is mostly noise.
    """
    basis = SideBasis.of(columns, levels, pairs=1 < len(columns) <= MOST_PAIRED)
    found = []
    for which in range(int(c.max()) + 1):
        own = np.flatnonzero(c == which)
        found.append(_fit_addition(W[:, own], order, basis, levels.take(own), splits[own]))
    return tuple(found)


def _fit_addition(
    V: Floats,
    order: NDArray[np.int64],
    basis: SideBasis,
    levels: SideLevels,
    splits: Codes,
) -> ConditionalFrame | None:
    """Fit one class's addition. Its held-out readings decide its shrinkage towards zero."""
    P = basis.rows(levels)
    sizes = np.bincount(splits, minlength=int(splits.max()) + 1)
    if min(sizes.min(), len(splits) - sizes.max()) <= len(V) + 1:
        return None
    gains = {kappa: _gains(V, order, basis, levels, splits, kappa) for kappa in OWN}
    best = max(OWN, key=lambda kappa: float(gains[kappa].mean()))
    gain = gains[best]
    if gain.mean() * np.sqrt(len(gain)) <= gain.std():
        return None
    return frame_of(order, basis, _fit_class(V, order, P, best))


def _gains(
    V: Floats,
    order: NDArray[np.int64],
    basis: SideBasis,
    levels: SideLevels,
    splits: Codes,
    kappa: float,
) -> Floats:
    """Return the gain in log-likelihood of each reading, with each fold held out in turn."""
    P, found = basis.rows(levels), []
    for fold in range(int(splits.max()) + 1):
        out = splits == fold
        inside, outside = levels.take(np.flatnonzero(~out)), levels.take(np.flatnonzero(out))
        step = frame_of(order, basis, _fit_class(V[:, ~out], order, P[~out], kappa))
        frames = step.at(inside), step.at(outside)
        left = frames[0].inverse(V[:, ~out]), frames[1].inverse(V[:, out])
        after = normal_likelihoods(*left) - frames[1].log_slope
        found.append(after - normal_likelihoods(V[:, ~out], V[:, out]))
    return np.concatenate(found)


def _fit_class(
    V: Floats, order: NDArray[np.int64], P: Floats, kappa: float
) -> dict[int, ColumnFrame]:
    """Regress one class's shift and log spread on the functions, with shrinkage towards zero."""
    Q = P - P.mean(axis=0)
    pull = kappa * np.eye(P.shape[1])
    found = {}
    for place, j in enumerate(order.tolist()):
        v = V[j] - V[j].mean()
        shift = np.linalg.solve(Q.T @ Q + pull, Q.T @ v)
        left = v - Q @ shift
        square = left * left / (left @ left / len(left)) - 1
        # one step of Fisher scoring from a constant spread
        spread = np.linalg.solve(2 * (Q.T @ Q + pull), Q.T @ square)
        slopes = np.zeros((place, 1 + P.shape[1]))
        found[j] = ColumnFrame(np.append(0.0, shift), np.append(0.0, spread), slopes)
    return found
