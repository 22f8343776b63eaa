"""Readings as patients live them: what sessions of thirty reveal, by the size of the fit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from benchmarks.tables import save, yardstick
from joblib import Parallel, delayed

from voile.signals import SequenceCodec, SequenceMap, Session, SignalsWarning
from voile.signals.fitting.overhear import OverheardSessions, overheard
from voile.signals.model.sequences.basis import TimeBasis

LENGTH, FRESH, SIZES = 30, 600, (200, 800, 2_000)
TIMED, TURNS = 60, 45  # subjects whose readings are timed, and how often
KINDS = (
    "AR(1)",
    "trend",
    "weekly cycle",
    "spikes",
    "uneven spacing",
    "two sensors",
    "change points",
)
COLUMNS = (
    "readings",
    "sent as they are",
    *(f"fitted to {n:,}" for n in SIZES),
    "structure",
    "decoded wrong",
    "device, us",
    "clinic, us",
)


@dataclass(frozen=True)
class Tried:
    found: OverheardSessions
    shape: str  # of the structure that was chosen
    wrong: int  # readings


def swings(kept: np.ndarray, gaps: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw AR(1) noise of variance 1, (n, T), at uneven gaps."""
    out = rng.normal(size=gaps.shape)
    for t in range(1, gaps.shape[1]):
        share = kept ** gaps[:, t]
        out[:, t] = share * out[:, t - 1] + np.sqrt(1 - share**2) * out[:, t]
    return out


def courses(kind: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw readings (n, T, d) of two classes, classes (n,), and days (n, T)."""
    rng = np.random.default_rng(seed)
    c = np.arange(n) % 2
    uneven = kind == "uneven spacing"
    gaps = rng.geometric(0.4, (n, LENGTH)) if uneven else np.ones((n, LENGTH), dtype=int)
    days = np.cumsum(gaps, axis=1)
    differ = uneven or kind == "AR(1)"
    kept = np.where(c == 1, 0.7, 0.3) if differ else np.full(n, 0.4)
    spread = np.where(c == 1, 1.2, 0.9) if differ else np.ones(n)
    weight = (75 + 10 * rng.normal(size=n) + 8 * c)[:, None]
    weight = weight + spread[:, None] * swings(kept, gaps, rng)
    if kind in ("trend", "two sensors", "own rates"):
        weight -= (c * rng.normal(0.15, 0.06, n))[:, None] * days
    if kind == "spikes":
        weight += c[:, None] * (rng.random((n, LENGTH)) < 0.08) * rng.normal(4, 1, (n, LENGTH))
    if kind == "change points":
        at = rng.integers(5, LENGTH - 5, n)[:, None]
        weight += (c * rng.normal(5, 1, n))[:, None] * (np.arange(LENGTH) >= at)
    week = np.sin(2 * np.pi * (days + rng.integers(0, 7, n)[:, None]) / 7)
    height = (c * np.abs(rng.normal(1.8, 0.5, n)))[:, None]
    if kind == "weekly cycle":
        weight += height * week
    if kind not in ("two sensors", "own rates"):
        return np.round(weight, 1)[:, :, None], c, days
    pulse = (65 + 6 * rng.normal(size=n))[:, None] + 2 * swings(kept, gaps, rng)
    both = np.round(np.stack([weight, pulse + 2 * height * week], axis=2), 1)
    if kind == "own rates":  # see signals_rates
        both[:, 1::2, 0] = np.nan
        both[:, 2::6, 1], both[:, 4::6, 1] = np.nan, np.nan
    return both, c, days


def fitted(kind: str, n: int) -> SequenceCodec:
    warnings.simplefilter("ignore", SignalsWarning)
    X, c, days = courses(kind, n, 1)
    whose = np.repeat(np.arange(n), LENGTH)
    map = SequenceMap(resolution=0.1, random_state=0)
    return map.fit(X.reshape(n * LENGTH, -1), c[whose], whose, days.ravel()).codec_


def timed(codec: SequenceCodec, X: np.ndarray, c: np.ndarray, days: np.ndarray):
    """Send readings of some subjects; count the wrong ones, and microseconds at either end (2,)."""
    wrong, spent = 0, []
    for one in range(TIMED):
        device, clinic = (Session(codec, int(c[one]), str(one)) for _ in range(2))
        for reading, day in zip(X[one].tolist(), days[one].tolist(), strict=True):
            began = time.process_time_ns()
            device.send(reading, day)
            (message,) = device.pending()
            between = time.process_time_ns()
            got = clinic.receive(message)
            receipt = clinic.receipt()
            ended = time.process_time_ns()
            device.acknowledge(receipt)
            spent.append((between - began + time.process_time_ns() - ended, ended - between))
            wrong += got is None or not np.array_equal(got.values, reading, equal_nan=True)
    return wrong, np.median(np.array(spent) / 1e3, axis=0)


def shape(basis: TimeBasis) -> str:
    parts = ["level", *(["slope"] if basis.slope else [])]
    return " + ".join([*parts, *([f"season of {len(basis.season)}"] if basis.season.size else [])])


def tried(kind: str, n: int) -> Tried:
    codec = fitted(kind, n)
    X, c, days = courses(kind, FRESH, 2)
    found = overheard(codec, X, c, days, 0)
    return Tried(found, shape(codec.basis), timed(codec, X, c, days)[0])


def times(kinds: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the microseconds of a reading at either end, by kind: the least of turns."""
    made = [(fitted(kind, SIZES[1]), *courses(kind, FRESH, 2)) for kind in kinds]
    turns = [[timed(*one)[1] for one in made] for _ in range(TURNS)]
    return dict(zip(kinds, np.min(turns, axis=0), strict=True))


def row(kind: str, runs: list[Tried], spent: np.ndarray) -> tuple[str, ...]:
    return (
        kind,
        f"{runs[-1].found.without:.2f}",
        *(f"{x.found.auc:.2f} ({x.found.low:.2f}-{x.found.high:.2f})" for x in runs),
        runs[-1].shape,
        str(sum(one.wrong for one in runs)),
        *(f"{one:.1f}" for one in spent),
    )


def told() -> str:
    return (
        f"Microseconds of processor time a reading, fitted to {SIZES[1]:,}: medians of\n"
        f"{TIMED * LENGTH:,}, the least of {TURNS} in turns. *Decoded wrong*: of\n"
        f"{TIMED * LENGTH * len(SIZES):,}. {yardstick()}"
    )


def main() -> None:
    jobs = list(product(KINDS, SIZES))
    found = dict(zip(jobs, Parallel(-1)(delayed(tried)(*job) for job in jobs), strict=True))
    spent = times(KINDS)
    save(
        "signals_courses",
        "AUC of the better of boosting and a forest, for two classes, by the number of\n"
        f"subjects in the fit. Both learn from sessions of {LENGTH} messages and are tried\n"
        f"on others. The 5 folds have {FRESH} subjects to whom the map was not fitted. 95%\n"
        "intervals. Chance is .50, and lower is better.",
        COLUMNS,
        [row(kind, [found[kind, n] for n in SIZES], spent[kind]) for kind in KINDS],
        "Classes differ in one thing each:\n"
        "\n"
        "- the decay and the size of swings about the level (AR(1), and the same read every\n"
        "  2.5 days or so),\n"
        "- a steady loss of weight,\n"
        "- a weekly cycle,\n"
        "- spikes on one day in twelve,\n"
        "- a loss of weight with a weekly cycle of the pulse,\n"
        "- a level that changes once.\n"
        "\n"
        "*Structure*: the choice of the fit to the most subjects.\n" + told(),
    )


if __name__ == "__main__":
    main()
