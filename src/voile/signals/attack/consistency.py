"""Decode each message under every class, and infer the class with consistent readings.

Each class has its own map. A relation among readings, or with known columns, holds only after
decoding with the true class's map. The adversary knows all maps and the classes of half of the
people, but no relation. Regressions on the decoded readings of these people find the relations.
Success is to name the class of another person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from voile.signals.attack.attackers import ClassAttacker, by_chances
from voile.signals.attack.choice import infer_others, limit_threads
from voile.signals.information.leakage import CONSISTENCY
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.side import SideLevels

FOLDS = 3
RIDGE = 1e-6  # relative to a column's mean square; exact relations remain exact
LEAST = 0.25  # in cells: smaller residuals are treated as equal
DEALS = 200  # permutations for the baseline
CYCLES = (2, 5, 10)  # of last digits that people or devices prefer
MANY = 8  # people of a class per coefficient of its own regression
TRIMS = 3  # trimmed fits per regression
FAR = 3.0  # in median residuals: rows beyond are excluded from the next fit
BOUND = 1e6  # in spreads: decoded values are clipped here


@dataclass(frozen=True, eq=False)
class DecodedMessages:
    """Messages of different people, and their readings decoded with each class's map."""

    Z: Floats  # (n, features) messages
    readings: Floats  # (k, n, d) readings decoded under each class
    off: Floats  # (k, n, d) distance to the lattice before rounding, in cells
    cells: Floats  # (d,) widths of the rounding cells
    known: Floats  # (n, q) columns that the adversary knows

    @classmethod
    def of(cls, codec: Codec, Z: Floats, at: SideLevels, known: Floats) -> DecodedMessages:
        """Decode the numeric columns of messages, (n, d), under every class of the codec."""
        V = np.ascontiguousarray(Z[:, codec.numeric].T, dtype=np.float64)
        lattices = [one for one in codec.columns if isinstance(one, ValueLattice)]
        cells = np.array([lattice.resolution for lattice in lattices])
        readings, off = [], []
        for which in range(len(codec.classes)):
            X = codec.inverse(V, which, at)
            on = [lattice.nearest(x) for lattice, x in zip(lattices, X, strict=True)]
            readings.append(np.stack(on, axis=1))
            off.append(np.abs(X.T - readings[-1]) / cells)
        return cls(np.ascontiguousarray(V.T), np.stack(readings), np.stack(off), cells, known)

    @classmethod
    def join_parts(cls, parts: Sequence[DecodedMessages]) -> DecodedMessages:
        """Join parts with different people, each decoded by the maps of its part."""
        return cls(
            np.concatenate([one.Z for one in parts]),
            np.concatenate([one.readings for one in parts], axis=1),
            np.concatenate([one.off for one in parts], axis=1),
            parts[0].cells,
            np.concatenate([one.known for one in parts]),
        )


def infer_by_consistency(
    heard: DecodedMessages,
    c: Codes,
    learned: Codes,
    tried: Sequence[Codes],
    seed: int,
    priors: Sequence[Floats | None] | None = None,
) -> tuple[ClassAttacker, ...]:
    """Score the consistency adversary on each group of people in `tried`.

    Parameters
    ----------
    c : (n,) classes from 0. learned : rows of the people with known classes.
    tried : for each group its rows. seed : for folds and learners.
    priors : for each group (m, k) p(c | s). None: the class shares of the learned people.

    Quadratic regressions of each column on the others and on known columns give residuals. They use
    values and logarithms, for people of all classes and of each class. A cross-fitted booster
    separates right from wrong decodings by residuals and last digits. Learners then receive its
    scores, the messages, the residuals and the digits. They are chosen on the learned people only.

    Guarantee: a lower bound on an adversary's success. Cost: about ten boosters of k n rows.
    """
    fold = np.random.default_rng(seed).permutation(len(learned)) % FOLDS
    others = np.concatenate(tried)
    scores = np.empty((len(c), len(heard.readings)))
    for out in range(FOLDS):
        rest, mine = learned[fold != out], learned[fold == out]
        scores[mine] = _score_decodings(heard, c, rest, mine, seed)
    scores[others] = _score_decodings(heard, c, learned, others, seed)
    rows = np.concatenate([learned, others])
    is_learned = np.arange(len(rows)) < len(learned)
    views = _views(heard, c, learned, scores)
    views = {name: view[rows] for name, view in views.items()}
    chances = infer_others(views, c[rows], is_learned, seed).chances
    shares = np.bincount(c[learned]) / len(learned)
    found = []
    groups = np.split(chances, np.cumsum([len(one) for one in tried])[:-1])
    for own, chosen, prior in zip(tried, groups, priors or [None] * len(tried), strict=True):
        if prior is not None:
            weighed = chosen * prior / shares + 1e-300
            chosen = weighed / weighed.sum(axis=1, keepdims=True)
        permuted = _permute(chosen, c[own], seed)
        found.append(replace(by_chances(CONSISTENCY, chosen, c[own], prior), permuted=permuted))
    return tuple(found)


def _views(
    heard: DecodedMessages, c: Codes, learned: Codes, scores: Floats
) -> Mapping[str, Floats]:
    residuals = _ColumnResiduals.of(heard, c, learned)
    each = [_measure(residuals, heard, which) for which in range(len(heard.readings))]
    plausible = np.concatenate([scores, scores - scores.max(axis=1, keepdims=True)], axis=1)
    stacked = np.concatenate([heard.Z, heard.known, plausible], axis=1)
    return {
        "plausibility": plausible,
        "plausibility and messages": stacked,
        "plausibility, messages and residuals": np.concatenate([stacked, *each], axis=1),
    }


def _measure(residuals: _ColumnResiduals, heard: DecodedMessages, which: int) -> Floats:
    """Return the residuals and last digits of messages decoded with one class's map."""
    places = np.rint(heard.readings[which] / heard.cells)
    digits = [np.mod(places, of) for of in CYCLES]
    return np.concatenate([residuals.measure(heard, which), *digits], axis=1)


def _permute(chances: Floats, c: Codes, seed: int) -> float:
    """Return the 95th percentile of balanced accuracy with permuted classes."""
    rng, k = np.random.default_rng(seed), chances.shape[1]
    guess = (chances / np.bincount(c, minlength=k)).argmax(axis=1)
    dealt = (rng.permutation(c) for _ in range(DEALS))
    rates = [np.mean([(guess[one == j] == j).mean() for j in range(k)]) for one in dealt]
    return float(np.quantile(rates, 0.95))


def _score_decodings(
    heard: DecodedMessages, c: Codes, learned: Codes, tried: Codes, seed: int
) -> Floats:
    """Return the log-odds that the decoding under each class is the right one, (tried, k)."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]

    residuals = _ColumnResiduals.of(heard, c, learned)
    k = len(heard.readings)
    views = [
        np.concatenate(
            [
                _measure(residuals, heard, which),
                heard.off[which],
                heard.readings[which],
                heard.known,
                np.full((len(c), 1), which),
            ],
            axis=1,
        )
        for which in range(k)
    ]
    is_right = np.concatenate([c[learned] == which for which in range(k)])
    booster = HistGradientBoostingClassifier(
        learning_rate=0.1, max_iter=60, max_leaf_nodes=16, random_state=seed
    )
    with limit_threads():
        booster.fit(np.concatenate([one[learned] for one in views]), is_right)
        return np.stack([booster.decision_function(one[tried]) for one in views], axis=1)


class _ColumnRegression(NamedTuple):
    """The regression of a column on the others, in values or logarithms."""

    column: int
    logs: bool
    mean: Floats  # mean of the other columns; `spread` is their standard deviation
    spread: Floats
    coefficients: Floats
    error: float  # standard deviation of the residuals


@dataclass(frozen=True, eq=False)
class _ColumnResiduals:
    """Regressions of each column on the others, in values and, if positive, in logarithms.

    Each is fitted to people of all classes, and to those of each class, since a relation may differ
    by class.
    """

    pooled: tuple[_ColumnRegression, ...]
    own: tuple[tuple[_ColumnRegression, ...], ...]  # by class
    cells: Floats

    @classmethod
    def of(cls, heard: DecodedMessages, c: Codes, learned: Codes) -> _ColumnResiduals:
        """Fit to the right decodings of people with known classes."""
        right, known, k = heard.readings[c[learned], learned], heard.known[learned], c[learned]
        fits = [
            (j, logs)
            for j in range(right.shape[1])
            for logs in (False, True)
            if not logs or (right > 0).all()
        ]
        pooled = tuple(_regress(right, known, *one) for one in fits)
        own = []
        for which in range(len(heard.readings)):
            rows = k == which
            is_enough = rows.sum() >= MANY * len(pooled[0].coefficients)
            some = (_regress(right[rows], known[rows], *one) for one in fits)
            own.append(tuple(some) if is_enough else pooled)
        return cls(pooled, tuple(own), heard.cells)

    def measure(self, heard: DecodedMessages, which: int) -> Floats:
        """Return each residual in spreads, and the log of its size in cells, as (n, features)."""
        X = heard.readings[which]
        found = []
        for j, logs, mean, spread, coefficients, error in (*self.pooled, *self.own[which]):
            given, y = _design(X, heard.known, j, logs)
            left = y - _terms(given, mean, spread) @ coefficients
            size = np.maximum(np.abs(X[:, j]), self.cells[j]) if logs else 1.0
            cell = self.cells[j] / size
            found += [left / error, np.log(np.abs(left) / cell + LEAST)]
        return np.asarray(np.clip(np.stack(found, axis=1), -BOUND, BOUND))


def _regress(X: Floats, known: Floats, j: int, logs: bool) -> _ColumnRegression:
    """Regress a column of right decodings on the others, with trimmed outliers."""
    given, y = _design(X, known, j, logs)
    mean, spread = given.mean(axis=0), given.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    P, near = _terms(given, mean, scale), np.ones(len(y), dtype=bool)
    for _ in range(TRIMS):
        Q = P[near]
        ridge = RIDGE * len(Q) * np.eye(P.shape[1])
        coefficients = np.asarray(np.linalg.solve(Q.T @ Q + ridge, Q.T @ y[near]))
        off = np.abs(y - P @ coefficients)
        near = off <= FAR * np.median(off)
    error = float(off.std())
    return _ColumnRegression(j, logs, mean, scale, coefficients, max(error, 1e-12))


def _design(X: Floats, known: Floats, j: int, logs: bool) -> tuple[Floats, Floats]:
    """Return the predictors of column j, and column j."""
    table = np.log(np.maximum(X, 1e-9)) if logs else X
    extra = known
    if logs and known.size:
        positive = (known > 0).all(axis=0)
        extra = np.where(positive, np.log(np.where(positive, np.maximum(known, 1e-9), 1.0)), known)
    given = np.concatenate([np.delete(table, j, axis=1), extra], axis=1)
    return given, table[:, j]


def _terms(given: Floats, mean: Floats, spread: Floats) -> Floats:
    """Return a constant, the standardised columns, their squares and products."""
    w = np.clip((given - mean) / spread, -30, 30)
    pairs = combinations_with_replacement(range(w.shape[1]), 2)
    parts = [np.ones(len(w)), *w.T, *(w[:, a] * w[:, b] for a, b in pairs)]
    return np.stack(parts, axis=1)
