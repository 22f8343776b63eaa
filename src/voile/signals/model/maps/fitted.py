"""The result of a method: a frame and layers per class, and the common law."""

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

# Normal scores at which laws are tabulated. Curves continue as straight lines beyond them.
SCORES = np.linspace(-FARTHEST, FARTHEST, 171)


@dataclass(frozen=True, eq=False)
class SideFrames(BriefRepr):
    """Frames that depend on side columns, in two parts: shared by all classes, and per class."""

    shared: ConditionalFrame  # shared by all classes
    own: tuple[ConditionalFrame | None, ...]  # per class its addition within the shared frame
    typical: AffineMap  # mean of the shared frames, for a base that ignores side columns
    in_clear: bool = False  # whether side columns are sent, so that a base may depend on them
    choice: Any = None  # the smoothness chosen in the fit; not stored

    def into(self, which: int) -> tuple[ConditionalFrame, ...]:
        """Return the steps from the readings of a class to standard values."""
        own = self.own[which]
        return (self.shared.turn(), *(() if own is None else (own.turn(),)))


@dataclass(frozen=True, eq=False)
class FittedLaws(BriefRepr):
    """The maps from each class to one common law.

    frames : for each class the affine map from the common law to its readings: mean and spread. All
        matrices are symmetric and positive definite, or all are triangular in one column order with
        a positive diagonal. So every mixture of two frames is a frame.
    """

    shares: Floats  # (k,) shares of the classes, sum 1
    frames: tuple[AffineMap, ...]
    layers: tuple[
        tuple[KnotheRosenblatt, ...], ...
    ]  # per class, map the frame's residuals to the law
    law: Floats  # (d, len(SCORES)) values of the common law at each normal score
    coordinates: tuple[PieceCurve, ...]  # per column its coordinate curve, such as a logarithm
    epsilon: float | None = None  # for maps that 0.1.0 fitted to noisy counts, else None
    side: SideFrames | None = None  # conditional frames before the class frames, if any
    choices: Any = None  # the method's choices, reused in fits to subsets; not stored

    def barycentre(self) -> AffineMap:
        """Return the mean frame, weighted by the shares of the classes."""
        weigh = self.shares
        return AffineMap(
            np.einsum("c,cij->ij", weigh, np.stack([frame.matrix for frame in self.frames])),
            weigh @ np.stack([frame.shift for frame in self.frames]),
        )


@dataclass(frozen=True, eq=False)
class ClassSample:
    X: Floats  # (n, d) readings, each on its column's lattice
    c: NDArray[np.intp]  # (n,) classes, 0 to k - 1, all present
    subjects: NDArray[np.intp]  # (n,) subject of each reading, 0 to the number of subjects - 1
    cells: Floats  # (d,) the width of each column's rounding cell
    beliefs: tuple[Floats, Floats] | None = None  # distinct p(c | s), (g, k), and p(s), (g,)
    side: tuple[SideColumn, ...] = ()  # the side columns; `levels` are those of the readings
    levels: SideLevels | None = None
    lift: RelationLift | None = None  # the relations, if these are base columns

    @property
    def shares(self) -> Floats:
        """The share of each class: the sum of p(s) p(c | s)."""
        if self.beliefs is not None:
            rows, chances = self.beliefs
            return np.asarray(chances @ rows)
        shares: Floats = np.bincount(self.c) / len(self.c)
        return shares

    def by_class(self) -> list[Floats]:
        return [self.X[self.c == k] for k in range(self.c.max() + 1)]

    def add_dither(self, random_state: RandomState) -> ClassSample:
        """Return the sample with dither as in messages: spread within the rounding cells."""
        (rng,) = streams(random_state, "dither of the fit")
        X = self.X + rng.uniform(-0.5, 0.5, self.X.shape) * self.cells
        for place, j in enumerate(self.lift.base if self.lift else ()):
            X[:, place] = self.lift.widen(j, X[:, place])  # type: ignore[union-attr]
        return replace(self, X=X)


class MapMethod(Protocol):
    """A method that learns the law of each class from readings."""

    def fit(self, sample: ClassSample, random_state: RandomState, /) -> FittedLaws:
        """Fit the laws of the classes.

        Raises
        ------
        RequestError : the method is not suitable for the readings.
        """


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
