"""Measure the leakage and the cost of a policy's messages, on subjects held out of the fit.

Subjects are split into three folds. Maps fitted to two folds send the readings of the third. An
eavesdropper will likewise overhear people whom no map was fitted to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Z95
from voile.signals.fitting.maps.columns import base_sample, sample_of
from voile.signals.fitting.methods.transport import FOLDS, folds
from voile.signals.information.mutual import NEIGHBOURS, contributions
from voile.signals.information.near_points import NearPoints
from voile.signals.information.subjects import CheckedSubjects, Subjects
from voile.signals.model.codec.columns import Scale
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.lift import RelationLift
from voile.signals.model.codec.nominal import ValueAssignment
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.side import SideColumn, SideLevels, missing_features, side_features
from voile.signals.model.maps.fitted import ClassSample, MapMethod
from voile.signals.model.maps.stored import StoredMap

APART = 1e3  # distance of nominal values in standard deviations: neighbours share a value
DEALS = 50
MOST = 30_000  # maximum subjects of an estimate, since neighbours are searched for each


@dataclass(frozen=True)
class ClassLeakage:
    """The leakage of messages about the class in bits, with its 95% interval."""

    bits: float
    low: float
    high: float

    @classmethod
    def of(cls, parts: Floats) -> ClassLeakage:
        """Average the subjects' contributions."""
        bits, error = float(parts.mean()), Z95 * float(parts.std()) / np.sqrt(len(parts))
        return cls(bits, bits - error, bits + error)


@dataclass(frozen=True, eq=False)
class MapTrial:
    """Readings of subjects held out of a map, one per subject."""

    map: StoredMap  # fitted to the other folds
    X: NDArray[Any]  # (n, d) readings
    c: Codes  # (n,) classes
    u: Floats  # (n, d) position of each reading's dither in its cell, -1/2 to 1/2
    beliefs: tuple[Floats, Floats]  # distinct p(c | s), (g, k), and p(s) of each, (g,)
    levels: SideLevels | None = None  # their levels on the side columns' grids

    def contributions(self, clouds: Sequence[Floats | NearPoints], c: Codes) -> Floats:
        """Return each subject's contribution to the leakage, if the subjects had classes `c`.

        With side columns K it is I(Z, K; C) - I(K; C): the information that messages add to them.
        """
        first, *others = (contributions(one, c, NEIGHBOURS, *self.beliefs) for one in clouds)
        return np.asarray(first - others[0]) if others else first

    def clouds(self, cloud: Floats) -> list[Floats]:
        """Return messages with side columns, and side columns alone, if there are any."""
        if self.levels is None:
            return [cloud]
        K = self.beside()
        return [np.concatenate([cloud, K], axis=1), K]

    def beside(self) -> Floats:
        """Return the side columns as numbers of equal spread, (n, features)."""
        assert self.levels is not None
        return side_features(self.map.side, self.levels)

    def encode_messages(self, base: str, strength: float) -> NDArray[Any]:
        """Return the messages, (n, d), with the index of the value for nominal columns."""
        codec = self.map.at(base, strength).codec_
        out = np.empty(self.X.shape)
        for which in np.unique(self.c):
            own = np.flatnonzero(self.c == which)
            for j, column in enumerate(codec.columns):
                if isinstance(column, ValueAssignment):
                    out[own, j] = column.sent[which][self._codes(column, own, j)]
            V = self._numbers(own)
            at = None if self.levels is None else self.levels.take(own)
            out[np.ix_(own, codec.numeric)] = codec.forward(V, int(which), at).T if len(V) else V.T
        return out

    def plain(self) -> Floats:
        """Return the readings as numbers, (n, d)."""
        out = np.empty(self.X.shape)
        for j, column in enumerate(self.map.columns):
            everyone = np.arange(len(self.X))
            nominal = isinstance(column, ValueAssignment)
            out[:, j] = self._codes(column, everyone, j) if nominal else self.X[:, j]
        return out

    def _codes(self, column: Scale, rows: Codes, j: int) -> Codes:
        assert isinstance(column, ValueAssignment)
        return np.asarray(np.searchsorted(column.values, self.X[rows, j].astype(str)))

    def _numbers(self, rows: Codes) -> Floats:
        """Return dithered readings, (numeric columns, rows)."""
        lattices = [(j, c) for j, c in enumerate(self.map.columns) if isinstance(c, ValueLattice)]
        parts = [
            lattice.nearest(self.X[rows, j].astype(np.float64))
            + self.u[rows, j] * lattice.resolution
            for j, lattice in lattices
        ]
        return np.stack(parts) if parts else np.empty((0, len(rows)))


def trials(
    method: MapMethod,
    table: NDArray[Any],
    c: Codes,
    whose: Codes,
    tried: Codes,
    columns: Sequence[Scale],
    *,
    u: Floats,
    seed: int,
    prior: Floats | None = None,
    side: Sequence[SideColumn] = (),
    levels: SideLevels | None = None,
    lift: RelationLift | None = None,
) -> Iterator[MapTrial]:
    """Fit to two folds of subjects, and yield a trial of the rows `tried` in the third.

    The adversary's beliefs are `prior`, (n, k) p(c | s), or the class shares if it is None.
    Lattices and the grids of side columns come from all readings, since they depend on scales and
    not on people.
    """
    n, k = len(table), int(c.max()) + 1
    everyone = CheckedSubjects.of(Subjects(whose, beliefs=prior), n, k)
    fold = folds(ClassSample(np.empty((n, 0)), c, whose, np.empty(0)), seed)
    for out in range(FOLDS):
        rest = np.flatnonzero(fold != out)
        own = tuple(
            _refit_column(column, table[rest, j], c[rest]) for j, column in enumerate(columns)
        )
        sample = sample_of(table[rest], own, c[rest], everyone.at(rest))
        if levels is not None:
            sample = replace(sample, side=tuple(side), levels=levels.take(rest))
        if lift is not None:
            sample = base_sample(sample, lift)
        fitted = method.fit(sample, seed) if len(sample.cells) else None
        rows = tried[fold[tried] == out]
        beliefs = everyone.at(rows).distinct(c[rows], k)
        map = StoredMap(np.arange(k), own, fitted, tuple(side), lift=lift)
        at = None if levels is None else levels.take(rows)
        yield MapTrial(map, table[rows], c[rows], u[rows], beliefs, at)


def _refit_column(column: Scale, values: NDArray[Any], c: Codes) -> Scale:
    """Fit a nominal column to these rows only. Values that they lack come last."""
    if isinstance(column, ValueLattice):
        return column
    k, m = int(c.max()) + 1, len(column.values)
    each = np.concatenate([values.astype(str), np.tile(column.values, k)])
    return ValueAssignment.of(each, np.concatenate([c, np.repeat(np.arange(k), m)]), k)


def points(Z: Floats, numeric: Sequence[bool]) -> Floats:
    """Scale messages to equal spread, with a large distance between nominal values."""
    spread = Z.std(axis=0)
    jitter = np.random.default_rng(0).normal(0, 1e-9, Z.shape)  # breaks ties between equal messages
    scaled = Z / np.where(spread > 0, spread, 1)
    return np.asarray(np.where(np.asarray(numeric), scaled, APART * Z) + jitter)


@dataclass(frozen=True, eq=False)
class MethodTrials:
    """The trials of one method in all folds."""

    folds: tuple[MapTrial, ...]

    def encode_messages(self, base: str, strength: float) -> list[Floats]:
        return [one.encode_messages(base, strength) for one in self.folds]

    def leakage(self, strength: float) -> ClassLeakage:
        """Estimate the leakage of messages in bits, by Ross's estimator in each fold.

        One base is enough, since the step after the barycentre is the same map for all classes
        (Section 6.2).
        """
        clouds = zip(self._clouds(strength), self.folds, strict=True)
        return ClassLeakage.of(
            np.concatenate([one.contributions(one.clouds(cloud), one.c) for cloud, one in clouds])
        )

    def alone(self, *, missing: bool = False) -> ClassLeakage:
        """Estimate the information of side columns without messages, or of their missing values."""
        parts = []
        for one in self.folds:
            assert one.levels is not None
            K = missing_features(one.map.side, one.levels) if missing else one.beside()
            if K is None:  # no missing values reveal nothing; an estimate would be noise
                parts.append(np.zeros(len(one.c)))
            else:
                parts.append(contributions(K, one.c, NEIGHBOURS, *one.beliefs))
        return ClassLeakage.of(np.concatenate(parts))

    def null(self, strength: float, rng: np.random.Generator) -> float:
        """Return the 95th percentile of the estimate with shuffled classes."""
        pairs = [
            (one, [NearPoints.of(each) for each in one.clouds(cloud)])
            for cloud, one in zip(self._clouds(strength), self.folds, strict=True)
        ]

        def dealt() -> float:
            parts = [one.contributions(near, rng.permutation(one.c)) for one, near in pairs]
            return float(np.concatenate(parts).mean())

        return float(np.quantile([dealt() for _ in range(DEALS)], 0.95))

    def distortion(self, base: str, strength: float) -> float:
        """Return the root mean square of (z - x) / sd(x). A changed nominal value counts 1."""
        if strength == 0:  # readings are sent unchanged
            return 0.0
        X = np.concatenate([one.plain() for one in self.folds])
        Z = np.concatenate(self.encode_messages(base, strength))
        off = np.where(self.folds[0].map.spans, (Z - X) / X.std(axis=0), Z != X)
        return float(np.sqrt((off**2).mean()))

    def _clouds(self, strength: float) -> list[Floats]:
        spans = self.folds[0].map.spans
        return [points(Z, spans) for Z in self.encode_messages("normal", strength)]
