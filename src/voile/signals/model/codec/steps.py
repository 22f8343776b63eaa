"""The elementary injective steps that every map is made of, as pieces of lines: NumPy alone.

Readings travel as (d, n) float64, one row a column of the source, so that each row is contiguous.
A step is convex in its parameters: `at(strength)` lies between the identity and the step, and
every step on that way is injective too. No logarithm or error function is evaluated: curves are
tables, read by linear interpolation, and go on as straight lines beyond their ends.
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

SAME = 1e-12  # of a curve's span: knots nearer than this are one


class CodecStep(Protocol):
    """Map (d, n) readings injectively, and back."""

    kind: ClassVar[str]

    def forward(self, V: Floats, /) -> Floats:
        """Return the mapped readings."""

    def inverse(self, V: Floats, /) -> Floats:
        """Return the readings again."""

    def to_arrays(self) -> Arrays:
        """Return plain arrays that the constructor takes back."""


@dataclass(frozen=True, eq=False)
class PieceCurve(BriefRepr):
    """An increasing curve of straight pieces: knots `x` to `y`, both (g,) and rising, g >= 2."""

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
        """Return the curve's values at `v`, (n,); its end pieces go on for ever."""
        return self._there.evaluate_at(v)

    def inverse(self, v: Floats) -> Floats:
        return self._back.evaluate_at(v)

    def invert_curve(self) -> PieceCurve:
        return PieceCurve(self.y, self.x)


def between(a: PieceCurve, b: PieceCurve, strength: float) -> PieceCurve:
    """Return (1 - strength) a + strength b, straight between the knots of either.

    One knot is kept if several almost coincide. A knot is added on each end piece. So no slope
    comes from a piece as short as a rounding error.
    """
    x = np.union1d(a.x, b.x)
    span = x[-1] - x[0]
    x = x[np.append(True, np.diff(x) > SAME * span)]
    x = np.concatenate([[x[0] - span], x, [x[-1] + span]])
    return PieceCurve(x, (1 - strength) * a(x) + strength * b(x))


@dataclass(frozen=True, eq=False)
class AffineMap(BriefRepr):
    """v -> matrix v + shift; matrix (d, d) is regular, shift (d,)."""

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
    """Multiply term by term: a BLAS may order the sum otherwise on another machine or batch."""
    out = np.empty_like(V)
    for j, row in enumerate(matrix):
        np.multiply(V[0], row[0], out=out[j])
        for i in range(1, len(row)):
            if row[i]:
                out[j] += row[i] * V[i]
    return out


def mix(a: AffineMap, b: AffineMap, strength: float) -> AffineMap:
    """Return (1 - strength) a + strength b.

    The result is regular if both matrices are symmetric and positive, or both triangular with a
    positive diagonal: such matrices stay so in between.
    """
    return AffineMap(
        (1 - strength) * a.matrix + strength * b.matrix,
        (1 - strength) * a.shift + strength * b.shift,
    )


@dataclass(frozen=True, eq=False)
class ColumnBend:
    """Bend each column by a curve of its own: knots `x` and `y`, (d, g), each row rising."""

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
        """Join curves of any number of knots; shorter ones get more points on their own line."""
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
    """Return the same curve with `size` knots, the new ones on its first piece of line."""
    more = size - len(curve.x)
    if not more:
        return curve
    x = np.concatenate([np.linspace(curve.x[0], curve.x[1], more + 2)[:-1], curve.x[1:]])
    return PieceCurve(x, curve(x))


@dataclass(frozen=True, eq=False)
class KnotheRosenblatt:
    """A triangular map: each column given the ones that came before it in `order`.

    z_j = curve_j((v_j - sum of mean_ji(z_i)) * product of scale_ji(z_i)), i before j. Its
    inverse needs no order: all z are known.

    Source: Knothe 1957, Rosenblatt 1952.
    """

    kind: ClassVar[str] = "kr"
    order: NDArray[np.int64]  # (d,) which column comes when
    grid: Floats  # (g,) rising, where all tables are held
    mean: Floats  # (d, d, g) additive conditional mean of column j at column i's z
    scale: Floats  # (d, d, g), above 0, one over the conditional spread
    curve: Floats  # (d, g), each row rising: the marginal map of what remains
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
        """Mean and scale of column j given column i."""
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
        """Return conditional mean and one over the conditional spread of column j."""
        shift: Floats | float = 0.0
        scale: Floats | float = 1.0
        for i in before:
            mean, spread = self._tables[int(j), int(i)]
            held = np.clip(Z[i], self.grid[0], self.grid[-1])  # beyond, both stay as they are
            piece = mean.piece(held)
            shift = shift + mean.evaluate_at(held, piece)
            scale = scale * spread.evaluate_at(held, piece)
        return shift, scale

    def log_slope(self, V: Floats, Z: Floats) -> Floats:
        """Return the logarithm of each column's slope at V, which the step takes to Z."""
        logs = np.empty_like(V)
        for place, j in enumerate(self.order):
            _, scale = self._condition_column(Z, j, self.order[:place])
            piece = np.searchsorted(self.curve[j], Z[j]).clip(1, len(self.grid) - 1) - 1
            slope = np.diff(self.curve[j]) / np.diff(self.grid)
            logs[j] = np.log(slope[piece]) + np.log(scale)
        return logs

    def at(self, strength: float) -> KnotheRosenblatt:
        """Return the map that lies `strength` of the way from the identity."""
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
