"""The result of a method: per class a frame and layers, and the common law."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.keys.random import RandomState, streams
from voile.signals.model.codec.codec import FARTHEST
from voile.signals.model.codec.conditional import ConditionalFrame
from voile.signals.model.codec.lift import RelationLift
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.place import ReadingPlace
from voile.signals.model.codec.side import SideColumn, SideLevels
from voile.signals.model.codec.steps import AffineMap, KnotheRosenblatt, PieceCurve

# Normal scores at which laws are tabulated: beyond, curves go on straight.
SCORES = np.linspace(-FARTHEST, FARTHEST, 171)


@dataclass(frozen=True, eq=False)
class SideFrames(BriefRepr):
    """Frames that depend on side columns; the steps outside them depend on the class alone."""

    shared: ConditionalFrame  # of all classes
    own: tuple[ConditionalFrame | None, ...]  # per class what it adds, inside the shared frame
    typical: AffineMap  # the mean of the shared frames, for a base that does not follow them
    in_clear: bool = False  # whether the side columns travel, so that a base may follow them
    choice: Any = None  # how smooth the shared frame is, of a fit; not stored

    def into(self, which: int) -> tuple[ConditionalFrame, ...]:
        """Return the steps from readings of a class to standard values."""
        own = self.own[which]
        return (self.shared.turn(), *(() if own is None else (own.turn(),)))


@dataclass(frozen=True, eq=False)
class FittedLaws(BriefRepr):
    """The maps from each class to one common law.

    frames : per class the affine map from the common law to its readings: mean and spread. All
        matrices are symmetric and positive, or all are triangular in one order of the columns
        with a positive diagonal. So everything between two frames is a frame.
    """

    shares: Floats  # (k,) shares of the classes, sum 1
    frames: tuple[AffineMap, ...]
    layers: tuple[
        tuple[KnotheRosenblatt, ...], ...
    ]  # per class; they take what is left, in the frame, to the law
    law: Floats  # (d, len(SCORES)) the value of the common law at each normal score, per column
    coordinates: tuple[PieceCurve, ...]  # per column the curve to work in, e.g. a logarithm
    epsilon: float | None = None  # of a map that 0.1.0 fitted to noisy counts; None of all others
    side: SideFrames | None = None  # of a map that is conditional; it stands before the frames
    choices: Any = None  # what the method chose, which fits to parts of the people take; not stored

    def barycentre(self) -> AffineMap:
        """Return the mean frame, each class weighing its share."""
        weigh = self.shares
        return AffineMap(
            np.einsum("c,cij->ij", weigh, np.stack([frame.matrix for frame in self.frames])),
            weigh @ np.stack([frame.shift for frame in self.frames]),
        )


@dataclass(frozen=True, eq=False)
class ClassSample:
    X: Floats  # (n, d) readings, each on its column's lattice
    c: NDArray[np.intp]  # (n,) classes, 0 to k - 1, each there
    subjects: NDArray[np.intp]  # (n,) whose reading it is, 0 to the number of subjects - 1
    cells: Floats  # (d,) the width of each column's rounding cell
    beliefs: tuple[Floats, Floats] | None = None  # distinct p(c | s), (g, k), and p(s), (g,)
    side: tuple[SideColumn, ...] = ()  # the side columns, and where the readings lie on them
    levels: SideLevels | None = None
    lift: RelationLift | None = None  # that these are the base columns of

    @property
    def shares(self) -> Floats:
        """The share of each class: sum of p(s) p(c | s)."""
        if self.beliefs is not None:
            rows, chances = self.beliefs
            return np.asarray(chances @ rows)
        shares: Floats = np.bincount(self.c) / len(self.c)
        return shares

    def by_class(self) -> list[Floats]:
        return [self.X[self.c == k] for k in range(self.c.max() + 1)]

    def add_dither(self, random_state: RandomState) -> ClassSample:
        """Return the sample as it is sent: spread within the rounding cells."""
        (rng,) = streams(random_state, "dither of the fit")
        X = self.X + rng.uniform(-0.5, 0.5, self.X.shape) * self.cells
        for place, j in enumerate(self.lift.base if self.lift else ()):
            X[:, place] = self.lift.widen(j, X[:, place])  # type: ignore[union-attr]
        return replace(self, X=X)


class MapMethod(Protocol):
    """Learn the law of each class from readings."""

    def fit(self, sample: ClassSample, random_state: RandomState, /) -> FittedLaws:
        """Fit, or raise a RequestError if the method does not fit the readings."""


def refuse_below(sample: ClassSample, low: float, method: str) -> None:
    bad = (low > sample.X).any(axis=0)
    if bad.any():
        raise RequestError(
            "readings are not above 0" if low else "readings are below 0",
            where=ReadingPlace(int(bad.argmax())),
            instead=f"use another method than {method}",
        )


def plain(d: int) -> tuple[PieceCurve, ...]:
    ends = np.array([-1.0, 1.0])
    return (PieceCurve(ends, ends),) * d


def normal_law(d: int) -> Floats:
    return np.tile(SCORES, (d, 1))
