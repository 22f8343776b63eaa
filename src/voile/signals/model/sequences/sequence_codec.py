"""The dependence between the readings of one subject, class by class, with NumPy only.

The map of single readings maps each reading to d normal scores. The scores of one subject depend on
each other: they have a constant level, a slope, a season and fading deviations. Given the earlier
scores, the next ones are normal, with a mean and a spread computed from a few numbers. Messages
remove this mean and spread. They are therefore independent for everyone who received the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.signals.model.codec.cells import ReadingCells
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.place import CLASSES
from voile.signals.model.codec.scalar import Point, ScalarStep
from voile.signals.model.codec.single import SingleReadings
from voile.signals.model.codec.steps import Arrays, KnotheRosenblatt
from voile.signals.model.codec.triangular import TriangularMap
from voile.signals.model.sequences.basis import TimeBasis
from voile.signals.model.sequences.direction import DirectionLaw, DirectionState, ScoreForecast
from voile.signals.model.sequences.written_out import Numbers, Row, times

T = TypeVar("T")
DYNAMICS = ("turn", "mean", "covariance", "swing", "kept", "drift")
SHARPENING = ("order", "grid", "mean", "scale", "curve")

State: TypeAlias = Sequence[DirectionState | None]


@dataclass(frozen=True, eq=False)
class ClassDynamics:
    """The course of one class's scores, rotated to independent directions."""

    turn: Floats  # (m, m) rotation of the m varying scores
    mean: Floats  # (m, K) mean of each direction; see `DirectionLaw`
    covariance: Floats  # (m, K, K) see `DirectionLaw`, as for the fields below
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
            raise ValueError("a variance, or the kept share of a swing, is out of range")

    @classmethod
    def of(cls, turn: Floats, directions: Sequence[DirectionLaw]) -> ClassDynamics:
        """Combine a rotation and the laws of its directions."""
        names = ("mean", "covariance", "swing", "kept", "drift")
        return cls(turn, *(np.array([getattr(one, name) for one in directions]) for name in names))

    @cached_property
    def directions(self) -> tuple[DirectionLaw, ...]:
        """The laws of the directions, one for each varying score."""
        parts = (self.mean, self.covariance, self.swing, self.kept, self.drift)
        return tuple(
            DirectionLaw(tuple(mean), tuple(map(tuple, covariance)), swing, kept, drift)
            for mean, covariance, swing, kept, drift in zip(
                *(part.tolist() for part in parts), strict=True
            )
        )

    @cached_property
    def score_transform(self) -> Callable[[Row], Numbers]:
        """The function from scores to directions."""
        return partial(times(len(self.turn)), self.turn.ravel().tolist())

    @cached_property
    def back(self) -> Callable[[Row], Numbers]:
        """The function from directions back to scores."""
        return partial(times(len(self.turn)), self.turn.T.ravel().tolist())


@dataclass(frozen=True, eq=False)
class SequencePart:
    """Columns that a message may contain together, and the maps that make their residuals normal.

    sharpening : for each class a triangular map that makes the surprises of these columns normal,
        with the same spread at every level and after every surprise. Its inputs are the forecast
        means of all varying columns, the surprises of the last reading of each, and the surprises
        of these columns.
    """

    columns: tuple[int, ...]  # indices among the varying columns, in order
    sharpening: tuple[KnotheRosenblatt, ...]

    def fits(self, m: int) -> bool:
        size = 2 * m + len(self.columns)
        return bool(self.columns) and all(len(one.order) == size for one in self.sharpening)


@dataclass(frozen=True, eq=False)
class SequenceCodec:
    """The map of a session, shared by client and server.

    Parameters
    ----------
    codec : the map of single readings to normal scores, at strength 1, with numeric columns only.
        Invariants come first and derived columns last. The invariants are mapped by themselves.
    order : (d,) the source's column at each position of the codec.
    invariants : number of columns that never change within a subject, at most d; sent once.
    dynamics : for each class the course of its scores.
    parts : the columns that a message may contain together, and the maps of their residuals.
        Complete readings have one part with all varying columns. If readings lack columns, the
        steps of `codec` map each column by itself. Then there is no rotation, and there are no
        invariants.
    basis : the functions of time in scores, the same for every class.
    timed : whether messages contain the times of readings. Otherwise readings are counted.
    """

    codec: Codec
    order: tuple[int, ...]
    invariants: int
    dynamics: tuple[ClassDynamics, ...]
    parts: tuple[SequencePart, ...]
    basis: TimeBasis
    timed: bool = False

    def __post_init__(self) -> None:
        d = len(self.codec.columns)
        if len(self.codec.numeric) != d or sorted(self.order) != list(range(d)):
            raise ValueError("a sequence needs numbers alone, each column once")
        m = d - self.invariants - self.derived_count
        if self.codec.lift and self.codec.lift.derived_columns != [
            *range(d - self.derived_count, d)
        ]:
            raise ValueError("derived columns are not last")
        if any(each.mean.shape != (m, self.basis.size) for each in self.dynamics):
            raise ValueError("the dynamics do not fit the columns that vary")
        counts = {len(self.dynamics), *(len(one.sharpening) for one in self.parts)}
        if not self.parts or counts != {len(self.codec.classes)}:
            raise ValueError("there are other classes than dynamics")
        for one in self.parts:
            if not set(one.columns) <= set(range(m)) or not one.fits(m):
                raise ValueError("the parts of readings do not fit the columns that vary")
        if self.partial and (
            self.invariants
            or self.derived_count
            or any((law.turn != np.eye(m)).any() for law in self.dynamics)
        ):
            raise ValueError("readings in part are turned, derived, or have invariants")

    @classmethod
    def forgetful(cls, codec: Codec, order: tuple[int, ...], invariants: int) -> SequenceCodec:
        """Return a map that sends each reading as if it were the first."""
        derived = len(codec.lift.derived_columns) if codec.lift else 0
        m, grid = len(order) - invariants - derived, np.array([-1.0, 1.0])
        flat = np.zeros((3 * m, 3 * m, 2))
        as_it_is = np.broadcast_to(grid, (3 * m, 2)).copy()
        same = KnotheRosenblatt(np.arange(3 * m), grid, flat, flat + 1, as_it_is)
        swings = DirectionLaw((0.0,), ((0.0,),), swing=1.0, kept=0.0, drift=0.0)
        alone = ClassDynamics.of(np.eye(m), [swings] * m)
        k = len(codec.classes)
        part = SequencePart(tuple(range(m)), (same,) * k)
        return cls(codec, order, invariants, (alone,) * k, (part,), TimeBasis())

    @cached_property
    def derived_count(self) -> int:
        """The number of derived columns, which are sent by themselves without a forecast."""
        return len(self.codec.lift.derived_columns) if self.codec.lift else 0

    @cached_property
    def partial(self) -> bool:
        """Whether messages may lack columns."""
        return len(self.parts) > 1

    @cached_property
    def forgets(self) -> bool:
        """Whether each reading is sent as if it were the first."""
        return not any(law.covariance.any() or law.kept.any() for law in self.dynamics)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The position in the codec of each source column."""
        return tuple(sorted(range(len(self.order)), key=self.order.__getitem__))

    @cached_property
    def lattices(self) -> tuple[ValueLattice, ...]:
        """The lattice of each column of the codec."""
        return tuple(column for column in self.codec.columns if isinstance(column, ValueLattice))

    @cached_property
    def cells(self) -> ReadingCells:
        """The same lattices, for one reading at a time."""
        return ReadingCells(self.lattices)

    @cached_property
    def fillers(self) -> tuple[float, ...]:
        """A lattice value of each column, to fill missing columns."""
        return self.cells.values([0.0] * len(self.lattices))

    def law(self, which: int, known: Sequence[object] = ()) -> SequenceLaw:
        """Return the law of a class's sequences for one subject's side columns."""
        found = self._singles[which].at(list(known) if known else None)
        if found is None:
            row = np.array([*known, None], dtype=object)[None, :-1]
            self.codec.levels(row if known else None, 1)  # raises a specific error
            raise RequestError("a known column is none that a session takes", where="known")
        sharpening = self._sharpening[which]
        return SequenceLaw(
            found.path, self.dynamics[which], sharpening, self.basis, not self.forgets
        )

    @cached_property
    def _singles(self) -> tuple[SingleReadings, ...]:
        side, lift = self.codec.side, self.codec.lift
        return tuple(SingleReadings(self.lattices, steps, side, lift) for steps in self.codec.steps)

    @cached_property
    def _sharpening(self) -> tuple[Mapping[tuple[int, ...], TriangularMap], ...]:
        known = 2 * (len(self.order) - self.invariants - self.derived_count)
        return tuple(
            {one.columns: TriangularMap(one.sharpening[which], known) for one in self.parts}
            for which in range(len(self.codec.classes))
        )

    @cached_property
    def mark(self) -> str:
        """An identifier of this map, different for every map."""
        digest = sha256()
        arrays = self.to_arrays()
        for key in sorted(arrays):
            digest.update(f"{key} {arrays[key].dtype} {arrays[key].shape} ".encode())
            digest.update(np.ascontiguousarray(arrays[key]).tobytes())
        return digest.hexdigest()[:16]

    def which(self, label: object) -> int:
        """Return the number of a class.

        Raises
        ------
        RequestError : the map has no such class.
        """
        known = np.flatnonzero(self.codec.classes == label)
        if not len(known):
            raise RequestError("the map has not seen a class", where=CLASSES)
        return int(known[0])

    def to_arrays(self) -> Arrays:
        """Return plain arrays without objects, for `numpy.savez`."""
        arrays = self.codec.to_arrays()
        arrays["sequence.order"] = np.array(self.order)
        arrays["sequence.invariants"] = np.array(self.invariants)
        arrays["sequence.timed"] = np.array(self.timed)
        arrays["sequence.slope"] = np.array(self.basis.slope)
        arrays["sequence.season"] = self.basis.season
        for name in DYNAMICS:
            arrays[f"dynamics.{name}"] = np.stack([getattr(each, name) for each in self.dynamics])
        for place, one in enumerate(self.parts):
            arrays[f"part.{place}.columns"] = np.array(one.columns)
            for name in SHARPENING:
                stacked = np.stack([getattr(each, name) for each in one.sharpening])
                arrays[f"part.{place}.{name}"] = stacked
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> SequenceCodec:
        """Rebuild a sequence codec from the result of `to_arrays`.

        Raises
        ------
        RequestError : the arrays are not a map of sequences, or are from an earlier version of
            voile.
        """
        codec = Codec.from_arrays(arrays)
        if "sequence.order" in arrays and "part.0.columns" not in arrays:
            raise RequestError("a map of sequences is of an earlier voile", instead="fit it again")
        try:
            dynamics = _rebuilt(ClassDynamics, arrays, "dynamics", *DYNAMICS)
            basis = TimeBasis(float(arrays["sequence.slope"]), arrays["sequence.season"])
            parts: list[SequencePart] = []
            while f"part.{len(parts)}.columns" in arrays:
                where = f"part.{len(parts)}"
                columns = tuple(int(j) for j in arrays[f"{where}.columns"])
                parts.append(
                    SequencePart(columns, _rebuilt(KnotheRosenblatt, arrays, where, *SHARPENING))
                )
            order = tuple(int(j) for j in arrays["sequence.order"])
            k = int(arrays["sequence.invariants"])
            timed = bool(arrays["sequence.timed"])
            return cls(codec, order, k, dynamics, tuple(parts), basis, timed)
        except (LookupError, ValueError, TypeError) as wrong:
            raise RequestError("these arrays are not a map of sequences") from wrong


def _rebuilt(
    kind: Callable[..., T], arrays: Mapping[str, NDArray[Any]], where: str, *names: str
) -> tuple[T, ...]:
    parts = [arrays[f"{where}.{name}"] for name in names]
    return tuple(kind(*each) for each in zip(*parts, strict=True))


class ReadingOutlook(NamedTuple):
    """The expectation of one reading: a forecast per direction and the inputs of sharpening."""

    laws: tuple[ScoreForecast, ...]
    known: tuple[float, ...] | None  # None for a subject's first reading if it is complete
    columns: tuple[int, ...]  # the varying columns that the reading contains
    frames: tuple[float, ...] = ()  # result of `TriangularMap.given` for `known`


@dataclass(frozen=True, eq=False)
class SequenceLaw:
    """The map of one class's sequences to independent normal scores, and back."""

    path: ScalarStep
    dynamics: ClassDynamics
    sharpening: Mapping[tuple[int, ...], TriangularMap]  # by the columns that a reading contains
    basis: TimeBasis
    remembers: bool = True  # whether earlier readings change how a reading is sent

    def begin(self) -> State:
        return (None,) * len(self.dynamics.directions)

    def outlook(
        self, state: State, time: int, columns: tuple[int, ...] | None = None
    ) -> ReadingOutlook:
        """Return the expectation of a reading later than the state's. None means all columns."""
        held = columns or tuple(range(len(state)))
        laws = self.forecasts(state, time, held)
        if len(self.sharpening) == 1 and state[0] is None:
            return ReadingOutlook(laws, None, held)
        known, frames = self.sharpening[held].given(self.list_conditions(laws, state))
        return ReadingOutlook(laws, known, held, frames)

    def list_conditions(self, laws: Sequence[ScoreForecast], state: State) -> list[float]:
        """Return the inputs of sharpening: the forecast means and each column's last surprise."""
        return [law.mean for law in laws] + [one.surprise if one else 0.0 for one in state]

    def forecasts(self, state: State, time: int, held: Sequence[int]) -> tuple[ScoreForecast, ...]:
        """Return the forecasts of all directions. Columns not in `held` only get their means."""
        found, span = [], None
        for j, (each, one) in enumerate(zip(self.dynamics.directions, state, strict=True)):
            spans = (time, time) if one is None else one[-2:]
            if span != spans:  # complete readings have one span
                span = last, since = spans
                now, before = self.basis.at(time, since), self.basis.at(last, since)
            found.append(each.forecast(one, time, now, before, j in held))
        return tuple(found)

    def hide(self, outlook: ReadingOutlook, scores: Point) -> Point:
        """Return the message of a reading's scores. Scores of missing columns are ignored.

        Scores of derived columns come last and are sent unchanged.
        """
        laws, known, columns, frames = outlook
        along, derived = self.dynamics.score_transform(scores[: len(laws)]), scores[len(laws) :]
        left = [(along[j] - laws[j].mean) / laws[j].spread for j in columns]
        if known is None:
            return [*left, *derived]
        return [*self.sharpening[columns].forward(left, frames), *derived]

    def show(self, outlook: ReadingOutlook, sent: Point) -> Point:
        """Return the scores of a message. Missing columns get their forecasts."""
        laws, known, columns, frames = outlook
        own, derived = sent[: len(columns)], sent[len(columns) :]
        left = own if known is None else self.sharpening[columns].inverse(own, frames)
        along = [law.mean for law in laws]
        for j, x in zip(columns, left, strict=True):
            along[j] += laws[j].spread * x
        return [*self.dynamics.back(along), *derived]

    def learn(self, state: State, time: int, outlook: ReadingOutlook, scores: Point) -> State:
        """Return the state after a reading. `outlook` must belong to the current state and time."""
        if not self.remembers:
            return state
        laws, _, columns, _ = outlook
        along = self.dynamics.score_transform(scores[: len(laws)])
        directions, after = self.dynamics.directions, list(state)
        for j in columns:
            after[j] = directions[j].learn(state[j], time, laws[j], along[j])
        return tuple(after)
