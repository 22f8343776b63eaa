"""The state of a session: its pending readings, and the state that client and server share."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import NamedTuple, TypeAlias

from voile.signals.model.codec.known_mac import known_proof
from voile.signals.model.codec.scalar import Point, on_lattice
from voile.signals.model.sequences.direction import DirectionState, read_state
from voile.signals.model.sequences.messages import moment, numbers, whole
from voile.signals.model.sequences.sequence_codec import SequenceCodec, State

Values: TypeAlias = tuple[float, ...]
Cell: TypeAlias = str | float | None  # value of a side column


class ReceivedReading(NamedTuple):
    number: int  # from 1
    values: Values  # in the source's order, NaN for columns that the message lacks
    outside: bool = False  # whether it is outside the map's range; only for the clinic
    time: int | None = None  # time in the map's units, if it has one


class SequenceReading(NamedTuple):
    """A reading to send."""

    time: int | None
    values: Values  # of all columns, with fillers for missing ones
    columns: tuple[int, ...]  # the varying columns that it contains


class SharedState(NamedTuple):
    """The state that client and server share after the first `number` readings."""

    number: int  # number of readings
    check: str  # digest of their messages
    fixed: Values  # the subject's invariants; empty before the first reading
    moment: int | None  # time of the last reading; None before the first
    state: State  # estimates for the next scores

    def to_json(self) -> list[object]:
        state = [None if one is None else one.to_json() for one in self.state]
        return [*self[:-1], state]

    def precedes(self, moment: int) -> bool:
        return self.moment is None or moment > self.moment

    @classmethod
    def from_json(
        cls,
        codec: SequenceCodec,
        number: object,
        check: str,
        fixed: object,
        last: object,
        state: Sequence[object],
    ) -> SharedState:
        """Read a shared state from JSON data.

        Raises
        ------
        ValueError : the data does not fit the codec.
        """
        held, k = numbers(fixed), codec.invariants
        if len(held) not in (0, k) or len(state) != len(codec.order) - k - codec.derived_count:
            raise ValueError("a base is of other columns")
        size = codec.basis.size
        states = tuple([None if one is None else read_state(one, size) for one in state])
        when = None if last is None else moment(last)
        if not all(one is None or _is_of(one, when, codec.partial) for one in states):
            raise ValueError("the estimates of scores belong to another time than their readings")
        return cls(whole(number), str(check), held, when, states)


class KnownColumns(NamedTuple):
    """One subject's side columns, and the proof that client and server have the same ones.

    See `known_proof`.
    """

    cells: tuple[Cell, ...] = ()
    proof: bytes = b""

    @classmethod
    def of(cls, codec: SequenceCodec, cells: Sequence[Cell], key: bytes) -> KnownColumns:
        """Return side columns with their proof under the shared key, or empty ones."""
        if not cells:
            return cls()
        return cls(tuple(cells), known_proof(key, codec.codec.side, cells))

    def to_json(self) -> list[object]:
        return [self.cells, self.proof.hex()]

    @classmethod
    def from_json(cls, cells: Sequence[object], proof: str) -> KnownColumns:
        return cls(tuple(map(_cell, cells)), bytes.fromhex(proof))


def _cell(value: object) -> Cell:
    """Read a cell of a side column from JSON data.

    Raises
    ------
    ValueError : the value is neither a number nor text.
    """
    if value is None or isinstance(value, str) or type(value) in (int, float):
        return value  # type: ignore[return-value]
    raise ValueError("a known column is neither a number nor text")


def _is_of(one: DirectionState, when: int | None, partial: bool) -> bool:
    """Return whether a score belongs to the last reading, or to an earlier one if `partial`."""
    return one.time == when or (partial and when is not None and one.time < when)


def point_of(codec: SequenceCodec, values: object) -> Values:
    if len(point := numbers(values)) != len(codec.order):
        raise ValueError("a reading is of other columns")
    return point


def nearest_of(codec: SequenceCodec, point: Point) -> Values:
    """Return the reading with the cells that contain a point."""
    return codec.cells.values(codec.cells.rounded(point))


def on_lattices(codec: SequenceCodec, given: Point, names: Sequence[str]) -> Values:
    """Return a reading's values on the lattices.

    Raises
    ------
    RequestError : a value is missing, infinite or off its lattice.
    """
    try:
        if codec.cells.on(found := codec.cells.rounded(given), given):
            return codec.cells.values(found)
    except (ValueError, OverflowError):  # missing and infinite values have no position
        pass
    parts = zip(codec.lattices, given, names, strict=True)
    return tuple([on_lattice(lattice, v, name) for lattice, v, name in parts])  # raises an error


def fill_point(codec: SequenceCodec, point: Point, columns: tuple[int, ...]) -> list[float]:
    """Return a reading with a filler in each missing column."""
    if len(columns) == len(point) - codec.invariants:
        return list(point)
    out = list(codec.fillers)
    for j in columns:
        out[j] = point[j]
    return out


def in_order(codec: SequenceCodec, values: Values, columns: tuple[int, ...]) -> Values:
    """Return values in the source's order, NaN for missing columns."""
    if codec.partial:
        return tuple([values[j] if j in columns else nan for j in codec.places])
    return tuple([values[j] for j in codec.places])
