"""The stated figures of sessions and repeats, next to an attacker from outside."""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from benchmarks.tables import save
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.metrics import roc_auc_score
from tests.signals.fitting.sequences.courses import courses

from voile.signals import PrivacyMap, SequenceMap, SignalsWarning
from voile.signals.attack.breaks import repeats, send_readings
from voile.signals.fitting.overhear import overheard

PEOPLE, DAYS = 300, 28  # of the map, of the figure, and of the outside attacker, each
SEEDS = 5
KINDS = ("weekend", "week", "swings", "spikes")
Score = Callable[[np.ndarray, np.ndarray], float]


def features(Z: np.ndarray) -> np.ndarray:
    """Return the outside attacker's own features of (n, T) messages."""
    off = Z - Z.mean(axis=1, keepdims=True)
    radius = np.abs(off) - np.abs(off).mean(axis=1, keepdims=True)

    def succession(V: np.ndarray, lag: int) -> np.ndarray:
        return (V[:, lag:] * V[:, :-lag]).mean(axis=1)

    day = np.arange(Z.shape[1]) % 7
    parts = [
        Z,
        *(np.stack([off[:, day == one].mean(axis=1) for one in range(7)], axis=1),),
        *(succession(V, lag)[:, None] for V in (off, radius) for lag in (1, 2, 3, 7)),
        *(one[:, None] for one in (Z.mean(1), Z.std(1), np.diff(Z).std(1), np.abs(off).max(1))),
        *(one[:, None] for one in ((off**3).mean(1), (off**4).mean(1), np.abs(Z).mean(1))),
    ]
    return np.concatenate(parts, axis=1)


def outside(
    Z: np.ndarray, c: np.ndarray, fresh: np.ndarray, d: np.ndarray, seed: int, score: Score
) -> float:
    """Return the largest score of three learners that learn from others."""
    learners = (
        ExtraTreesClassifier(200, min_samples_leaf=3, random_state=seed),
        RandomForestClassifier(200, min_samples_leaf=3, random_state=seed),
        HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, random_state=seed),
    )
    F, G = features(Z), features(fresh)
    return max(score(d, one.fit(F, c).predict_proba(G)[:, 1]) for one in learners)


def share_right(d: np.ndarray, chances: np.ndarray) -> float:
    return float(((chances > 0.5) == d).mean())


def rows() -> Iterator[tuple[str, ...]]:
    for kind in KINDS:
        figures = np.array([sessions(kind, seed) for seed in range(SEEDS)])
        stated, low, high, found, seconds = figures.mean(axis=0)
        yield (
            f"sessions, {kind}",
            f"AUC {stated:.2f} ({low:.2f}-{high:.2f})",
            f"{found:.2f}",
            f"{seconds:.1f}",
        )
    figures = np.array([again(seed) for seed in range(SEEDS)])
    stated, found, seconds = figures.mean(axis=0)
    yield "ten repeats, each by itself", f"right of {stated:.2f}", f"{found:.2f}", f"{seconds:.1f}"


def sessions(kind: str, seed: int) -> tuple[float, ...]:
    X, c, days = courses(kind, 3 * PEOPLE, DAYS, seed)
    fitted, tried, others = np.split(np.random.default_rng(seed).permutation(len(X)), 3)
    map = SequenceMap(random_state=seed).fit(
        X[fitted].reshape(-1, 1),
        c[fitted].repeat(DAYS),
        np.repeat(np.arange(PEOPLE), DAYS),
        days[fitted].ravel(),
    )
    began = time.process_time()
    figure = overheard(map.codec_, X[tried, :, None], c[tried], days[tried], seed)
    seconds = time.process_time() - began
    Z, fresh = (
        send_readings(map.codec_, X[one, :, None], c[one], days[one])[1][:, :, 0]
        for one in (others, tried)
    )
    found = outside(Z, c[others], fresh, c[tried], seed, roc_auc_score)
    return figure.auc, figure.low, figure.high, found, seconds


def again(seed: int) -> tuple[float, ...]:
    """Name the class from ten messages of a map of single readings."""
    X, c, _ = courses("swings", 3 * PEOPLE, 10, seed)
    map = PrivacyMap(random_state=seed).fit(X[:PEOPLE, 0], c[:PEOPLE])
    Z = map.encode(X[PEOPLE:].ravel(), c[PEOPLE:].repeat(10)).reshape(-1, 10)
    own, half = c[PEOPLE:], len(Z) // 2
    began = time.process_time()
    rate, _ = repeats(Z[:, :, None], own, seed)
    seconds = time.process_time() - began
    right = outside(Z[:half], own[:half], Z[half:], own[half:], seed, share_right)
    return rate.value, right, seconds


def main() -> None:
    warnings.simplefilter("ignore", SignalsWarning)
    save(
        "signals_stated",
        "The stated figure, and the success of an attacker from outside on the same people.\n"
        f"This attacker uses extra trees, forest or boosting, whichever is best, on {PEOPLE}\n"
        f"other people's messages. Means of {SEEDS} seeds.",
        ("messages", "stated, at least", "outside", "audit, CPU s"),
        list(rows()),
    )


if __name__ == "__main__":
    main()
