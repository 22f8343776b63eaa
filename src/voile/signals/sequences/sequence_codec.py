"""What the readings of one subject have to do with one another, class by class: NumPy alone.

The map of single readings takes each to d normal scores. Of one subject these go together: a
level that stays, and swings that fade. Given what went before, the next scores are normal, of a
mean and spread that a few numbers give; taken off, what is sent is new to all who heard the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import sqrt
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.signals.codec.codec import Codec
from voile.signals.codec.lattice import Lattice
from voile.signals.codec.pieces import Floats
from voile.signals.codec.place import CLASSES
from voile.signals.codec.steps import Arrays, KnotheRosenblatt
from voile.signals.sequences.scalar import Path, Point, SparseRows, Triangular, terms, times

T = TypeVar("T")


class LevelState(NamedTuple):
    """What is known of one direction of one subject's scores."""

    level: float
    doubt: float
    last: float | None


State: TypeAlias = Sequence[LevelState]


class Forecast(NamedTuple):
    """The law of a score to come: normal, of this mean and standard deviation."""

    mean: float
    spread: float


@dataclass(frozen=True)
class Direction:
    """A score y_t = a + e_t: the subject's level, and swings of which a share is kept.

    The score of a moment is known exactly, so that only the level is in doubt: the state is three
    numbers, and each reading costs O(1). This is the Kalman filter of (a, e_t), reduced.
    """

    between: float  # variance of the level a, 0 to below 1; the swings' is 1 - between
    kept: float  # the correlation of one swing with the next, -1 to 1, both left out

    def begin(self) -> LevelState:
        return LevelState(0.0, self.between, None)

    def forecast(self, belief: LevelState, ahead: int = 1) -> Forecast:
        """Return the law of the score `ahead` >= 1 readings after the latest one known."""
        if belief.last is None:
            return Forecast(0.0, 1.0)
        kept, noise = self._once if ahead == 1 else self._decay(ahead)
        new = 1 - kept
        mean = kept * belief.last + new * belief.level
        return Forecast(mean, sqrt(new * new * belief.doubt + noise))

    def learn(self, belief: LevelState, score: float) -> LevelState:
        b = self.between
        if belief.last is None:
            return LevelState(b * score, b * (1 - b), score)
        kept, noise = self._once
        new = 1 - kept
        variance = new * new * belief.doubt + noise
        gain = belief.doubt * new / variance
        surprise = score - kept * belief.last - new * belief.level
        return LevelState(belief.level + gain * surprise, belief.doubt * noise / variance, score)

    @cached_property
    def _once(self) -> tuple[float, float]:
        return self._decay(1)

    def _decay(self, ahead: int) -> tuple[float, float]:
        """Return what is left of a swing after so many readings, and the new swings' variance."""
        kept = 1.0
        for _ in range(ahead):  # a product, not a power: no library function takes part
            kept *= self.kept
        return kept, (1 - kept * kept) * (1 - self.between)


@dataclass(frozen=True, eq=False)
class Dynamics:
    """How one class's scores go on: turned so that directions go on each by itself."""

    turn: Floats  # (m, m) a rotation of the m varying scores
    between: Floats  # (m,) of each direction; see `Direction`
    kept: Floats  # (m,) of the same

    def __post_init__(self) -> None:
        m = len(self.between)
        fits = self.turn.shape == (m, m) and self.kept.shape == (m,)
        if not fits or not np.allclose(self.turn @ self.turn.T, np.eye(m)):
            raise ValueError("the dynamics of a class are not a rotation and its directions")
        if not ((self.between >= 0) & (self.between < 1) & (np.abs(self.kept) < 1)).all():
            raise ValueError("a level or what is kept of a swing is out of range")

    @cached_property
    def directions(self) -> tuple[Direction, ...]:
        """The directions, one a varying score."""
        pairs = zip(self.between.tolist(), self.kept.tolist(), strict=True)
        return tuple(Direction(between, kept) for between, kept in pairs)

    @cached_property
    def _rows(self) -> tuple[SparseRows, SparseRows]:
        return terms(self.turn), terms(self.turn.T)

    def turned(self, scores: Point) -> list[float]:
        return times(self._rows[0], scores)

    def back(self, along: Point) -> list[float]:
        return times(self._rows[1], along)


@dataclass(frozen=True, eq=False)
class SequenceCodec:
    """What both ends of a session need.

    Parameters
    ----------
    codec : the map of single readings, of numbers alone, invariants first: strength 1, to normal
        scores, those of the invariants by themselves.
    order : (d,) the source's column in each place of the codec.
    invariants : how many columns never change within a subject, d at most; sent once.
    dynamics : per class, of the scores of the other columns.
    sharpening : per class a triangular map of (forecast means, what the forecasts leave), which
        takes off what is not normal in the latter, or as large at every level.
    """

    codec: Codec
    order: tuple[int, ...]
    invariants: int
    dynamics: tuple[Dynamics, ...]
    sharpening: tuple[KnotheRosenblatt, ...]

    def __post_init__(self) -> None:
        d = len(self.codec.columns)
        if len(self.codec.numeric) != d or sorted(self.order) != list(range(d)):
            raise ValueError("a sequence needs numbers alone, each column once")
        for each, sharp in zip(self.dynamics, self.sharpening, strict=True):
            if len(each.between) != d - self.invariants or len(sharp.order) != 2 * len(
                each.between
            ):
                raise ValueError("the dynamics do not fit the columns that vary")
        if len(self.dynamics) != len(self.codec.classes):
            raise ValueError("there are other classes than dynamics")

    @classmethod
    def forgetful(cls, codec: Codec, order: tuple[int, ...], invariants: int) -> SequenceCodec:
        """Return a map that sends each reading as if nothing had come before it."""
        m, grid = len(order) - invariants, np.array([-1.0, 1.0])
        flat = np.zeros((2 * m, 2 * m, 2))
        as_it_is = np.broadcast_to(grid, (2 * m, 2)).copy()
        same = KnotheRosenblatt(np.arange(2 * m), grid, flat, flat + 1, as_it_is)
        alone = Dynamics(np.eye(m), np.zeros(m), np.zeros(m))
        k = len(codec.classes)
        return cls(codec, order, invariants, (alone,) * k, (same,) * k)

    @property
    def forgets(self) -> bool:
        """Whether each reading is sent as if nothing had come before it."""
        return not any(law.between.any() or law.kept.any() for law in self.dynamics)

    @cached_property
    def lattices(self) -> tuple[Lattice, ...]:
        """The lattice of each column of the codec."""
        return tuple(column for column in self.codec.columns if isinstance(column, Lattice))

    @cached_property
    def law(self) -> tuple[SequenceLaw, ...]:
        """The law of each class's sequences, for one reading at a time."""
        parts = zip(self.codec.steps, self.dynamics, self.sharpening, strict=True)
        return tuple(
            SequenceLaw(Path(steps), each, Triangular(sharp)) for steps, each, sharp in parts
        )

    @cached_property
    def mark(self) -> str:
        """A name of this map: another map has another."""
        digest = sha256()
        arrays = self.to_arrays()
        for key in sorted(arrays):
            digest.update(f"{key} {arrays[key].dtype} {arrays[key].shape} ".encode())
            digest.update(np.ascontiguousarray(arrays[key]).tobytes())
        return digest.hexdigest()[:16]

    def which(self, label: object) -> int:
        """Return the number of a class."""
        known = np.flatnonzero(self.codec.classes == label)
        if not len(known):
            raise RequestError("the map has not seen a class", where=CLASSES)
        return int(known[0])

    def to_arrays(self) -> Arrays:
        """Return plain arrays, none of objects, for `numpy.savez`."""
        arrays = self.codec.to_arrays()
        arrays["sequence.order"] = np.array(self.order)
        arrays["sequence.invariants"] = np.array(self.invariants)
        for name in ("turn", "between", "kept"):
            arrays[f"dynamics.{name}"] = np.stack([getattr(each, name) for each in self.dynamics])
        for name in self.sharpening[0].to_arrays():
            stacked = np.stack([getattr(each, name) for each in self.sharpening])
            arrays[f"sharpening.{name}"] = stacked
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> SequenceCodec:
        """Rebuild from `to_arrays`, or raise a RequestError if it is none of ours."""
        codec = Codec.from_arrays(arrays)
        try:
            dynamics = _rebuilt(Dynamics, arrays, "dynamics", "turn", "between", "kept")
            names = ("order", "grid", "mean", "scale", "curve")
            sharpening = _rebuilt(KnotheRosenblatt, arrays, "sharpening", *names)
            order = tuple(int(j) for j in arrays["sequence.order"])
            return cls(codec, order, int(arrays["sequence.invariants"]), dynamics, sharpening)
        except (LookupError, ValueError, TypeError) as wrong:
            raise RequestError("these arrays are not a map of sequences") from wrong


def _rebuilt(
    kind: Callable[..., T], arrays: Mapping[str, NDArray[Any]], where: str, *names: str
) -> tuple[T, ...]:
    parts = [arrays[f"{where}.{name}"] for name in names]
    return tuple(kind(*each) for each in zip(*parts, strict=True))


class Outlook(NamedTuple):
    """What is expected of one reading: a forecast per direction, and their sharpened means."""

    laws: tuple[Forecast, ...]
    known: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class SequenceLaw:
    """How one class's sequences become new normal scores, and back, a reading at a time."""

    path: Path
    dynamics: Dynamics
    sharpening: Triangular

    def begin(self) -> State:
        return tuple(each.begin() for each in self.dynamics.directions)

    def outlook(self, state: State, ahead: int) -> Outlook | None:
        """Return what is expected of the reading `ahead` >= 1 of the state's; None: anything."""
        if state[0].last is None:
            return None
        pairs = zip(self.dynamics.directions, state, strict=True)
        laws = tuple([each.forecast(belief, ahead) for each, belief in pairs])
        return Outlook(laws, tuple(self.sharpening.forward([law.mean for law in laws])))

    def hide(self, outlook: Outlook | None, scores: Point) -> Point:
        """Return what is sent for the scores of a reading."""
        along = self.dynamics.turned(scores)
        if outlook is None:
            return along
        left = [(y - mean) / spread for y, (mean, spread) in zip(along, outlook.laws, strict=True)]
        known = outlook.known
        return self.sharpening.forward([*known, *left], known)[len(known) :]

    def show(self, outlook: Outlook | None, sent: Point) -> Point:
        if outlook is None:
            return self.dynamics.back(sent)
        first = len(sent)
        left = self.sharpening.inverse([*outlook.known, *sent], first)[first:]
        return self.dynamics.back(
            [mean + spread * x for x, (mean, spread) in zip(left, outlook.laws, strict=True)]
        )

    def learn(self, state: State, scores: Point) -> State:
        along = self.dynamics.turned(scores)
        parts = zip(self.dynamics.directions, state, along, strict=True)
        return tuple([each.learn(belief, y) for each, belief, y in parts])
