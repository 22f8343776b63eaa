"""Fit readings with missing columns, such as those of sensors with different rates.

Each column is mapped to normal scores and followed over its own times, without the other columns. A
message contains the surprises of its columns. The dependence between columns is removed last, with
a triangular map for each set of columns that is read together. This map uses the forecasts of all
columns, including columns missing from the reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.warn import warn
from voile.keys.random import RandomState, streams
from voile.signals.fitting.methods.layers import LayerChain, fit_layer, fit_marginals
from voile.signals.fitting.methods.smoothing import grid_over
from voile.signals.fitting.methods.transport import logs
from voile.signals.fitting.sequences.courses import SubjectCourses, fit_direction
from voile.signals.fitting.sequences.structure import choose_basis
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.scalar import ScalarStep
from voile.signals.model.codec.steps import ColumnBend
from voile.signals.model.codec.written_steps import WrittenSteps
from voile.signals.model.maps.checks import FEW, LEAST, SignalsWarning
from voile.signals.model.maps.fitted import ClassSample
from voile.signals.model.sequences.basis import TimeBasis
from voile.signals.model.sequences.direction import DirectionLaw
from voile.signals.model.sequences.sequence_codec import (
    ClassDynamics,
    SequenceCodec,
    SequenceLaw,
    SequencePart,
    State,
)

SHARPENING = LayerChain(degree=3, spread=3)


@dataclass(frozen=True, eq=False)
class PartialReadings:
    """Readings with missing columns, in order of time for each subject."""

    X: Floats  # (n, d) on their lattices, with fillers for missing values
    here: NDArray[np.bool_]  # (n, d) whether the value is present
    codes: Codes  # (n,) classes
    whose: Codes  # (n,) subjects
    times: NDArray[np.int64]  # (n,)


def there(table: Floats) -> NDArray[np.bool_]:
    """Return the mask of present readings. Refuse rows without any."""
    here: NDArray[np.bool_] = table == table
    if not here.any(axis=1).all():
        raise RequestError("a reading has no column", where="X", instead="leave it out")
    return here


def fill_gaps(
    table: Floats, here: NDArray[np.bool_], codes: Codes, random_state: RandomState
) -> Floats:
    """Return a table with each gap filled by a reading of the same class and column.

    The fillers only affect a column's cells and range.
    """
    (rng,) = streams(random_state, "readings in part")
    out = table.copy()
    for k in range(int(codes.max()) + 1):
        for j in range(table.shape[1]):
            own = codes == k
            has = np.flatnonzero(own & here[:, j])
            lacks = np.flatnonzero(own & ~here[:, j])
            if not len(has):
                raise RequestError("a class has no reading of a column", where="X")
            out[lacks, j] = table[rng.choice(has, len(lacks)), j]
    return out


def fit_parts(
    given: PartialReadings,
    classes: NDArray[np.generic],
    lattices: Sequence[ValueLattice],
    settings: LayerChain | None,
    period: int | None,
    random_state: RandomState,
) -> SequenceCodec:
    """Fit a map of sequences with messages that may contain only some of the columns.

    Cost: that of complete readings, and O(K^2) in plain Python for each reading and column.
    """
    cells = np.array([lattice.resolution for lattice in lattices])
    sample = ClassSample(given.X, given.codes, given.whose, cells)
    spread = sample.add_dither(random_state)
    curves = logs(sample)
    Y = np.stack([curve(x) for curve, x in zip(curves, spread.X.T, strict=True)])
    frames, layers = fit_marginals(Y, given.here.T, given.codes, settings or LayerChain())
    enter = ColumnBend.of(curves)
    steps = tuple(
        (enter, frame.invert_map(), layer) for frame, layer in zip(frames, layers, strict=True)
    )
    codec = Codec(classes, tuple(lattices), steps)
    known, sent = (scores_of(codec, one) for one in (sample, spread))
    basis = _basis(given, known, period)
    dynamics = tuple(_dynamics(given, known, basis, which) for which in range(len(classes)))
    parts = _parts(
        given, known, sent, [WrittenSteps(one, len(lattices)) for one in steps], dynamics, basis
    )
    return SequenceCodec(codec, tuple(range(len(lattices))), 0, dynamics, parts, basis)


def scores_of(codec: Codec, sample: ClassSample) -> Floats:
    """Return the (d, n) scores of readings under the maps of their classes."""
    out = np.empty((len(sample.cells), len(sample.c)))
    for which in range(len(codec.classes)):
        own = sample.c == which
        at = None if sample.levels is None else sample.levels.take(np.flatnonzero(own))
        out[:, own] = codec.forward(np.ascontiguousarray(sample.X[own].T), which, at)
    return out


def _basis(given: PartialReadings, known: Floats, period: int | None) -> TimeBasis:
    """Choose the functions of time for all columns. Each column of a subject counts as one."""
    columns, rows = np.nonzero(given.here.T)
    whose = np.unique(columns * (given.whose.max() + 1) + given.whose[rows], return_inverse=True)[1]
    codes, values = given.codes[rows], known[columns, rows][None]
    own = [values[:, codes == k] for k in range(int(codes.max()) + 1)]
    return choose_basis(own, whose, given.times[rows], codes, period)


def _dynamics(given: PartialReadings, known: Floats, basis: TimeBasis, which: int) -> ClassDynamics:
    """Fit the course of each column of a class over its own times."""
    laws: list[DirectionLaw] = []
    for y, here in zip(known, given.here.T, strict=True):
        own = np.flatnonzero(here & (given.codes == which))
        courses = SubjectCourses.of(given.whose[own], given.times[own])
        laws.append(fit_direction(courses, basis, courses.of_rows(y[own])))
    return ClassDynamics.of(np.eye(len(known)), laws)


def _parts(
    given: PartialReadings,
    known: Floats,
    sent: Floats,
    paths: Sequence[ScalarStep],
    dynamics: Sequence[ClassDynamics],
    basis: TimeBasis,
) -> tuple[SequencePart, ...]:
    """Fit the sharpening of each set of columns with enough readings in every class."""
    laws = [SequenceLaw(path, one, {}, basis) for path, one in zip(paths, dynamics, strict=True)]
    W = _surprises(given, known, sent, laws)
    m, parts, few = len(known), [], 0
    for held in np.unique(given.here, axis=0)[::-1]:
        rows = np.flatnonzero((given.here == held).all(axis=1))
        codes, columns = given.codes[rows], np.flatnonzero(held)
        first = np.unique(given.whose[rows], return_index=True)[1]  # one per person
        counts = [np.bincount(one, minlength=len(laws)).min() for one in (codes, codes[first])]
        if counts[0] < FEW or counts[1] < LEAST:
            few += len(rows)
            continue
        stands = W[np.ix_([*range(2 * m), *(2 * m + columns)], rows)]
        order = np.arange(len(stands))
        sharp = fit_layer(stands, codes, order, grid_over(stands), SHARPENING)
        parts.append(SequencePart(tuple(columns.tolist()), sharp))
    if len(parts) < 2:
        raise RequestError(
            f"columns are read together in one way only by {FEW} readings of {LEAST} people in "
            "every class",
            where="X",
            instead="leave readings that lack a column out, or the column",
        )
    if few:
        warn(
            f"{few:,} readings hold columns that fewer than {FEW}, or {LEAST} people, of a class "
            "hold together: such readings will not be sent",
            SignalsWarning,
        )
    return tuple(parts)


def _surprises(
    given: PartialReadings, known: Floats, sent: Floats, laws: Sequence[SequenceLaw]
) -> Floats:
    """Process all readings as a session does.

    Return (3 m, n) forecasts, last surprises and current surprises.
    """
    m, n = known.shape
    W = np.zeros((3 * m, n))
    order = np.argsort(given.whose, kind="stable")
    starts = np.flatnonzero(np.diff(given.whose[order], prepend=-1))
    for start, end in pairwise([*starts.tolist(), n]):
        law = laws[given.codes[order[start]]]
        state: State = law.begin()
        for row in order[start:end].tolist():
            time, here = int(given.times[row]), np.flatnonzero(given.here[row]).tolist()
            expected = law.forecasts(state, time, here)
            W[: 2 * m, row] = law.list_conditions(expected, state)
            after = list(state)
            for j in here:
                own = expected[j]
                W[2 * m + j, row] = (sent[j, row] - own.mean) / own.spread
                learn = law.dynamics.directions[j].learn
                after[j] = learn(state[j], time, own, float(known[j, row]))
            state = tuple(after)
    return W
