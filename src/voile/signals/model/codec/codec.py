"""The device's codec: encode and decode with a fitted map, with NumPy only.

A `Codec` is data: lattices, and a few elementary steps per class. It contains no reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.keys.random import ProtectiveRandom
from voile.signals.model.codec.columns import Scale, column_arrays, read_columns
from voile.signals.model.codec.conditional import ConditionalFrame, MapStep, RowFrames, read_steps
from voile.signals.model.codec.given import as_labels, as_table
from voile.signals.model.codec.grain import round_sent
from voile.signals.model.codec.lattice import RowDraws, ValueLattice, dither
from voile.signals.model.codec.lift import RelationLift
from voile.signals.model.codec.nominal import ValueAssignment
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.place import CLASSES, ReadingPlace
from voile.signals.model.codec.posterior import ClassPosterior, after, chances_of, log_densities
from voile.signals.model.codec.side import (
    SideColumn,
    SideLevels,
    read_levels,
    read_side,
    side_arrays,
)
from voile.signals.model.codec.single import SingleReading, SingleReadings
from voile.signals.model.codec.steps import Arrays, CodecStep

FORMATS = 1, 2, 3  # maps without side columns, with side columns, and with relations
BATCH = 1 << 13  # readings per batch, which fit into the processor's cache
TRIES = 64  # attempts to draw a dither with which the rounded message decodes correctly
MOST_PLACES = 12
FARTHEST = 4.25  # normal score beyond which curves continue as straight lines


@dataclass(frozen=True, eq=False)
class Codec:
    """A codec that converts readings to messages and back exactly.

    Parameters
    ----------
    classes : (k,) the private classes, sorted: strings or whole numbers.
    columns : for each column its lattice, or the assignment of a nominal column.
    steps : for each class the injective steps of the numeric columns, in order. Without steps, the
        numbers of a class are sent unchanged.
    places : decimal places of messages, 0 to 12. None: full float64 precision. Numbers sent
        unchanged are not rounded.
    side : the side columns that conditional steps depend on. Client and server have them.
    lift : relations among the numeric columns, applied before the steps. The steps then apply to
        its base columns.

    Guarantee: `encode` decodes every value before returning it, with a margin for the rounding of
    another machine. It refuses a reading that would not decode exactly, and never sends it.
    """

    classes: NDArray[Any]
    columns: tuple[Scale, ...]
    steps: tuple[tuple[MapStep, ...], ...]
    places: int | None = None
    side: tuple[SideColumn, ...] = ()
    lift: RelationLift | None = None

    def __post_init__(self) -> None:
        if self.places is not None and not 0 <= self.places <= MOST_PLACES:
            raise RequestError(f"decimal places must be 0 to {MOST_PLACES}", where="places")

    @cached_property
    def numeric(self) -> NDArray[np.intp]:
        """The indices of the numeric columns."""
        return np.flatnonzero([isinstance(column, ValueLattice) for column in self.columns])

    def encode(
        self,
        X: ArrayLike,
        c: ArrayLike,
        *,
        known: ArrayLike | SideLevels | None = None,
        protective: ProtectiveRandom | RowDraws | None = None,
    ) -> NDArray[Any]:
        """Return the messages of readings with known classes.

        Parameters
        ----------
        X : (n, d) readings, or (n,) for one column. Numbers lie on their column's lattice; values
            of nominal columns are strings.
        c : (n,) the class of each reading, or one class for all.
        known : (n, q) the side columns, if the map uses any; see `read_levels`.
        protective : source of randomness for the dither, or `RowDraws` with one key per reading.

        Returns
        -------
        Z : same shape as X, float64, or object if a column is nominal.

        Raises
        ------
        RequestError : a class or nominal value is unknown to the map. A reading is missing,
            infinite, off its lattice, or too large for float64.

        Cost: O(n d) for a map of one layer, plus O(n d^2) for the conditional means.
        """
        protective = protective or ProtectiveRandom()
        table = self._table(X)
        single = self._single(table, c, known)
        sent = single and single.send(table[0].tolist(), protective)
        if sent:
            return np.array([sent] if np.ndim(X) > 1 else sent)
        levels = self.levels(known, len(table))
        out = np.empty_like(table)
        for which, rows in self._by_class(c, len(table)):
            for j in range(len(self.columns)):
                column = self.columns[j]
                if isinstance(column, ValueAssignment):
                    out[rows, j] = column.encode(_strings(table[rows, j]), which, ReadingPlace(j))
            for batch in _batches(rows):
                self._send(table, out, which, batch, levels, protective)
        return out if np.ndim(X) > 1 else out[:, 0]

    def _send(
        self,
        table: NDArray[Any],
        out: NDArray[Any],
        which: int,
        rows: NDArray[np.intp],
        levels: SideLevels,
        protective: ProtectiveRandom | RowDraws,
    ) -> None:
        """Fill the numeric columns of one batch of one class, and check that they decode."""
        X, lattices = self._numbers(table, rows), self._lattices()
        if not lattices:
            return
        k = [
            lattice.positions(x, ReadingPlace(j))
            for (j, lattice), x in zip(lattices, X, strict=True)
        ]
        if not self.steps[which]:  # numbers sent unchanged need no dither
            on = [lattice.values(p) for (_, lattice), p in zip(lattices, k, strict=True)]
            out[np.ix_(rows, self.numeric)] = np.stack(on, axis=1)
            return
        Z, todo = np.empty_like(X), np.arange(len(rows))
        wide = 1 + self.reach(X, which, levels.take(rows))
        for attempt in range(1 if self.places is None else TRIES):
            draws = protective
            if isinstance(draws, RowDraws):
                draws = draws.take(rows[todo])
            u = wide[:, todo] * dither(len(lattices), len(todo), draws, attempt)
            parts = zip(lattices, k, u, strict=True)
            V = np.stack([lattice.values(p[todo] + t) for (_, lattice), p, t in parts])
            at = levels.take(rows[todo])
            Z[:, todo] = round_sent(self.forward(V, which, at), self.places)
            parts = zip(lattices, k, self.inverse(Z[:, todo], which, at), strict=True)
            lost = np.stack([~lattice.within(x, p[todo]) for (_, lattice), p, x in parts])
            if not lost.any():
                out[np.ix_(rows, self.numeric)] = Z.T
                return
            todo = todo[lost.any(axis=0)]
        raise self._refuse_lost(lattices[int(lost.any(axis=1).argmax())][0], int(rows[todo[0]]))

    def reach(self, X: Floats, which: int, at: SideLevels | None = None) -> Floats:
        """Return how far rounding to `places` may move readings, in cells, (d, n).

        Points are drawn from an area wider than the cell by this distance, and drawn again if they
        leave it. Messages are then as frequent at the edge of the area as in its middle. Otherwise
        the edge would reveal the map of the true class.
        """
        wide = np.zeros_like(X)
        if self.places is not None:
            base = self.lift.base if self.lift else range(len(X))
            cells = np.array([[lattice.resolution] for _, lattice in self._lattices()])
            Z = self.forward(X, which, at)
            for step in np.eye(len(X))[list(base)] * 10.0**-self.places / 2:
                apart = [self.inverse(Z + sign * step[:, None], which, at) for sign in (1, -1)]
                wide += np.abs(apart[0] - apart[1]) / cells
            # a derived column's cell moves with the base columns' cells, not within them
            wide[[j for j in range(len(X)) if j not in base]] = 0
        return wide

    def _refuse_lost(self, column: int, row: int) -> RequestError:
        """Return the error for a reading that would not decode exactly."""
        where = ReadingPlace(column, row)
        if self.places is None:
            remedy = "set it aside, or fit with a coarser resolution"
            what = "a reading lies too far out to be carried exactly"
        else:
            remedy = "send more decimal places, or set it aside"
            what = f"a reading is not carried exactly by {self.places} decimal places"
        return RequestError(what, where=where, instead=remedy)

    def decode(
        self, Z: ArrayLike, c: ArrayLike, *, known: ArrayLike | SideLevels | None = None
    ) -> NDArray[Any]:
        """Return the readings of messages; parameters and errors as for `encode`.

        Side columns other than those of `encode` give other readings. `KnownMac` detects this.
        """
        table = self._table(Z)
        single = self._single(table, c, known)
        read = single and single.decode_message(table[0].tolist())
        if read:
            return np.array([read] if np.ndim(Z) > 1 else read)
        levels = self.levels(known, len(table))
        out = np.empty_like(table)
        for which, rows in self._by_class(c, len(table)):
            for j, column in enumerate(self.columns):
                if isinstance(column, ValueAssignment):
                    out[rows, j] = column.decode(_strings(table[rows, j]), which, ReadingPlace(j))
            for batch in _batches(rows):
                X = self.inverse(self._numbers(table, batch), which, levels.take(batch))
                for (j, lattice), x in zip(self._lattices(), X, strict=True):
                    out[batch, j] = lattice.nearest(x)
        return out if np.ndim(Z) > 1 else out[:, 0]

    def posterior(
        self,
        Z: ArrayLike,
        prior: ArrayLike,
        model: Codec,
        *,
        known: ArrayLike | SideLevels | None = None,
    ) -> ClassPosterior:
        """Return the possible readings of messages for a recipient who does not know the class.

        Parameters
        ----------
        Z : (n, d) or (n,) messages.
        prior : (k,) or (n, k) class probabilities p(c | s); each row sums to 1.
        model : the codec of the same fit that maps to normal scores at strength 1. It gives the
            likelihood of readings and ignores nominal columns.

        Returns
        -------
        Posterior : class probabilities, and the reading under each class. If messages look alike
            for all classes, the probabilities equal the prior (Theorem 1).

        Cost: O(k d) times that of decoding.
        """
        table = self._table(Z)
        before = chances_of(prior, len(table), len(self.classes))
        readings = np.stack([self.decode(table, label, known=known) for label in self.classes])
        numbers = self._numbers(table, np.arange(len(table)))
        logs = self.log_densities(numbers, model, self.levels(known, len(table)))
        return ClassPosterior(after(before, logs), readings)

    def log_densities(self, V: Floats, model: Codec, at: SideLevels | None = None) -> Floats:
        """Return the log-density of (d, n) messages in each class, (n, k), up to a constant.

        The d columns are the numeric ones. `model` is as for `posterior`.
        """

        def score(V: Floats, which: int) -> Floats:
            return model.forward(self.inverse(V, which, at), which, at)

        return log_densities(score, len(self.classes), V)

    def outside(
        self,
        X: ArrayLike,
        c: ArrayLike,
        farthest: float = FARTHEST,
        *,
        known: ArrayLike | SideLevels | None = None,
    ) -> NDArray[np.bool_]:
        """Flag readings, (n, d) or (n,), that are rarer in their class than 1 in 40,000.

        Use the codec that maps to normal scores at strength 1, since its scores measure rarity.
        Such readings are encoded and decoded exactly like others, by straight tails. They may be
        rarer in one class than in another. Nominal values are never flagged. `farthest` sets
        another limit, in normal scores.
        """
        table = self._table(X)
        levels = self.levels(known, len(table))
        out = np.zeros(table.shape, dtype=np.bool_)
        for which, rows in self._by_class(c, len(table)):
            scores = self.forward(self._numbers(table, rows), which, levels.take(rows))
            out[np.ix_(rows, self.numeric)] = (np.abs(scores) > farthest).T
        return out if np.ndim(X) > 1 else out[:, 0]

    def forward(self, V: Floats, which: int, at: SideLevels | None = None) -> Floats:
        """Map points (numeric columns, n) of class number `which`, without lattice or dither.

        `at` contains the points' side levels, if the map uses side columns.
        """
        steps = self._steps(which, at)
        if self.lift is None or not steps:
            return _in_turn(V, [step.forward for step in steps])
        V = self.lift.forward(V, None if at is None else at.values)
        base = self.lift.base
        V[base] = _in_turn(V[base], [step.forward for step in steps])
        return V

    def inverse(self, V: Floats, which: int, at: SideLevels | None = None) -> Floats:
        """Invert `forward`."""
        steps = self._steps(which, at)[::-1]
        if self.lift is None or not steps:
            return _in_turn(V, [step.inverse for step in steps])
        V = np.array(V, dtype=np.float64)
        base = self.lift.base
        V[base] = _in_turn(V[base], [step.inverse for step in steps])
        return self.lift.inverse(V, None if at is None else at.values)

    def _steps(self, which: int, at: SideLevels | None) -> list[CodecStep | RowFrames]:
        """Return the steps of a class, with conditional steps evaluated at each point's levels."""
        found: list[CodecStep | RowFrames] = []
        for step in self.steps[which]:
            if isinstance(step, ConditionalFrame):
                assert at is not None  # ensured by `levels`
                found.append(step.at(at))
            else:
                found.append(step)
        return found

    def levels(self, known: ArrayLike | SideLevels | None, n: int) -> SideLevels:
        """Return the levels of n rows of side columns, or refuse the rows."""
        return read_levels(known, self.side, n, first=len(self.columns))

    def _single(self, table: NDArray[Any], c: ArrayLike, known: object) -> SingleReading | None:
        """Return the codec for a single reading of a class, or None if it does not apply."""
        labels = np.asarray(c)
        if len(table) != 1 or labels.size != 1 or labels.dtype.kind not in "iuUO":
            return None
        label = labels.item()
        singles = self._singles.get(label) if isinstance(label, int | str) else None
        return singles.at(known) if singles else None

    @cached_property
    def _singles(self) -> dict[int | str, SingleReadings]:
        """The single-reading codecs, by class.

        Empty if the map rounds to decimal places or has nominal columns. Classes without steps are
        left out.
        """
        if self.places is not None or len(self.numeric) < len(self.columns):
            return {}
        lattices = tuple(lattice for _, lattice in self._lattices())
        pairs = zip(self.classes.tolist(), self.steps, strict=True)
        side, lift = self.side, self.lift
        return {
            label: SingleReadings(lattices, steps, side, lift) for label, steps in pairs if steps
        }

    def _lattices(self) -> list[tuple[int, ValueLattice]]:
        return [(j, col) for j, col in enumerate(self.columns) if isinstance(col, ValueLattice)]

    def _table(self, X: ArrayLike) -> NDArray[Any]:
        return as_table(X, len(self.columns), mixed=len(self.numeric) < len(self.columns))

    def _numbers(self, table: NDArray[Any], rows: NDArray[np.intp]) -> Floats:
        """Return the numeric columns of some rows as (columns, rows)."""
        X = np.ascontiguousarray(table[np.ix_(rows, self.numeric)].T, dtype=np.float64)
        bad = ~np.isfinite(X)
        if bad.any():
            column, row = np.argwhere(bad)[0]
            raise RequestError(
                "a reading is missing or infinite",
                where=ReadingPlace(int(self.numeric[column]), int(rows[row])),
                instead="set such rows aside",
            )
        return X

    def _by_class(self, c: ArrayLike, n: int) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Yield each class that occurs, with its rows."""
        labels = np.asarray(c)
        labels = np.full(n, labels) if labels.ndim == 0 else labels
        if labels.shape != (n,):
            raise RequestError(f"there are {n} readings and {len(labels)} classes")
        for label in np.unique(as_labels(labels)):
            known = np.flatnonzero(self.classes == label)
            if not len(known):
                where = CLASSES.at(int(np.flatnonzero(labels == label)[0]))
                raise RequestError("the map has not seen a class", where=where)
            yield int(known[0]), np.flatnonzero(labels == label)

    def to_arrays(self) -> Arrays:
        """Return plain arrays without objects, for `numpy.savez`."""
        format = FORMATS[2 if self.lift else bool(self.side)]
        arrays: Arrays = {"format": np.array(format), "classes": self.classes}
        arrays |= side_arrays(self.side) | column_arrays(self.columns)
        if self.lift:
            arrays |= self.lift.to_arrays()
        if self.places is not None:
            arrays["places"] = np.array(self.places)
        for which, steps in enumerate(self.steps):
            for place, step in enumerate(steps):
                for name, array in step.to_arrays().items():
                    arrays[f"class.{which}.{place}.{step.kind}.{name}"] = array
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Codec:
        """Rebuild a codec from the result of `to_arrays`.

        Raises
        ------
        RequestError : the arrays are not a map, or are from another version of voile.
        """
        try:
            if int(arrays["format"]) not in FORMATS:
                raise RequestError("the map is of another version of voile")
            columns, steps = read_columns(arrays), read_steps(arrays)
            places = int(arrays["places"]) if "places" in arrays else None
            lift = RelationLift.from_arrays(arrays, columns)
            classes = np.asarray(arrays["classes"])
            codec = cls(classes, columns, steps, places, read_side(arrays), lift)
        except (LookupError, ValueError, TypeError, np.linalg.LinAlgError) as wrong:
            if isinstance(wrong, RequestError):
                raise
            raise RequestError("these arrays are not a map") from wrong
        if len(codec.steps) != len(codec.classes):
            raise RequestError("the map has other classes than steps")
        return codec


def _in_turn(V: Floats, ways: Sequence[Callable[[Floats], Floats]]) -> Floats:
    for way in ways:
        V = way(V)
    return V


def _strings(column: NDArray[Any]) -> NDArray[np.str_]:
    return column.astype(str)


def _batches(rows: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]
