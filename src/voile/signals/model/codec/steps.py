"""The elementary injective steps of every map, piecewise linear, with NumPy only.

Readings are passed as (d, n) float64 arrays with one row per column of the source, so that each row
is contiguous. A step is convex in its parameters: `at(strength)` lies between the identity and the
step, and is injective for every strength. The code evaluates no logarithm or error function. Curves
are tables with linear interpolation, extended as straight lines beyond their ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.signals.model.codec.pieces import Floats, LinearPieces

Arrays: TypeAlias = dict[str, NDArray[np.generic]]

SAME = 1e-12  # relative to a curve's span: nearer knots are merged


class CodecStep(Protocol):
    """An injective map of (d, n) readings with an inverse."""

    kind: ClassVar[str]

    def forward(self, V: Floats, /) -> Floats:
        """Return the mapped readings."""

    def inverse(self, V: Floats, /) -> Floats:
        """Return the readings before the map."""

    def to_arrays(self) -> Arrays:
        """Return plain arrays that the constructor accepts."""


@dataclass(frozen=True, eq=False)
class PieceCurve(BriefRepr):
    """An increasing piecewise linear curve with knots `x` and `y`, both (g,) and rising, g >= 2."""

    x: Floats
    y: Floats

    def __post_init__(self) -> None:
        rising = len(self.x) > 1 and (np.diff(self.x) > 0).all() and (np.diff(self.y) > 0).all()
        if self.x.shape != self.y.shape or not rising:
            raise ValueError("the knots of a curve do not rise")

    @cached_property
    def _there(self) -> LinearPieces:
        return LinearPieces(self.x, self.y)

    @cached_property
    def _back(self) -> LinearPieces:
        return LinearPieces(self.y, self.x)

    def __call__(self, v: Floats) -> Floats:
        """Return the curve's values at `v`, (n,). The end pieces extend to infinity."""
        return self._there.evaluate_at(v)

    def inverse(self, v: Floats) -> Floats:
        return self._back.evaluate_at(v)

    def invert_curve(self) -> PieceCurve:
        return PieceCurve(self.y, self.x)


def between(a: PieceCurve, b: PieceCurve, strength: float) -> PieceCurve:
    """Return (1 - strength) a + strength b, linear between the knots of both curves.

    Knots that almost coincide are merged, and a knot is added on each end piece. So no slope is
    computed from a piece as short as a rounding error.
    """
    x = np.union1d(a.x, b.x)
    span = x[-1] - x[0]
    x = x[np.append(True, np.diff(x) > SAME * span)]
    x = np.concatenate([[x[0] - span], x, [x[-1] + span]])
    return PieceCurve(x, (1 - strength) * a(x) + strength * b(x))


@dataclass(frozen=True, eq=False)
class AffineMap(BriefRepr):
    """The map v -> matrix v + shift, with a regular matrix (d, d) and shift (d,)."""

    kind: ClassVar[str] = "affine"
    matrix: Floats
    shift: Floats

    def __post_init__(self) -> None:
        if self.matrix.shape != (len(self.shift),) * 2:
            raise ValueError("the matrix of a map has another size than its shift")

    @cached_property
    def _back(self) -> Floats:
        return np.asarray(np.linalg.inv(self.matrix), dtype=np.float64)

    def forward(self, V: Floats) -> Floats:
        return _times(self.matrix, V) + self.shift[:, None]

    def inverse(self, V: Floats) -> Floats:
        return _times(self._back, V - self.shift[:, None])

    def then(self, other: AffineMap) -> AffineMap:
        return AffineMap(other.matrix @ self.matrix, other.matrix @ self.shift + other.shift)

    def invert_map(self) -> AffineMap:
        return AffineMap(self._back, -self._back @ self.shift)

    def to_arrays(self) -> Arrays:
        return {"matrix": self.matrix, "shift": self.shift}


def _times(matrix: Floats, V: Floats) -> Floats:
    """Multiply term by term, since a BLAS may sum in another order on another machine or batch."""
    out = np.empty_like(V)
    for j, row in enumerate(matrix):
        np.multiply(V[0], row[0], out=out[j])
        for i in range(1, len(row)):
            if row[i]:
                out[j] += row[i] * V[i]
    return out


def mix(a: AffineMap, b: AffineMap, strength: float) -> AffineMap:
    """Return (1 - strength) a + strength b.

    The result is regular in two cases: both matrices are symmetric and positive definite, or both
    are triangular with a positive diagonal. The mixture then has the same form.
    """
    return AffineMap(
        (1 - strength) * a.matrix + strength * b.matrix,
        (1 - strength) * a.shift + strength * b.shift,
    )


@dataclass(frozen=True, eq=False)
class ColumnBend:
    """A map of each column by its own curve, with knots `x` and `y`, (d, g), each row rising."""

    kind: ClassVar[str] = "bend"
    x: Floats
    y: Floats

    def __post_init__(self) -> None:
        if len(self.curves) != len(self.y):
            raise ValueError("a bend has more columns of one side than of the other")

    @cached_property
    def curves(self) -> tuple[PieceCurve, ...]:
        return tuple(PieceCurve(x, y) for x, y in zip(self.x, self.y, strict=False))

    @classmethod
    def of(cls, curves: tuple[PieceCurve, ...]) -> ColumnBend:
        """Combine curves. Curves with fewer knots get extra knots on their first piece."""
        size = max(len(curve.x) for curve in curves)
        longer = [_with_knots(curve, size) for curve in curves]
        return cls(np.stack([c.x for c in longer]), np.stack([c.y for c in longer]))

    def forward(self, V: Floats) -> Floats:
        return np.stack([curve(v) for curve, v in zip(self.curves, V, strict=True)])

    def inverse(self, V: Floats) -> Floats:
        return np.stack([curve.inverse(v) for curve, v in zip(self.curves, V, strict=True)])

    def to_arrays(self) -> Arrays:
        return {"x": self.x, "y": self.y}


def _with_knots(curve: PieceCurve, size: int) -> PieceCurve:
    """Return the same curve with `size` knots; the new ones lie on its first piece."""
    more = size - len(curve.x)
    if not more:
        return curve
    x = np.concatenate([np.linspace(curve.x[0], curve.x[1], more + 2)[:-1], curve.x[1:]])
    return PieceCurve(x, curve(x))


@dataclass(frozen=True, eq=False)
class KnotheRosenblatt:
    """A triangular map in which each column is conditional on the columns before it in `order`.

    z_j = curve_j((v_j - sum of mean_ji(z_i)) * product of scale_ji(z_i)), i before j. The inverse
    can compute the columns in any order, since all z are known.

    Source: Knothe 1957, Rosenblatt 1952.
    """

    kind: ClassVar[str] = "kr"
    order: NDArray[np.int64]  # (d,) order of the columns
    grid: Floats  # (g,) rising, the knots of all tables
    mean: Floats  # (d, d, g) additive conditional mean of column j at column i's z
    scale: Floats  # (d, d, g), above 0, the reciprocal of the conditional spread
    curve: Floats  # (d, g), each row rising: the marginal map of the residual
    _curves: list[PieceCurve] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        d, g = len(self.order), len(self.grid)
        shapes = (self.mean.shape, self.scale.shape, self.curve.shape)
        if shapes != ((d, d, g), (d, d, g), (d, g)) or sorted(self.order) != list(range(d)):
            raise ValueError("the tables of a triangular map do not fit its columns")
        if not (self.scale > 0).all():
            raise ValueError("a conditional spread is not above 0")
        object.__setattr__(self, "_curves", [PieceCurve(self.grid, row) for row in self.curve])

    @cached_property
    def _tables(self) -> dict[tuple[int, int], tuple[LinearPieces, LinearPieces]]:
        """The mean and the scale of column j given column i, by (j, i)."""
        pairs = [(j, i) for place, j in enumerate(self.order) for i in self.order[:place]]
        return {
            (int(j), int(i)): (
                LinearPieces(self.grid, self.mean[j, i]),
                LinearPieces(self.grid, self.scale[j, i]),
            )
            for j, i in pairs
        }

    def forward(self, V: Floats) -> Floats:
        Z = np.empty_like(V)
        for place, j in enumerate(self.order):
            shift, scale = self._condition_column(Z, j, self.order[:place])
            Z[j] = self._curves[j]((V[j] - shift) * scale)
        return Z

    def inverse(self, V: Floats) -> Floats:
        X = np.empty_like(V)
        for place, j in enumerate(self.order):
            shift, scale = self._condition_column(V, j, self.order[:place])
            X[j] = self._curves[j].inverse(V[j]) / scale + shift
        return X

    def _condition_column(
        self, Z: Floats, j: np.int64, before: NDArray[np.int64]
    ) -> tuple[Floats | float, Floats | float]:
        """Return the conditional mean of column j and the reciprocal of its conditional spread."""
        shift: Floats | float = 0.0
        scale: Floats | float = 1.0
        for i in before:
            mean, spread = self._tables[int(j), int(i)]
            held = np.clip(Z[i], self.grid[0], self.grid[-1])  # both are constant beyond the grid
            piece = mean.piece(held)
            shift = shift + mean.evaluate_at(held, piece)
            scale = scale * spread.evaluate_at(held, piece)
        return shift, scale

    def log_slope(self, V: Floats, Z: Floats) -> Floats:
        """Return the log of each column's slope at V, which the step maps to Z."""
        logs = np.empty_like(V)
        for place, j in enumerate(self.order):
            _, scale = self._condition_column(Z, j, self.order[:place])
            piece = np.searchsorted(self.curve[j], Z[j]).clip(1, len(self.grid) - 1) - 1
            slope = np.diff(self.curve[j]) / np.diff(self.grid)
            logs[j] = np.log(slope[piece]) + np.log(scale)
        return logs

    def at(self, strength: float) -> KnotheRosenblatt:
        """Return the map at `strength` between the identity and this map."""
        return KnotheRosenblatt(
            self.order,
            self.grid,
            strength * self.mean,
            1 + strength * (self.scale - 1),
            self.grid + strength * (self.curve - self.grid),
        )

    def to_arrays(self) -> Arrays:
        names = ("order", "grid", "mean", "scale", "curve")
        return {name: getattr(self, name) for name in names}


STEPS: Mapping[str, type[AffineMap] | type[ColumnBend] | type[KnotheRosenblatt]] = {
    step.kind: step for step in (AffineMap, ColumnBend, KnotheRosenblatt)
}
