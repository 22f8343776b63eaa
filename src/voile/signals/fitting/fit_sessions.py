"""Fit the map of sequences, and measure the leakage of whole sessions."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.progress import ProgressHook
from voile.core.warn import warn
from voile.keys.random import streams
from voile.signals.fitting.methods.conditional_fit import SideChoice
from voile.signals.fitting.overhear import overhear
from voile.signals.fitting.sequences.sequence_map import SequenceMap
from voile.signals.model.maps.checks import SignalsWarning
from voile.signals.model.readings.moments import TimeUnit, unit_of
from voile.signals.model.readings.sources import SignalReader, SourceReadings
from voile.signals.model.sessions import SessionFacts
from voile.signals.options import FitOptions


def fit_sessions(
    reader: SignalReader,
    rows: SourceReadings,
    options: FitOptions,
    seed: int,
    progress: ProgressHook,
    choice: SideChoice | None = None,
) -> SessionFacts | None:
    """Fit the course of a subject's readings, if a column gives their order.

    If every subject has one reading, each reading is sent by itself. A map with memory is always
    tried on held-out subjects. It is left out if its sessions are shown to reveal the class.
    """
    memory = len(rows.whose) > rows.whose[-1] + 1
    if memory and rows.times is None:
        _warn(
            "subjects have several readings, and many reveal more than one: "
            "give --time COLUMN to fit sequences, for send and receive"
        )
        return None
    unit, times = None, np.zeros(len(rows.whose), dtype=np.int64)
    if rows.times is not None and memory:
        unit = unit_of(rows.times, rows.whose)
        times = unit.of(rows.times.values)
        _warn_of_ties(rows)

    def fit(own: NDArray[np.bool_]) -> SequenceMap:
        map = SequenceMap(
            reader.invariants if memory else (),
            reader.resolutions,
            random_state=seed,
            memory=memory,
            period=_period(options.period, unit),
            side_resolution=[one.resolution for one in reader.sides],
            relations=reader.relations,
            side_choice=choice,
        )
        when = times[own] if unit else None
        known = None if rows.beside is None else rows.beside[own]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "a class has only", SignalsWarning)  # reported
            return map.fit(rows.table[own], rows.labels[own], rows.whose[own], when, known=known)

    progress("fitting the map of sequences", 0)
    try:
        codec = fit(np.ones(len(rows.whose), dtype=np.bool_)).codec_
    except RequestError as error:
        if memory:
            _warn(f"sequences were not fitted: {reader.name_place(error, rows)}")
        return None
    if not memory:
        return SessionFacts(codec.to_arrays(), unit)
    progress("overhearing sessions of subjects held out", 0)
    (rng,) = streams(seed, "sessions")
    codes = np.unique(rows.labels, return_inverse=True)[1]
    table = rows.table.astype(np.float64)
    found = overhear(fit, table, codes, rows.whose, times, rng, known=rows.beside)
    sessions = SessionFacts(codec.to_arrays(), unit, tuple(found))
    if sessions.reveals and not options.leaky_sessions:
        sessions = SessionFacts(None, unit, sessions.overheard)
    if not sessions.hides:
        _warn(sessions.summary_sentence)
    return sessions


def _warn_of_ties(rows: SourceReadings) -> None:
    """Warn about readings at the same time as another reading of their subject."""
    apart = np.unique(np.stack([rows.whose, rows.moments]), axis=1).shape[1]
    if alike := len(rows.whose) - apart:
        _warn(
            f"{alike:,} readings have the same time as another reading of their subject. Their "
            "order is unknown, so one of them counts as one unit of time later"
        )


def _period(given: float | None, unit: TimeUnit | None) -> int | None:
    """Return the season's period in units of time, or None if it must be estimated."""
    return None if given is None or unit is None else round(given * unit.per / unit.ticks)


def _warn(note: str) -> None:
    warn(note, SignalsWarning)
