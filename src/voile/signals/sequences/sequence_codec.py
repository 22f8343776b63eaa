"""What the readings of one subject have to do with one another, class by class: NumPy alone.

The map of single readings takes each to d normal scores. Of one subject these go together: a
level that stays, a slope, a season, and swings that fade. Given what went before, the next scores
are normal, of a mean and spread that a few numbers give; taken off, what is sent is new to all who
heard the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.signals.codec.codec import Codec
from voile.signals.codec.lattice import Lattice
from voile.signals.codec.pieces import Floats
from voile.signals.codec.place import CLASSES
from voile.signals.codec.scalar import Path, Point, SparseRows, Triangular, terms, times
from voile.signals.codec.steps import Arrays, KnotheRosenblatt
from voile.signals.sequences.basis import Basis
from voile.signals.sequences.direction import Direction, DirectionState, Forecast

T = TypeVar("T")
DYNAMICS = ("turn", "mean", "covariance", "swing", "kept", "drift")

State: TypeAlias = Sequence[DirectionState | None]


@dataclass(frozen=True, eq=False)
class Dynamics:
    """How one class's scores go on: turned so that directions go on each by itself."""

    turn: Floats  # (m, m) a rotation of the m varying scores
    mean: Floats  # (m, K) of each direction; see `Direction`
    covariance: Floats  # (m, K, K) of the same, as all that follow
    swing: Floats  # (m,)
    kept: Floats  # (m,)
    drift: Floats  # (m,)

    def __post_init__(self) -> None:
        m, size = self.mean.shape
        shapes = (self.turn.shape, self.covariance.shape, self.swing.shape, self.kept.shape)
        if (*shapes, self.drift.shape) != ((m, m), (m, size, size), (m,), (m,), (m,)):
            raise ValueError("the dynamics of a class are not of one size")
        if not np.allclose(self.turn @ self.turn.T, np.eye(m)):
            raise ValueError("the dynamics of a class have no rotation")
        if not all(np.isfinite(part).all() for part in vars(self).values()):
            raise ValueError("a number of the dynamics is not finite")
        sound = (self.swing > 0) & (np.abs(self.kept) < 1) & (self.drift >= 0)
        eigenvalues = np.linalg.eigvalsh(self.covariance)
        if not (sound.all() and (eigenvalues > -1e-9).all()):
            raise ValueError("a variance, or what is kept of a swing, is out of range")

    @classmethod
    def of(cls, turn: Floats, directions: Sequence[Direction]) -> Dynamics:
        """Put the directions of a class together."""
        names = ("mean", "covariance", "swing", "kept", "drift")
        return cls(turn, *(np.array([getattr(one, name) for one in directions]) for name in names))

    @cached_property
    def directions(self) -> tuple[Direction, ...]:
        """The directions, one a varying score."""
        parts = (self.mean, self.covariance, self.swing, self.kept, self.drift)
        return tuple(
            Direction(tuple(mean), tuple(map(tuple, covariance)), swing, kept, drift)
            for mean, covariance, swing, kept, drift in zip(
                *(part.tolist() for part in parts), strict=True
            )
        )

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
    sharpening : per class a triangular map of (forecast means, surprises of the reading before,
        surprises of this one), which takes off what is not normal in the last, or not as large at
        every level and after every surprise.
    basis : the functions of time that scores follow, the same for every class.
    timed : whether messages say when readings were taken; else readings are counted.
    """

    codec: Codec
    order: tuple[int, ...]
    invariants: int
    dynamics: tuple[Dynamics, ...]
    sharpening: tuple[KnotheRosenblatt, ...]
    basis: Basis
    timed: bool = False

    def __post_init__(self) -> None:
        d = len(self.codec.columns)
        if len(self.codec.numeric) != d or sorted(self.order) != list(range(d)):
            raise ValueError("a sequence needs numbers alone, each column once")
        m = d - self.invariants
        for each, sharp in zip(self.dynamics, self.sharpening, strict=True):
            if each.mean.shape != (m, self.basis.size) or len(sharp.order) != 3 * m:
                raise ValueError("the dynamics do not fit the columns that vary")
        if len(self.dynamics) != len(self.codec.classes):
            raise ValueError("there are other classes than dynamics")

    @classmethod
    def forgetful(cls, codec: Codec, order: tuple[int, ...], invariants: int) -> SequenceCodec:
        """Return a map that sends each reading as if nothing had come before it."""
        m, grid = len(order) - invariants, np.array([-1.0, 1.0])
        flat = np.zeros((3 * m, 3 * m, 2))
        as_it_is = np.broadcast_to(grid, (3 * m, 2)).copy()
        same = KnotheRosenblatt(np.arange(3 * m), grid, flat, flat + 1, as_it_is)
        swings = Direction((0.0,), ((0.0,),), swing=1.0, kept=0.0, drift=0.0)
        alone = Dynamics.of(np.eye(m), [swings] * m)
        k = len(codec.classes)
        return cls(codec, order, invariants, (alone,) * k, (same,) * k, Basis())

    @property
    def forgets(self) -> bool:
        """Whether each reading is sent as if nothing had come before it."""
        return not any(law.covariance.any() or law.kept.any() for law in self.dynamics)

    @cached_property
    def lattices(self) -> tuple[Lattice, ...]:
        """The lattice of each column of the codec."""
        return tuple(column for column in self.codec.columns if isinstance(column, Lattice))

    @cached_property
    def law(self) -> tuple[SequenceLaw, ...]:
        """The law of each class's sequences, for one reading at a time."""
        parts = zip(self.codec.unconditional, self.dynamics, self.sharpening, strict=True)
        return tuple(
            SequenceLaw(Path.of(steps), each, Triangular(sharp), self.basis, not self.forgets)
            for steps, each, sharp in parts
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
        arrays["sequence.timed"] = np.array(self.timed)
        arrays["sequence.slope"] = np.array(self.basis.slope)
        arrays["sequence.season"] = self.basis.season
        for name in DYNAMICS:
            arrays[f"dynamics.{name}"] = np.stack([getattr(each, name) for each in self.dynamics])
        for name in self.sharpening[0].to_arrays():
            stacked = np.stack([getattr(each, name) for each in self.sharpening])
            arrays[f"sharpening.{name}"] = stacked
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> SequenceCodec:
        """Rebuild from `to_arrays`, or raise a RequestError if it is none of ours."""
        codec = Codec.from_arrays(arrays)
        if "dynamics.between" in arrays:
            raise RequestError("a map of sequences is of an earlier voile", instead="fit it again")
        try:
            dynamics = _rebuilt(Dynamics, arrays, "dynamics", *DYNAMICS)
            basis = Basis(float(arrays["sequence.slope"]), arrays["sequence.season"])
            names = ("order", "grid", "mean", "scale", "curve")
            sharpening = _rebuilt(KnotheRosenblatt, arrays, "sharpening", *names)
            order = tuple(int(j) for j in arrays["sequence.order"])
            k = int(arrays["sequence.invariants"])
            timed = bool(arrays["sequence.timed"])
            return cls(codec, order, k, dynamics, sharpening, basis, timed)
        except (LookupError, ValueError, TypeError) as wrong:
            raise RequestError("these arrays are not a map of sequences") from wrong


def _rebuilt(
    kind: Callable[..., T], arrays: Mapping[str, NDArray[Any]], where: str, *names: str
) -> tuple[T, ...]:
    parts = [arrays[f"{where}.{name}"] for name in names]
    return tuple(kind(*each) for each in zip(*parts, strict=True))


class Outlook(NamedTuple):
    """What is expected of one reading: a forecast per direction, and what sharpening knows."""

    laws: tuple[Forecast, ...]
    known: tuple[float, ...] | None  # None of a subject's first reading


@dataclass(frozen=True, eq=False)
class SequenceLaw:
    """How one class's sequences become new normal scores, and back, a reading at a time."""

    path: Path
    dynamics: Dynamics
    sharpening: Triangular
    basis: Basis
    remembers: bool = True  # whether what came before changes how a reading is sent

    def begin(self) -> State:
        return (None,) * len(self.dynamics.directions)

    def outlook(self, state: State, time: int) -> Outlook:
        """Return what is expected of a reading, later than the state's."""
        laws = self._forecasts(state, time)
        if state[0] is None:
            return Outlook(laws, None)
        known = [law.mean for law in laws] + [one.surprise for one in state if one is not None]
        return Outlook(laws, tuple(self.sharpening.forward(known)))

    def _forecasts(self, state: State, time: int) -> tuple[Forecast, ...]:
        first = state[0]
        since, last = (time, time) if first is None else (first.since, first.time)
        now, before = self.basis.at(time, since), self.basis.at(last, since)
        pairs = zip(self.dynamics.directions, state, strict=True)
        return tuple([each.forecast(one, time, now, before) for each, one in pairs])

    def hide(self, outlook: Outlook, scores: Point) -> Point:
        """Return what is sent for the scores of a reading."""
        along, (laws, known) = self.dynamics.turned(scores), outlook
        left = [(y - law.mean) / law.spread for y, law in zip(along, laws, strict=True)]
        return (
            left if known is None else self.sharpening.forward([*known, *left], known)[-len(left) :]
        )

    def show(self, outlook: Outlook, sent: Point) -> Point:
        laws, known = outlook
        left = sent
        if known is not None:
            left = self.sharpening.inverse([*known, *sent], len(known))[len(known) :]
        return self.dynamics.back(
            [law.mean + law.spread * x for x, law in zip(left, laws, strict=True)]
        )

    def learn(self, state: State, time: int, outlook: Outlook, scores: Point) -> State:
        """Return what is known once a reading is; `outlook` is the state's at that time."""
        if not self.remembers:
            return state
        along = self.dynamics.turned(scores)
        parts = zip(self.dynamics.directions, state, outlook.laws, along, strict=True)
        return tuple([each.learn(one, time, law, y) for each, one, law, y in parts])
