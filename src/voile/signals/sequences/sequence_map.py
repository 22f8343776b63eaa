"""`SequenceMap`: learn how readings of one subject go on, so that many reveal no more than one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from voile.core.errors import RequestError
from voile.keys.random import RandomState
from voile.signals.codec.codec import Codec
from voile.signals.codec.given import as_labels, as_subjects, as_table
from voile.signals.codec.lattice import Lattice
from voile.signals.codec.pieces import Floats
from voile.signals.codec.place import CLASSES
from voile.signals.codec.steps import Affine, Bend, KnotheRosenblatt
from voile.signals.maps.columns import Resolution, columns_of
from voile.signals.maps.privacy_map import check_sizes
from voile.signals.methods.fitted import Sample
from voile.signals.methods.layers import Chain, fit_layer
from voile.signals.methods.smoothing import grid_over
from voile.signals.methods.transport import CHOICES, choose, fit_chain, folds, logs
from voile.signals.sequences.sequence_codec import Dynamics, SequenceCodec

SHARPENING = Chain(degree=3, spread=3)
EDGE = 1e-4  # how near to 1 the share of a level, or of what is kept, may come


class SequenceMap:
    """Learn one sequential map per private class, for readings sent again and again.

    The story: someone overhears all messages of one subject. Each by itself reveals nothing,
    but thirty show how the subject's readings swing, and that reveals the class. So each reading is
    sent as what is new in it, given those before: its law is the same for every class.

    Parameters
    ----------
    invariants : columns that never change within a subject, such as height; sent once.
    resolution : of each column, or one for all: a decimal number; None to find it.
    settings : of the map of single readings; None: chosen by cross-validated likelihood. With
        invariants, one layer that begins with them.
    random_state : of the fit.
    memory : learn what the readings of one subject have to do with each other. Without it, each
        is sent by itself: for subjects who send once, of whom nothing else is known. From a
        subject's second message on the class is gradually revealed.

    Attributes
    ----------
    classes_ : (k,) the classes, sorted.
    codec_ : what both ends of a `Session` need, `voile.signals.SequenceCodec`.

    Guarantee: decoding is exact. Privacy is measured, not proved: perfect where scores are of a
    normal law with a level for each subject and swings that fade at one rate, evenly spaced.
    """

    def __init__(
        self,
        invariants: Sequence[int] = (),
        resolution: Resolution = None,
        settings: Chain | None = None,
        random_state: RandomState = None,
        memory: bool = True,
    ) -> None:
        self.invariants = invariants
        self.resolution = resolution
        self.settings = settings
        self.random_state = random_state
        self.memory = memory

    def fit(self, X: ArrayLike, c: ArrayLike, subjects: ArrayLike) -> SequenceMap:
        """Learn the map.

        Parameters
        ----------
        X : (n, d) readings, numbers alone; those of a subject in the order of time.
        c : (n,) strings or whole numbers, one class a subject.
        subjects : (n,) whose reading each is.

        Raises
        ------
        RequestError : as `PrivacyMap.fit`; a nominal column; a subject of two classes; columns
            called invariant that change, or no column that does; with memory, no subject of a
            class with two readings.
        """
        table, labels = as_table(X), as_labels(np.asarray(c))
        if labels.shape != (len(table),):
            raise RequestError(f"there are {len(table)} readings and {len(labels)} classes")
        classes, codes = np.unique(labels, return_inverse=True)
        whose = as_subjects(subjects, len(table))
        check_sizes(classes, codes, whose)
        order, k = _order(self.invariants, table.shape[1])
        kinds = columns_of(table, codes, len(classes), self.resolution)
        ordered = [kinds[j] for j in order]
        lattices = [kind for kind in ordered if isinstance(kind, Lattice)]
        if len(lattices) < len(order):
            raise RequestError("a column is nominal", where="X", instead="send it by a PrivacyMap")
        X = np.stack(
            [lat.nearest(table[:, j]) for lat, j in zip(lattices, order, strict=True)], axis=1
        )
        _check_subjects(X[:, :k], codes, whose, memory=self.memory)
        sample = Sample(X, codes, whose, np.array([lat.resolution for lat in lattices]))
        spread = sample.dithered(self.random_state)
        steps = self._steps(sample, spread, k)
        codec = Codec(classes, tuple(lattices), steps)
        self.classes_ = classes
        if not self.memory:
            self.codec_ = SequenceCodec.forgetful(codec, order, k)
            return self
        scores = [_scores(codec, one)[k:] for one in (sample, spread)]
        laws = [
            _dynamics(scores[0][:, codes == n], scores[1][:, codes == n], whose[codes == n])
            for n in range(len(classes))
        ]
        dynamics = tuple(law[0] for law in laws)
        self.codec_ = SequenceCodec(codec, order, k, dynamics, _sharpening(laws))
        return self

    def _steps(
        self, sample: Sample, spread: Sample, k: int
    ) -> tuple[tuple[Bend | Affine | KnotheRosenblatt, ...], ...]:
        """Return per class the map of single readings to normal scores."""
        curves = logs(sample)
        Y = np.stack([curve(x) for curve, x in zip(curves, spread.X.T, strict=True)])
        choices = CHOICES[1:4] if k else None
        how = self.settings or choose(Y, sample, folds(sample, self.random_state), choices)
        if k and (how.depth > 1 or how.backwards):
            raise RequestError("a map with invariants has one layer, forwards", where="settings")
        frames, layers = fit_chain(Y, sample.c, how)
        enter = Bend.of(curves)
        return tuple(
            (enter, frame.turned(), *own) for frame, own in zip(frames, layers, strict=True)
        )


def _order(invariants: Sequence[int], d: int) -> tuple[tuple[int, ...], int]:
    """Return the columns, invariants first, and how many these are."""
    first = tuple(dict.fromkeys(int(j) for j in invariants))
    if any(not 0 <= j < d for j in first):
        raise RequestError(f"an invariant is none of the {d} columns", where="invariants")
    if len(first) == d:
        raise RequestError("no column changes", instead="send such readings by a PrivacyMap")
    return (*first, *(j for j in range(d) if j not in first)), len(first)


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


def _scores(codec: Codec, sample: Sample) -> Floats:
    """Return (d, n) scores of readings, each by its class's map."""
    out = np.empty((len(sample.cells), len(sample.c)))
    for which in range(len(codec.classes)):
        own = sample.c == which
        out[:, own] = codec.forward(np.ascontiguousarray(sample.X[own].T), which)
    return out


def _dynamics(known: Floats, sent: Floats, whose: NDArray[np.intp]) -> tuple[Dynamics, Floats]:
    """Return one class's dynamics, and (2 m, n) forecast means and what they leave."""
    by_subject = np.argsort(whose, kind="stable")
    sizes = np.unique(whose, return_counts=True)[1]
    longest = np.argsort(-sizes, kind="stable")
    starts = np.cumsum(sizes) - sizes
    # per moment the readings of all subjects who have one, the longest sequences first
    moments = [
        by_subject[(starts[longest] + t)[sizes[longest] > t]] for t in range(int(sizes.max()))
    ]
    turn = _turn(known, moments)
    found = [_direction(y, z, moments) for y, z in zip(turn @ known, turn @ sent, strict=True)]
    between, kept = np.array([one[0] for one in found]).T
    means = np.stack([one[1] for one in found])
    left = np.stack([one[2] for one in found])
    return Dynamics(turn, between, kept), np.concatenate([means, left])


def _turn(known: Floats, moments: Sequence[NDArray[np.intp]]) -> Floats:
    """Return the rotation to directions whose swings have nothing to do with each other."""
    steps = [
        known[:, later] - known[:, earlier[: len(later)]] for earlier, later in pairwise(moments)
    ]
    moved = np.concatenate(steps, axis=1)
    turn: Floats = np.linalg.eigh(moved @ moved.T)[1].T
    return turn


def _direction(
    y: Floats, z: Floats, moments: Sequence[NDArray[np.intp]]
) -> tuple[tuple[float, float], Floats, Floats]:
    """Fit one direction by likelihood; return it, and the later forecasts and what they leave."""
    rows = [(y[at], z[at]) for at in moments]

    def parameters(theta: Floats) -> tuple[float, float]:
        return float((1 - EDGE) / (1 + np.exp(-theta[0]))), float((1 - EDGE) * np.tanh(theta[1]))

    def loss(theta: Floats) -> float:
        _, left, logs = _forecasts(*parameters(theta), rows)
        return float(logs + 0.5 * sum((x * x).sum() for x in left))

    best = min(
        (minimize(loss, start, method="Nelder-Mead", tol=1e-3) for start in ((2, 0.3), (5, 0.3))),
        key=lambda found: float(found.fun),
    )
    between, kept = parameters(best.x)
    means, left, _ = _forecasts(between, kept, rows)
    return (between, kept), np.concatenate(means), np.concatenate(left)


def _forecasts(
    between: float, kept: float, rows: Sequence[tuple[Floats, Floats]]
) -> tuple[list[Floats], list[Floats], float]:
    """Go through the moments of all subjects at once, as `sequence.Direction` through one's."""
    new, noise = 1 - kept, (1 - kept * kept) * (1 - between)
    last = rows[0][0]
    level, doubt = between * last, between * (1 - between)
    means, left, logs = [], [], 0.0
    for known, sent in rows[1:]:
        last, level = last[: len(known)], level[: len(known)]
        variance = new * new * doubt + noise
        mean = kept * last + new * level
        means.append(mean)
        left.append((sent - mean) / np.sqrt(variance))
        logs += 0.5 * len(known) * float(np.log(variance))
        level = level + doubt * new / variance * (known - mean)
        doubt *= noise / variance
        last = known
    return means, left, logs


def _sharpening(laws: Sequence[tuple[Dynamics, Floats]]) -> tuple[KnotheRosenblatt, ...]:
    """Fit, to all classes at once, what is left of the forecasts to the normal law."""
    W = np.concatenate([left for _, left in laws], axis=1)
    codes = np.repeat(np.arange(len(laws)), [left.shape[1] for _, left in laws])
    return fit_layer(W, codes, np.arange(len(W)), grid_over(W), SHARPENING)
