"""Measure how much whole sessions reveal about the class, on subjects outside the fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.keys.random import ProtectiveRandom
from voile.keys.secret import Secret
from voile.signals.attack.breaks import FEWEST, decode_sessions, send_readings
from voile.signals.attack.choice import TREES, infer_each, measure_auc, measure_aucs
from voile.signals.attack.course_views import view_courses, view_decodings
from voile.signals.fitting.sequences.courses import SubjectCourses
from voile.signals.fitting.sequences.sequence_map import SequenceMap
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.side import side_features
from voile.signals.model.sequences.sequence_codec import SequenceCodec
from voile.signals.model.sessions import OverheardSessions

LENGTHS = (10, 30)  # readings per session
SHORTEST = 3
MOST = 1_000  # subjects with overheard sessions
DRAWS = 200  # resamples for an interval


def overhear(
    fit: Callable[[NDArray[np.bool_]], SequenceMap],
    X: Floats,
    c: Codes,
    whose: NDArray[np.intp],
    times: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    known: NDArray[np.object_] | None = None,
) -> list[OverheardSessions]:
    """Fit a map to half of the subjects, and overhear whole sessions of the others.

    Parameters
    ----------
    fit : fits a map to the rows of a mask.
    X : (n, d) numbers; the rows of a subject are in order of time.
    c : (n,) class numbers, from 0.
    whose, times : (n,) as in `SequenceMap.fit`.
    rng : for the halves and the learners.
    known : (n, q) side columns, which the attackers also have. A session has those of its first
        reading.

    Returns
    -------
    The results for each length that enough subjects have. The list is empty with too few subjects.

    Cost: a fit, the learners, and the readings of at most 1,000 sessions.
    """
    subjects = whose.max() + 1
    learnt = (rng.permutation(subjects) < subjects // 2)[whose]
    try:
        codec = fit(learnt).codec_
    except RequestError:
        return []  # too few subjects for half of them
    seed = int(rng.integers(1 << 31))  # the range of scikit-learn's seeds
    courses = SubjectCourses.of(whose[~learnt], times[~learnt])
    return [*_of_lengths(codec, X, c, courses, learnt, seed, known)]


def _of_lengths(
    codec: SequenceCodec,
    X: Floats,
    c: Codes,
    courses: SubjectCourses,
    learnt: NDArray[np.bool_],
    seed: int,
    known: NDArray[np.object_] | None,
) -> Iterator[OverheardSessions]:
    rows = np.flatnonzero(~learnt)[courses.rows]
    sizes, classes = courses.here.sum(axis=1), c[rows[:, 0]]
    for length in lengths_of(sizes, classes, c.max() + 1):
        long = np.flatnonzero(sizes >= length)[:MOST]
        readings, when = X[rows[long, :length]], courses.times[long, :length]
        side = None if known is None else known[rows[long, 0]]
        yield overheard(codec, readings, classes[long], when, seed, known=side)


def lengths_of(sizes: NDArray[np.intp], c: Codes, classes: int) -> list[int]:
    """Return the lengths of sessions to overhear: 10 and 30, or the longest possible.

    `sizes` and `c`, (n,), are the number of readings and the class of each subject.
    """

    def has_enough(length: int) -> bool:
        known = np.flatnonzero(sizes >= length)[:MOST]
        return bool(np.bincount(c[known], minlength=classes).min() >= 2 * FEWEST)

    longest = max(filter(has_enough, range(SHORTEST, LENGTHS[-1] + 1)), default=0)
    return sorted({longest, *(length for length in LENGTHS if length < longest)} - {0})


def overheard(
    codec: SequenceCodec,
    X: Floats,
    c: Codes,
    times: NDArray[np.int64],
    seed: int,
    *,
    known: NDArray[np.object_] | None = None,
) -> OverheardSessions:
    """Send whole sessions of subjects outside the map's fit, and infer their classes.

    Parameters
    ----------
    X : (n, T, d) readings of n subjects, NaN for missing columns.
    c : (n,) their class numbers.
    times : (n, T) in the map's units.
    seed : for dither and learners.
    known : (n, q) side columns, which the attackers also have.

    Cost: n T readings, and the learners.
    """
    # a seeded dither is safe here, since these messages are never sent
    purpose = f"{X.shape[1]} readings"
    dither = ProtectiveRandom.from_secret(Secret(seed.to_bytes(16, "little")), purpose=purpose)
    cells = None if known is None else known.tolist()
    first, varying, messages = send_readings(codec, X, c, times, dither, cells)
    with np.errstate(over="ignore"):
        plain = (X - np.nanmean(X, axis=(0, 1))) / np.nanstd(X, axis=(0, 1))
    here = np.isfinite(X)
    lacks = here.reshape(len(X), -1)[:, ~here.all(axis=(0,)).ravel()].astype(np.float64)
    beside = [lacks]
    if known is not None:
        beside.append(side_features(codec.codec.side, codec.codec.levels(known, len(X))))
    when = times if codec.timed else None
    beside.append(first[:, : codec.invariants])

    def views(Z: Floats) -> dict[str, Floats]:
        courses = view_courses(Z, when)
        return {name: np.concatenate([one, *beside], axis=1) for name, one in courses.items()}

    heard = views(varying)
    decoded = view_decodings(decode_sessions(codec, messages, cells))
    heard["decodings under every class"] = np.concatenate([decoded, *beside], axis=1)
    found = infer_each(heard, c, seed)
    aucs = measure_aucs(found.chances, c)
    of = int(np.argmax(aucs))
    low, high = _interval(found.chances[:, of], c == of, np.random.default_rng(seed))

    def compare(F: Floats) -> list[float]:
        return measure_aucs(infer_each({"": F}, c, seed, TREES).chances, c)

    raw = max(compare([*views(plain).values()][-1]))
    held = max(compare(lacks)) if lacks.size else None
    alone = 0.5 if known is None else max(compare(beside[1])[of], 0.5)
    return OverheardSessions(
        X.shape[1],
        len(X),
        found.by,
        str(codec.codec.classes[of]),
        aucs[of],
        low,
        high,
        raw,
        held,
        alone,
    )


def _interval(
    scores: Floats, own: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[float, float]:
    """Return a 95% interval of the AUC by resampling the subjects inside and outside the class."""
    yes, no = np.flatnonzero(own), np.flatnonzero(~own)
    drawn = [
        np.concatenate([rng.choice(yes, len(yes)), rng.choice(no, len(no))]) for _ in range(DRAWS)
    ]
    low, high = np.quantile(
        [measure_auc(scores[rows], own[rows]) for rows in drawn], [0.025, 0.975]
    )
    return float(low), float(high)
