"""`SequenceMap` learns the course of a subject's readings, so that many reveal no more than one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.core.warn import warn
from voile.keys.random import RandomState
from voile.signals.fitting.maps.columns import Resolution, base_sample, columns_of
from voile.signals.fitting.maps.relations import find_lift
from voile.signals.fitting.maps.side_columns import beside
from voile.signals.fitting.methods import transport
from voile.signals.fitting.methods.conditional_fit import SideChoice
from voile.signals.fitting.methods.layers import LayerChain, fit_layer
from voile.signals.fitting.methods.smoothing import grid_over
from voile.signals.fitting.sequences import parts as sequence_parts
from voile.signals.fitting.sequences.courses import SubjectCourses, fit_direction, forecasts
from voile.signals.fitting.sequences.structure import choose_basis
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.conditional import MapStep
from voile.signals.model.codec.formula import ColumnFormula
from voile.signals.model.codec.given import as_labels, as_subjects, as_table
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.lift import RelationLift
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.place import CLASSES
from voile.signals.model.codec.side import side_table
from voile.signals.model.codec.steps import ColumnBend, KnotheRosenblatt
from voile.signals.model.maps.checks import SignalsWarning, check_sizes
from voile.signals.model.maps.fitted import ClassSample
from voile.signals.model.sequences.basis import TimeBasis
from voile.signals.model.sequences.sequence_codec import ClassDynamics, SequenceCodec, SequencePart


@dataclass(eq=False, repr=False)
class SequenceMap:
    """A learned sequential map per private class, for subjects with several readings.

    An eavesdropper overhears all messages of one subject. Each message by itself reveals nothing.
    However, thirty messages show how the subject's readings fluctuate, which reveals the class. A
    message therefore contains only the part of a reading that earlier ones do not predict. Its law
    is the same for every class.

    Parameters
    ----------
    invariants : columns that never change within a subject, such as height; sent once.
    resolution : for each column, or one for all: a decimal number, or None to estimate it.
    settings : settings of the map of single readings. None: chosen by cross-validated likelihood.
        With invariants, the map has one layer that starts with them.
    random_state : seed of the fit.
    period : period of the season, in units of time. 0: no season. None: estimated.
    side_resolution : for each side column, like `resolution`.
    relations : as for `PrivacyMap`; none is removed if readings lack columns.
    side_choice : smoothness of the frame of side columns. None: chosen by the fit.
    memory : whether to learn the dependence between the readings of one subject. Without it, each
        reading is sent by itself. Use that for subjects who send once and are otherwise unknown.
        From a subject's second message on, the class is gradually revealed.

    Attributes
    ----------
    classes_ : (k,) the classes, sorted.
    codec_ : the codec for client and server of a `Session`, `voile.signals.SequenceCodec`.

    Guarantee: decoding is exact. Privacy is measured, not proved. It is perfect if a subject's
    scores are normal, with their own level, slope and season, and deviations that fade at one rate.
    """

    invariants: Sequence[int] = ()
    resolution: Resolution = None
    settings: LayerChain | None = None
    random_state: RandomState = None
    memory: bool = True
    period: int | None = None
    side_resolution: Resolution = None
    relations: Mapping[int, str] | None = field(default_factory=dict)
    side_choice: SideChoice | None = None

    def fit(
        self,
        X: ArrayLike,
        c: ArrayLike,
        subjects: ArrayLike,
        times: ArrayLike | None = None,
        *,
        known: ArrayLike | None = None,
    ) -> SequenceMap:
        """Fit the map to the readings of subjects over time.

        Parameters
        ----------
        X : (n, d) readings, numeric only; the rows of a subject are in order of time. A reading may
            lack columns (NaN), as with sensors of different rates. Its message then contains only
            the other columns.
        c : (n,) strings or whole numbers, one class per subject.
        subjects : (n,) the subject of each reading.
        times : (n,) times in whole units, which messages then contain. None: readings are counted.
            The second of two readings at the same time counts as one unit later.
        known : (n, q) side columns, as in `PrivacyMap.fit`: the adversary's background knowledge,
            such as age and sex. Those of a subject's first reading count for all its readings,
            since a session has one row of them.

        Returns
        -------
        self

        Raises
        ------
        RequestError : as for `PrivacyMap.fit`. Also: a reading lacks a column although there are
            side columns, or a column is nominal. A subject has two classes. An invariant changes,
            or all columns are invariants. With memory, also: a class has no subject with two
            readings.

        Warns
        -----
        SignalsWarning : a class has too few readings of a set of columns. Such readings are not
            sent.
        """
        table, labels = as_table(X), as_labels(np.asarray(c))
        if labels.shape != (len(table),):
            raise RequestError(f"there are {len(table)} readings and {len(labels)} classes")
        classes, codes = np.unique(labels, return_inverse=True)
        whose = as_subjects(subjects, len(table))
        check_sizes(classes, codes, whose)
        order, k = _order(self.invariants, table.shape[1])
        here = sequence_parts.there(table)
        if not here.all():
            table = sequence_parts.fill_gaps(table, here, codes, self.random_state)
        kinds = columns_of(table, codes, len(classes), self.resolution)
        ordered = [kinds[j] for j in order]
        lattices = _lattices(ordered)
        X = np.stack(
            [lat.nearest(table[:, j]) for lat, j in zip(lattices, order, strict=True)], axis=1
        )
        _check_subjects(X[:, :k], codes, whose, memory=self.memory)
        if not here.all():
            if k or not self.memory or known is not None:
                _refuse_lacking(invariant=bool(k), known=known is not None)
            whole = here.all(axis=1)
            self._check_relations(X[whole], codes[whole], lattices)
            readings = sequence_parts.PartialReadings(
                X, here[:, order], codes, whose, _moments(whose, times)
            )
            return self._fit_parts(readings, classes, lattices, order, timed=times is not None)
        sample = ClassSample(X, codes, whose, np.array([lat.resolution for lat in lattices]))
        if known is not None:
            first = np.unique(whose, return_index=True)[1][whose]
            table = side_table(known, len(X))[first]
            sample = beside(sample, table, self.side_resolution, len(order))
        sample, lattices, order, lift = self._lift_relations(sample, lattices, order, k)
        base = sample if lift is None else base_sample(sample, lift)
        steps = self._steps(base, base.add_dither(self.random_state), k)
        codec = Codec(classes, tuple(lattices), steps, side=sample.side, lift=lift)
        self.classes_ = classes
        if not self.memory:
            self.codec_ = SequenceCodec.forgetful(codec, order, k)
            return self
        self.codec_ = self._fit_courses(
            codec, order, k, sample, len(base.cells), _moments(whose, times), times is not None
        )
        return self

    def _fit_courses(
        self,
        codec: Codec,
        order: tuple[int, ...],
        k: int,
        sample: ClassSample,
        width: int,  # columns before the derived ones
        when: NDArray[np.int64],
        timed: bool,
    ) -> SequenceCodec:
        """Fit the course of each class's scores, and their residuals given a forecast."""
        codes, whose, classes = sample.c, sample.subjects, range(len(codec.classes))
        both = sample, sample.add_dither(self.random_state)
        scores = [sequence_parts.scores_of(codec, one)[k:width] for one in both]
        turns = [_turn(scores[0][:, codes == n], whose[codes == n]) for n in classes]
        known, sent = ([turn @ of[:, codes == n] for n, turn in enumerate(turns)] for of in scores)
        basis = choose_basis(known, whose, when, codes, self.period)
        laws = [
            _dynamics(turns[n], basis, known[n], sent[n], SubjectCourses.of(whose[own], when[own]))
            for n, own in ((n, codes == n) for n in classes)
        ]
        part = SequencePart(tuple(range(width - k)), _sharpening(laws))
        dynamics = tuple(law[0] for law in laws)
        return SequenceCodec(codec, order, k, dynamics, (part,), basis, timed)

    def _lift_relations(
        self, sample: ClassSample, lattices: list[ValueLattice], order: tuple[int, ...], k: int
    ) -> tuple[ClassSample, list[ValueLattice], tuple[int, ...], RelationLift | None]:
        """Find relations, and move derived columns to the end. An invariant is never derived."""
        if self.relations is None:
            return sample, lattices, order, None
        names = {f"x{j}": f"x{place}" for place, j in enumerate(order)}
        declared = {}
        for column, text in self.relations.items():
            formula = ColumnFormula(text)
            side = {name: name for name in formula.names if name[0] == "k"}
            declared[order.index(column)] = formula.rename_columns(names | side)
        known = None if sample.levels is None else sample.levels.values
        lift = find_lift(
            sample.X, sample.c, lattices, known, declared=declared, fixed=range(k), places=order
        )
        if lift is None:
            return sample, lattices, order, None
        last = [*lift.base, *lift.derived_columns]
        sample = replace(sample, X=sample.X[:, last], cells=sample.cells[last])
        moved = tuple(order[j] for j in last)
        return sample, [lattices[j] for j in last], moved, lift.reorder_columns(last)

    def _check_relations(
        self, X: Floats, c: NDArray[np.intp], lattices: Sequence[ValueLattice]
    ) -> None:
        """Refuse declared relations for readings that lack columns. Warn about other relations."""
        if self.relations:
            raise RequestError(
                "a declared relation is not lifted where some readings lack a column",
                where="relations",
                instead="leave such readings out, or derive the column after decoding",
            )
        lift = find_lift(X, c, lattices) if self.relations is not None and len(X) else None
        if lift and lift.derived_columns:
            warn(
                "readings lack columns, so that sessions lift no relation: who decodes them under "
                "every class finds the class by the relation. Leave the derived column out",
                SignalsWarning,
            )

    def _fit_parts(
        self,
        readings: sequence_parts.PartialReadings,
        classes: NDArray[np.generic],
        lattices: Sequence[ValueLattice],
        order: tuple[int, ...],
        *,
        timed: bool,
    ) -> SequenceMap:
        """Fit a map for readings that may lack columns."""
        parts = sequence_parts.fit_parts(
            readings, classes, lattices, self.settings, self.period, self.random_state
        )
        self.classes_, self.codec_ = classes, replace(parts, order=order, timed=timed)
        return self

    def _steps(
        self, sample: ClassSample, spread: ClassSample, k: int
    ) -> tuple[tuple[MapStep, ...], ...]:
        """Return per class the map of single readings to normal scores."""
        curves = transport.logs(sample)
        Y = np.stack([curve(x) for curve, x in zip(curves, spread.X.T, strict=True)])
        how, side = self.settings, None
        if k and how and (how.depth > 1 or how.backwards):
            raise RequestError("a map with invariants has one layer, forwards", where="settings")
        splits = transport.folds(sample, self.random_state)
        if sample.levels is not None:
            how, Y, side = transport.conditional(
                Y,
                sample,
                sample.levels,
                splits,
                settings=how,
                choice=self.side_choice,
                forwards=bool(k),
            )
        elif how is None:
            how = transport.choose(Y, sample, splits, transport.CHOICES[1:4] if k else None)
        frames, layers = transport.fit_chain(Y, sample.c, how)
        enter = ColumnBend.of(curves)
        return tuple(
            (enter, *(side.into(which) if side else ()), frame.invert_map(), *own)
            for which, (frame, own) in enumerate(zip(frames, layers, strict=True))
        )


def _refuse_lacking(*, invariant: bool, known: bool) -> None:
    """Refuse readings that lack a column if no map can send them."""
    why = "a column never changes" if invariant else "each is sent by itself"
    raise RequestError(
        f"some readings lack a column, and {'the map takes known columns' if known else why}",
        where="X",
        instead="leave such readings out, or such columns",
    )


def _order(invariants: Sequence[int], d: int) -> tuple[tuple[int, ...], int]:
    """Return the columns, invariants first, and the number of invariants."""
    first = tuple(dict.fromkeys(int(j) for j in invariants))
    if any(not 0 <= j < d for j in first):
        raise RequestError(f"an invariant is none of the {d} columns", where="invariants")
    if len(first) == d:
        raise RequestError("no column changes", instead="send such readings by a PrivacyMap")
    return (*first, *(j for j in range(d) if j not in first)), len(first)


def _lattices(kinds: Sequence[object]) -> list[ValueLattice]:
    """Return the columns' lattices. Refuse a nominal column, which has none."""
    lattices = [kind for kind in kinds if isinstance(kind, ValueLattice)]
    if len(lattices) < len(kinds):
        raise RequestError("a column is nominal", where="X", instead="send it by a PrivacyMap")
    return lattices


def _check_subjects(
    fixed: Floats, codes: NDArray[np.intp], whose: NDArray[np.intp], *, memory: bool
) -> None:
    first = np.unique(whose, return_index=True)[1][whose]
    if (codes != codes[first]).any():
        raise RequestError("a subject is of two classes", where=CLASSES)
    if (fixed != fixed[first]).any():
        raise RequestError("a column that is called invariant changes", where="invariants")
    many = np.bincount(whose)[whose] > 1
    if memory and len(np.unique(codes[many])) <= codes.max():
        raise RequestError(
            "a class has no subject with two readings", where="subjects", instead="use a PrivacyMap"
        )


def _moments(whose: NDArray[np.intp], times: ArrayLike | None) -> NDArray[np.int64]:
    """Return the times of readings, each later than the subject's reading before it."""
    given = np.zeros(len(whose), dtype=np.int64) if times is None else np.asarray(times)
    if given.shape != whose.shape or given.dtype.kind not in "iu":
        raise RequestError("times are not a whole number for each reading", where="times")
    out = given.astype(np.int64)
    for rows in _rows_of(whose):
        own = out[rows]
        if (np.diff(own) < 0).any():
            raise RequestError("a reading is earlier than the subject's one before", where="times")
        steps = np.arange(len(own))
        out[rows] = np.maximum.accumulate(own - steps) + steps
    return out


def _rows_of(whose: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    order = np.argsort(whose, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(whose[order])) + 1)


def _turn(known: Floats, whose: NDArray[np.intp]) -> Floats:
    """Return the rotation to directions with uncorrelated steps."""
    order = np.argsort(whose, kind="stable")
    same = np.diff(whose[order]) == 0
    moved = np.diff(known[:, order], axis=1)[:, same]
    turn: Floats = np.linalg.eigh(moved @ moved.T)[1].T
    return turn


def _dynamics(
    turn: Floats, basis: TimeBasis, known: Floats, sent: Floats, courses: SubjectCourses
) -> tuple[ClassDynamics, Floats]:
    """Return one class's dynamics, and the (3 m, n) inputs of sharpening."""
    functions, laws, parts = courses.over(basis), [], []
    later = courses.here[:, 1:]
    for y, z in zip(map(courses.of_rows, known), map(courses.of_rows, sent), strict=True):
        law = fit_direction(courses, basis, y)
        told, heard = (forecasts(law, courses, functions, y, one) for one in (z, y))
        heard.surprise[:, 0] = 0  # as in `DirectionLaw.learn`
        laws.append(law)
        parts.append((told.mean[:, 1:], heard.surprise[:, :-1], told.surprise[:, 1:]))
    columns = [one[later] for kind in zip(*parts, strict=True) for one in kind]
    return ClassDynamics.of(turn, laws), np.stack(columns)


def _sharpening(laws: Sequence[tuple[ClassDynamics, Floats]]) -> tuple[KnotheRosenblatt, ...]:
    """Fit the sharpening maps: surprises to the normal law, given the earlier readings."""
    W = np.concatenate([left for _, left in laws], axis=1)
    codes = np.repeat(np.arange(len(laws)), [left.shape[1] for _, left in laws])
    return fit_layer(W, codes, np.arange(len(W)), grid_over(W), sequence_parts.SHARPENING)
