"""Features of several messages of each subject, from which an adversary infers the class."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from voile.signals.model.codec.pieces import Codes, Floats

LAGS = (*range(1, 9), 14)  # in readings
WAVES = 20  # frequencies of a spectrum
EXTREMES = 3  # lowest and highest readings of a subject
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
WEEK = 7  # readings or units of time


def view_courses(Z: Floats, times: NDArray[np.int64] | None = None) -> Mapping[str, Floats]:
    """Return feature sets of (n, T, d) messages, by name. NaN counts as the subject's mean.

    `times` is (n, T) in whole units. None: readings are counted.
    """
    here = np.isfinite(Z)
    if here.all():
        return _views(Z, times)
    order = np.argsort(~here, axis=1, kind="stable")
    together = np.nan_to_num(np.take_along_axis(Z, order, axis=1))
    first, second = _views(np.nan_to_num(Z), times), _views(together, None)
    return {name: np.concatenate([first[name], second[name]], axis=1) for name in first}


def _views(Z: Floats, times: NDArray[np.int64] | None) -> Mapping[str, Floats]:
    moments, rhythm = view_moments(Z), view_rhythm(Z, times)
    if not rhythm.shape[1]:
        return {"moments": moments}
    return {
        "moments": moments,
        "rhythm": rhythm,
        "moments and rhythm": np.concatenate([moments, rhythm], axis=1),
    }


def view_moments(Z: Floats) -> Floats:
    """Return each subject's level, spread, radius, quantiles, volatility, runs and spectrum."""
    n, length, d = Z.shape
    centred, moves = Z - Z.mean(axis=1, keepdims=True), np.diff(Z, axis=1)
    pairs = [(i, j) for i in range(d) for j in range(i)]
    together = [(V[:, :, i] * V[:, :, j]).mean(axis=1) for V in (centred, moves) for i, j in pairs]
    ordered = np.sort(centred, axis=1)
    trend = np.arange(length) - (length - 1) / 2
    before, after = centred[:, :-1], centred[:, 1:]
    squares = centred**2 - (centred**2).mean(axis=1, keepdims=True)
    radius = np.sqrt((Z**2).sum(axis=2))
    waves = np.abs(np.fft.rfft(centred, axis=1))[:, 1 : WAVES + 1]
    parts = [
        Z[:, 0],
        Z.mean(axis=1),
        Z.std(axis=1),
        np.abs(moves).mean(axis=1),
        (moves**2).mean(axis=1),
        np.concatenate([ordered[:, :EXTREMES], ordered[:, -EXTREMES:]], axis=1),
        *np.quantile(Z, QUANTILES, axis=1),
        np.stack([radius.mean(axis=1), radius.std(axis=1), radius.max(axis=1)], axis=1),
        (centred**3).mean(axis=1),
        (centred**4).mean(axis=1),
        np.einsum("ntd,t->nd", centred, trend),
        (after * before > 0).mean(axis=1),
        (after * before**2).mean(axis=1),
        *((squares[:, k:] * squares[:, :-k]).mean(axis=1) for k in (1, 2, 5) if k < length),
        waves,
        waves.argmax(axis=1),
        waves.max(axis=1),
        *(one[:, None] for one in together),
    ]
    return np.concatenate([np.reshape(one, (n, -1)) for one in parts], axis=1)


def view_rhythm(Z: Floats, times: NDArray[np.int64] | None) -> Floats:
    """Return autocorrelations. With 14 readings or more, also return means by phase of seven."""
    n, length, _ = Z.shape
    centred = Z - Z.mean(axis=1, keepdims=True)
    lags = [(centred[:, k:] * centred[:, :-k]).mean(axis=1) for k in LAGS if k < length]
    if length >= 2 * WEEK:
        when = np.tile(np.arange(length), (n, 1)) if times is None else times
        lags += _phases(centred, np.mod(when, WEEK))
    return np.concatenate(lags, axis=1) if lags else Z[:, :0, 0]


def _phases(centred: Floats, phase: Codes) -> list[Floats]:
    found = []
    for one in range(WEEK):
        own = (phase == one)[:, :, None]
        found.append((centred * own).sum(axis=1) / np.maximum(own.sum(axis=1), 1))
    return found


def view_decodings(decoded: Floats) -> Floats:
    """Return features of the plausibility of sessions under each class, (n, features).

    `decoded` are (k, n, T, d) readings. The features of each class are the first reading, level,
    spread, steps, extremes and products of columns. They are followed by the same features relative
    to the mean of all classes.
    """
    each = np.stack([_plausible(np.nan_to_num(one)) for one in decoded])
    apart = each - each.mean(axis=0)
    return np.concatenate([*each, *apart], axis=1)


def _plausible(X: Floats) -> Floats:
    n, _, d = X.shape
    moves = np.diff(X, axis=1)
    parts = [
        X[:, 0],
        X.mean(axis=1),
        np.log(X.std(axis=1) + 1e-6),
        np.log(np.abs(moves).mean(axis=1) + 1e-6),
        X.min(axis=1),
        X.max(axis=1),
        (moves[:, 1:] * moves[:, :-1]).mean(axis=1),
        *((X[:, :, i] * X[:, :, j]).mean(axis=1) for i in range(d) for j in range(i)),
    ]
    return np.concatenate([np.reshape(one, (n, -1)) for one in parts], axis=1)
