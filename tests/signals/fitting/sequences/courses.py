"""Courses of readings as patients live them: two classes that differ in one thing each."""

from __future__ import annotations

import numpy as np

KINDS = ("swings", "trend", "week", "spikes", "uneven")


def courses(kind, n, length, seed):
    """Draw weights (n, length), classes (n,), and days (n, length)."""
    rng = np.random.default_rng(seed)
    c = np.arange(n) % 2
    differ = kind in ("swings", "uneven")
    kept = np.where(c == 1, 0.7, 0.3) if differ else np.full(n, 0.4)
    spread = np.where(c == 1, 1.2, 0.9) if differ else np.ones(n)
    gaps = rng.geometric(0.4, (n, length)) if kind == "uneven" else np.ones((n, length), int)
    days = np.cumsum(gaps, axis=1)
    swing = rng.normal(size=(n, length))
    for t in range(1, length):
        share = kept ** gaps[:, t]
        swing[:, t] = share * swing[:, t - 1] + np.sqrt(1 - share**2) * swing[:, t]
    X = (75 + 10 * rng.normal(size=n) + 8 * c)[:, None] + spread[:, None] * swing
    if kind == "trend":
        X -= (c * rng.normal(0.15, 0.06, n))[:, None] * days
    if kind == "week":
        phase = rng.integers(0, 7, n)[:, None]
        height = c * np.abs(rng.normal(1.8, 0.5, n))
        X += height[:, None] * np.sin(2 * np.pi * (days + phase) / 7)
    if kind == "weekend":
        X += 4 * c[:, None] * (days % 7 >= 5)
    if kind == "spikes":
        X += c[:, None] * (rng.random((n, length)) < 0.08) * rng.normal(4, 1, (n, length))
    return np.round(X, 1), c, days
